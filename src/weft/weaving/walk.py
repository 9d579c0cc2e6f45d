"""One weave walked step by step: what each step and rule makes of rows, as SQL, without Spark.

`compile_weave` folds all steps of a batch into one pass. A walk compiles the first so many of them, and ends in what
each row is at that point, so that rows can be looked at before and after every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.schema.schema import Schema
from weft.steps.compile import compile_steps
from weft.steps.function import FunctionVersion
from weft.steps.step import Step, to_dict
from weft.weaving.apply import apply
from weft.weaving.cloth import Call, Cloth, Layers, Moment, Verdict
from weft.weaving.rule import Rule
from weft.weaving.weave import begin_cloth, held_share, retime, row_sql


@dataclass(frozen=True)
class WalkStep:
    """One transformation on the way of a row: a step of the pipeline, or of a rule."""

    by: str
    """`step:0`, `rule:cheap`."""
    step: Step
    rule: Rule | None = None
    version: str | None = None
    """The version of the code: of the function that is called, of the rule, or of the pipeline."""

    def to_form(self) -> dict[str, object]:
        """As people and pages see it."""
        return {"by": self.by, "step": to_dict(self.step), "version": self.version}


@dataclass(frozen=True)
class Walk:
    """The way of rows through a batch, and what is needed to compile it as far as any step."""

    schema: Schema
    key: Sequence[str]
    steps: tuple[WalkStep, ...]
    functions: Mapping[str, FunctionVersion]
    moment: Moment
    time: str | None = None
    operator: bool = False

    def upto(self, count: int) -> tuple[tuple[Layers | Call, ...], tuple[Verdict, ...]]:
        """The stages of the first so many steps, and what verdicts mean.

        They end in `id`, `row` (null where it has ended), `verdict` and `reason` of each row.
        """
        cloth = Cloth(self.schema, list(self.schema.names), [], self.moment, self.functions)
        begin_cloth(cloth, operator=self.operator)
        own = [one for one in self.steps if one.rule is None]
        shares: dict[str, str] = {}
        if self.time is not None and count >= len(own) == 0:
            retime(cloth, self.time)
        for place, one in enumerate(self.steps[:count], start=1):
            self._take(cloth, one, shares)
            if self.time is not None and place == len(own):
                retime(cloth, self.time)
        cloth.finish(
            {
                "id": "_weft.id",
                "row": f"CASE WHEN _weft_verdict IS NULL THEN {row_sql(cloth.columns)} END",
                "verdict": "_weft_verdict",
                "reason": "_weft_reason",
            }
        )
        return tuple(cloth.stages), tuple(cloth.verdicts)

    def _take(self, cloth: Cloth, one: WalkStep, shares: dict[str, str]) -> None:
        condition = None
        if one.rule is not None and one.rule.percent < 100:
            if one.rule.id not in shares:
                name = f"_weft_in_{len(shares)}"
                cloth.select(**{name: held_share(one.rule, self.key, cloth)})
                shares[one.rule.id] = name
            condition = shares[one.rule.id]
        [compiled] = compile_steps([one.step], cloth.schema, cloth.functions)
        apply(cloth, compiled, by=one.by, condition=condition)


def walk_steps(
    steps: Sequence[Step],
    rules: Sequence[Rule],
    functions: Mapping[str, FunctionVersion],
    *,
    stream: str,
    target: str,
    version: str,
) -> tuple[WalkStep, ...]:
    """The transformations between what a pipeline reads and the rows of `target`, which it writes.

    On the way to a side stream are the rules before the one that writes it, and that one.
    """
    found = [
        WalkStep(f"step:{place}", step, None, _version(step, functions, version))
        for place, step in enumerate(steps)
    ]
    wanted = [stream]
    if target != stream:
        way = _way(rules, stream, target)
        wanted += [rule.output or "" for rule in way]
    at = 0
    for rule in rules:
        if rule.stream != wanted[at]:
            continue
        is_turn = at + 1 < len(wanted) and rule.output == wanted[at + 1]
        if rule.output is not None and not is_turn:
            continue
        found += [
            WalkStep(f"rule:{rule.id}", step, rule, _version(step, functions, rule.version))
            for step in rule.steps
        ]
        at += is_turn
    return tuple(found)


def _way(rules: Sequence[Rule], stream: str, target: str) -> list[Rule]:
    """The rules that divert rows from a stream to a side stream, in turn."""
    writer = next((rule for rule in rules if rule.output == target), None)
    if writer is None:
        return []
    return [*_way(rules, stream, writer.stream), writer] if writer.stream != stream else [writer]


def _version(step: Step, functions: Mapping[str, FunctionVersion], otherwise: str) -> str:
    called = functions.get(getattr(step, "ref", ""))
    return called.version if called is not None else otherwise
