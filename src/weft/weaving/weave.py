"""Steps and rules compiled to SQL: how one batch is woven, as text, without Spark.

Comes in: the columns of a batch, the pipeline's steps, the rules in force. Goes out: a `Weave`, whose stages
the spine runs on the batch's frame, and which ends in one nullable struct column per output stream and an
int `verdict` that says why a row is in none. Every row stays in the frame until it is written, so that one
pass over the data accounts for all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from weft.weaving.expression import Checked, pin
from weft.weaving.function import FunctionVersion
from weft.weaving.infer import CompiledStep, compile_steps
from weft.weaving.rule import Rule
from weft.weaving.schema import Schema, quote
from weft.weaving.step import Drop, Filter, Function, Rename, Select, Set, Step

SHARES = 10_000
"""How finely the keys of a stream are divided for rules that take a share of them."""


@dataclass(frozen=True)
class Moment:
    """What a knot fixes for the expressions of its batch, so that a repeated batch computes the same."""

    now: datetime
    seed: int


@dataclass(frozen=True)
class Verdict:
    """Why a row is not in the output: what kind of end it took, and which step or rule put it there."""

    kind: Literal["filtered", "dead", "passed"]
    """`passed` rows are none of the stream's: an operator's late records and reports, carried along."""
    by: str


@dataclass(frozen=True)
class Sql:
    """A stage that is a SELECT; `{input}` stands for the frame before it."""

    text: str


@dataclass(frozen=True)
class Call:
    """A stage that calls a Python function of the project with the rows that are still alive."""

    step: Function
    columns: tuple[str, ...]
    dropped: int
    failed: int
    condition: str | None
    """A boolean column that says for which rows to call it, or None for all."""


@dataclass(frozen=True)
class Target:
    """An output of the weave: the struct column in the frame, and the stream that it goes to."""

    column: str
    stream: str


@dataclass(frozen=True)
class Weave:
    """A compiled batch: stages to run in order, the outputs they end in, the meaning of verdict codes."""

    stages: tuple[Sql | Call, ...]
    targets: tuple[Target, ...]
    verdicts: tuple[Verdict, ...]
    pinned: bool
    """Whether it holds the moment of its knot, so that it fits no other batch."""

    def ledger_counts(self, counts: Mapping[str, int]) -> tuple[int, dict[str, int], int]:
        """Rows out, filtered by whom, and dead, from the writer's counts per verdict code."""
        filtered: dict[str, int] = {}
        dead = 0
        for code, verdict in enumerate(self.verdicts):
            rows = counts.get(str(code), 0)
            if verdict.kind == "dead":
                dead += rows
            elif verdict.kind == "filtered" and rows:
                filtered[verdict.by] = filtered.get(verdict.by, 0) + rows
        return counts.get("null", 0), filtered, dead


@dataclass
class _Cloth:
    """The weave while it is being made: the columns so far, and the SELECT layers around the input."""

    schema: Schema
    columns: list[str]
    hidden: list[str]
    moment: Moment
    functions: Mapping[str, FunctionVersion]
    pinned: bool = False
    layers: list[str] = field(default_factory=list)
    stages: list[Sql | Call] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def sql(self, checked: Checked) -> str:
        """The SQL of an expression, with the knot's moment in the place of the clock and the dice."""
        if not checked.pinned:
            return checked.sql
        self.pinned = True
        return pin(checked.sql, now=self.moment.now, seed=self.moment.seed)

    def code(self, verdict: Verdict) -> int:
        if verdict not in self.verdicts:
            self.verdicts.append(verdict)
        return self.verdicts.index(verdict)

    def select(self, **changes: str) -> None:
        """One layer: every column as it is, or as `changes` says; new names are added hidden."""
        names = [*self.columns, *self.hidden]
        self.hidden += [name for name in changes if name not in names]
        self._layer({name: changes.get(name, quote(name)) for name in [*names, *self.hidden]})

    def reshape(self, columns: Mapping[str, str], **changes: str) -> None:
        """One layer with other user columns: each name with the SQL it is made of."""
        kept = {name: changes.get(name, quote(name)) for name in self.hidden}
        self.columns = list(columns)
        self._layer({**columns, **kept})

    def hide(self, *names: str) -> None:
        """Forget hidden columns from the next layer on."""
        self.hidden = [name for name in self.hidden if name not in names]

    def finish(self, selected: Mapping[str, str]) -> None:
        """The last layer: only these columns."""
        self._layer(selected)
        self._flush()

    def call(self, call: Call) -> None:
        """End the SQL so far and call a Python function on its rows."""
        self._flush()
        self.stages.append(call)

    def _layer(self, selected: Mapping[str, str]) -> None:
        self.layers.append(", ".join(f"{sql} AS {quote(name)}" for name, sql in selected.items()))

    def _flush(self) -> None:
        if self.layers:
            text = "{input}"
            for layer in self.layers:
                source = text if text == "{input}" else f"({text})"
                text = f"SELECT {layer} FROM {source}"
            self.stages.append(Sql(text))
            self.layers = []


def compile_weave(
    schema: Schema,
    *,
    stream: str,
    key: Sequence[str],
    steps: Sequence[Step],
    rules: Sequence[Rule],
    functions: Mapping[str, FunctionVersion],
    moment: Moment,
    operator: bool = False,
) -> Weave:
    """Compile the steps of a pipeline and the rules on the streams it writes into stages.

    The input frame has the columns of `schema`, the struct `_weft`, `_weft_bad` (a reason for rows that could
    not even be read, else null) and `_weft_raw` (their bytes). After an operator it has `late` and `control`
    too, and rows without `_weft`, which only carry those.
    """
    carried = ["late", "control"] if operator else []
    hidden = ["_weft", "_weft_bad", "_weft_raw", *carried]
    cloth = _Cloth(schema, list(schema.names), hidden, moment, functions)
    unread = cloth.code(Verdict("dead", "parse"))
    passed = cloth.code(Verdict("passed", "operator"))
    cloth.select(
        _weft_verdict=f"CASE WHEN _weft IS NULL THEN {passed} "
        f"WHEN _weft_bad IS NOT NULL THEN {unread} END",
        _weft_reason="_weft_bad",
    )
    cloth.hide("_weft_bad")
    for position, compiled in enumerate(compile_steps(steps, schema, functions)):
        _apply(cloth, compiled, by=f"step:{position}")
    targets: list[Target] = []
    _apply_rules(cloth, stream, key, rules, targets, depth=0)
    _finish(cloth, stream, targets, carried)
    return Weave(tuple(cloth.stages), tuple(targets), tuple(cloth.verdicts), cloth.pinned)


def _apply_rules(
    cloth: _Cloth,
    stream: str,
    key: Sequence[str],
    rules: Sequence[Rule],
    targets: list[Target],
    depth: int,
) -> None:
    for rule in rules:
        if rule.stream != stream:
            continue
        condition = None
        if rule.percent < 100:
            condition = f"_weft_in{len(cloth.stages)}_{len(cloth.layers)}"
            cloth.select(**{condition: _share(rule, key, cloth.columns)})
        if rule.output is None:
            _apply_steps(cloth, rule, condition)
        else:
            _divert(cloth, rule, key, rules, targets, condition, depth)
        if condition is not None:
            cloth.hide(condition)


def _apply_steps(cloth: _Cloth, rule: Rule, condition: str | None = None) -> None:
    for compiled in compile_steps(rule.steps, cloth.schema, cloth.functions):
        _apply(cloth, compiled, by=f"rule:{rule.id}", condition=condition)


def _divert(
    cloth: _Cloth,
    rule: Rule,
    key: Sequence[str],
    rules: Sequence[Rule],
    targets: list[Target],
    condition: str | None,
    depth: int,
) -> None:
    """Weave a side stream: park the main row in a struct, work on a copy, fold it into its own struct."""
    assert rule.output is not None
    main, schema = list(cloth.columns), cloth.schema
    parked = f"_weft_main{depth}"
    side = f"_weft_side_{len(targets)}"
    skipped = cloth.code(Verdict("filtered", f"outside:{rule.id}"))
    cloth.select(
        **{
            parked: _struct(_plain([*main, "_weft_verdict", "_weft_reason"])),
            "_weft_verdict": f"CASE WHEN {_held(condition)} THEN {skipped} END",
        }
    )
    _apply_steps(cloth, rule)
    target = Target(side, rule.output)
    dead = Target(f"{side}_dead", f"{rule.output}.dead")
    targets += [target, dead]
    _apply_rules(cloth, rule.output, key, rules, targets, depth + 1)
    codes = _dead_codes(cloth)
    cloth.select(
        **{
            side: f"CASE WHEN _weft_verdict IS NULL THEN {_row(cloth.columns)} END",
            dead.column: f"CASE WHEN _weft_verdict IN ({codes}) THEN {_dead_row(cloth)} END",
        }
    )
    cloth.reshape(
        {name: f"{parked}.{quote(name)}" for name in main},
        _weft_verdict=f"{parked}._weft_verdict",
        _weft_reason=f"{parked}._weft_reason",
    )
    cloth.hide(parked)
    cloth.schema = schema


def _finish(cloth: _Cloth, stream: str, targets: list[Target], carried: Sequence[str]) -> None:
    diverted = [Target("dead", f"{stream}.dead")]
    if "late" in carried:
        diverted.append(Target("late", f"{stream}.late"))
    sides = {target.column: target.column for target in targets}
    codes = _dead_codes(cloth)
    cloth.finish(
        {
            "out": f"CASE WHEN _weft_verdict IS NULL THEN {_row(cloth.columns)} END",
            "dead": f"CASE WHEN _weft_verdict IN ({codes}) THEN {_dead_row(cloth)} END",
            **sides,
            **{name: name for name in carried},
            "verdict": "_weft_verdict",
        }
    )
    targets += [*diverted, Target("out", stream)]


def _apply(cloth: _Cloth, compiled: CompiledStep, *, by: str, condition: str | None = None) -> None:
    match compiled.step:
        case Filter():
            _filter(cloth, compiled.expressions[""], by, condition)
        case Set():
            _set(cloth, compiled.expressions, by, condition)
        case Drop(names):
            _reshape_some(cloth, {n: n for n in cloth.columns if n not in names}, condition)
        case Rename(names):
            _reshape_some(cloth, {names.get(n, n): n for n in cloth.columns}, condition)
        case Select(columns=names, expressions=expressions):
            if expressions:
                _set(cloth, compiled.expressions, by, condition)
            _reshape_some(cloth, {n: n for n in names or expressions}, condition)
        case Function() as step:
            dropped = cloth.code(Verdict("filtered", by))
            failed = cloth.code(Verdict("dead", by))
            cloth.call(Call(step, tuple(cloth.columns), dropped, failed, condition))
            cloth.columns = list(compiled.output.names)
    cloth.schema = compiled.output if condition is None else _union(cloth.schema, compiled.output)


def _filter(cloth: _Cloth, checked: Checked, by: str, condition: str | None) -> None:
    code = cloth.code(Verdict("filtered", by))
    held = _held(condition)
    if checked.total:
        cloth.select(
            _weft_verdict=f"CASE WHEN {held} THEN _weft_verdict "
            f"WHEN NOT coalesce(({cloth.sql(checked)}), false) THEN {code} END"
        )
        return
    failed = cloth.code(Verdict("dead", by))
    cloth.select(_weft_try=f"CASE WHEN NOT ({held}) THEN weft_try({cloth.sql(checked)}) END")
    cloth.select(
        _weft_verdict=f"CASE WHEN {held} THEN _weft_verdict "
        f"WHEN _weft_try.error IS NOT NULL THEN {failed} "
        f"WHEN NOT coalesce(_weft_try.value, false) THEN {code} END",
        _weft_reason="coalesce(_weft_reason, _weft_try.error)",
    )
    cloth.hide("_weft_try")


def _set(cloth: _Cloth, expressions: Mapping[str, Checked], by: str, condition: str | None) -> None:
    held = _held(condition)
    tries = {
        name: f"_weft_try_{position}"
        for position, (name, checked) in enumerate(expressions.items())
        if not checked.total
    }
    values = {
        name: f"{tries[name]}.value" if name in tries else f"({cloth.sql(checked)})"
        for name, checked in expressions.items()
    }
    changes: dict[str, str] = {}
    if tries:
        failed = cloth.code(Verdict("dead", by))
        cloth.select(
            **{
                column: f"CASE WHEN NOT ({held}) THEN weft_try({cloth.sql(expressions[name])}) END"
                for name, column in tries.items()
            }
        )
        errors = ", ".join(f"{column}.error" for column in tries.values())
        changes = {
            "_weft_verdict": f"CASE WHEN _weft_verdict IS NULL AND coalesce({errors}) IS NOT NULL "
            f"THEN {failed} ELSE _weft_verdict END",
            "_weft_reason": f"coalesce(_weft_reason, {errors})",
        }
    if condition is not None:
        values = {
            name: f"CASE WHEN {condition} THEN {sql} ELSE "
            f"{quote(name) if name in cloth.columns else 'NULL'} END"
            for name, sql in values.items()
        }
    cloth.hide(*tries.values())
    columns = {name: values.get(name, quote(name)) for name in cloth.columns} | values
    cloth.reshape(columns, **changes)


def _held(condition: str | None) -> str:
    """SQL that is true for rows which a step leaves alone."""
    return "_weft_verdict IS NOT NULL" + (f" OR NOT {condition}" if condition else "")


def _union(before: Schema, after: Schema) -> Schema:
    """The columns of rows of which some took a step and some did not."""
    added = [field for field in after if before.find(field.name) is None]
    return Schema((*before, *added))


def _reshape_some(cloth: _Cloth, columns: Mapping[str, str], condition: str | None) -> None:
    """Give rows other columns (new name: old name); those outside the condition keep their own."""
    if condition is None:
        cloth.reshape({new: quote(old) for new, old in columns.items()})
        return
    shaped: dict[str, str] = {}
    for name in dict.fromkeys([*cloth.columns, *columns]):
        inside = quote(columns[name]) if name in columns else "NULL"
        outside = quote(name) if name in cloth.columns else "NULL"
        shaped[name] = (
            inside
            if inside == outside
            else f"CASE WHEN {condition} THEN {inside} ELSE {outside} END"
        )
    cloth.reshape(shaped)


def _share(rule: Rule, key: Sequence[str], columns: Iterable[str]) -> str:
    present = [quote(name) for name in key if name in columns]
    hashed = ", ".join([f"'{rule.id}'", *(present or ["_weft.id"])])
    return f"pmod(xxhash64({hashed}), {SHARES}) < {round(rule.percent * SHARES / 100)}"


def _dead_codes(cloth: _Cloth) -> str:
    return ", ".join(str(n) for n, verdict in enumerate(cloth.verdicts) if verdict.kind == "dead")


def _row(columns: Iterable[str]) -> str:
    return _struct({**_plain(columns), "_weft": "_weft"})


def _dead_row(cloth: _Cloth) -> str:
    steps = ", ".join(f"'{verdict.by}'" for verdict in cloth.verdicts)
    return _struct(
        {
            "raw": "_weft_raw",
            "position": "_weft.id",
            "step": f"element_at(array({steps}), _weft_verdict + 1)",
            "reason": "_weft_reason",
            "record": f"to_json({_struct(_plain(cloth.columns))})",
            "_weft": "_weft",
        }
    )


def _plain(columns: Iterable[str]) -> dict[str, str]:
    return {name: quote(name) for name in columns}


def _struct(fields: Mapping[str, str]) -> str:
    inside = ", ".join(f"{_text(name)}, {sql}" for name, sql in fields.items())
    return f"named_struct({inside})"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
