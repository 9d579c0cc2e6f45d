"""Steps and rules compiled to SQL: how one batch is woven, as text, without Spark.

Comes in: the columns of a batch, the pipeline's steps, the rules in force. Goes out: a `Weave`, whose stages
the spine runs on the batch's frame, and which ends in one nullable struct column per output stream and an
int `verdict` that says why a row is in none. Every row stays in the frame until it is written, so that one
pass over the data accounts for all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weft.project.provenance import LAZY, PROVENANCE, ProvenanceSpec
from weft.project.settings import RAW
from weft.schema.path import find_path
from weft.schema.schema import Schema, literal, quoted
from weft.schema.weft import WEFT, WEFT_TYPE
from weft.steps.compile import compile_steps
from weft.steps.function import FunctionVersion
from weft.steps.step import Function, Step, composed_version
from weft.weaving.apply import apply, held
from weft.weaving.cloth import Call, Cloth, Layers, Moment, Verdict
from weft.weaving.rule import Rule
from weft.weaving.trail import SALT, SHARES, Trail, Transformation, share

__all__ = ["SHARES", "Call", "Layers", "Moment", "Verdict", "Weave", "WovenOutput", "compile_weave"]

# What a row carries along of what became of it.
_FATE = ("_weft_verdict", "_weft_reason", "_weft_record")


@dataclass(frozen=True)
class WovenOutput:
    """An output of the weave: the struct column in the frame, and the stream that it goes to."""

    column: str
    stream: str


@dataclass(frozen=True)
class Weave:
    """A compiled batch: stages to run in order, the outputs they end in, the meaning of verdict codes."""

    stages: tuple[Layers | Call, ...]
    targets: tuple[WovenOutput, ...]
    verdicts: tuple[Verdict, ...]
    pinned: bool
    """Whether it holds the moment of its knot, so that it fits no other batch."""
    transformations: tuple[Transformation, ...] = ()
    """What may be done to a record, in order, where the way of records is written down."""

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
    time: str | None = None,
    timed: bool = False,
    provenance: ProvenanceSpec = LAZY,
    raw: float | None = None,
) -> Weave:
    """Compile the steps of a pipeline and the rules on the streams it writes into stages.

    The input frame has the columns of `schema`, the struct `_weft`, `_weft_bad` (a reason for rows that could
    not even be read, or made by a reducer, else null) and `_weft_raw` (their bytes). After an operator it has
    `_weft_late`, `_weft_dead` and `_weft_report` too, and rows without `_weft`, which only carry those. `time`
    names the column that is the event time after the steps, where they may have changed it. With `timed` the frame
    ends in `partition` and `event_time` of every row too, whatever a rule makes of it. `provenance` says of which
    rows it ends in what was done to them too, `raw` of which share in what their source gave: that is in `_weft_given`.
    """
    cloth = Cloth(schema, list(schema.names), [], moment, functions)
    carried = begin_cloth(cloth, operator=operator, given=raw is not None)
    if raw is not None:
        _keep_given(cloth, key, raw)
    if provenance != LAZY:
        cloth.trail = Trail(provenance)
        cloth.trail.begin(cloth, [place for name in key if (place := _place(name, cloth))])
    for position, compiled in enumerate(compile_steps(steps, schema, functions)):
        apply(cloth, compiled, by=f"step:{position}")
        _note(cloth, compiled.step, f"step:{position}")
    if time is not None:
        retime(cloth, time)
    targets: list[WovenOutput] = []
    _apply_rules(cloth, stream, key, rules, targets, depth=0)
    _finish(
        cloth,
        stream,
        targets,
        carried,
        raw=raw is not None,
        times=_times(time) if timed else {},
    )
    taken = () if cloth.trail is None else tuple(cloth.trail.taken)
    return Weave(tuple(cloth.stages), tuple(targets), tuple(cloth.verdicts), cloth.pinned, taken)


def begin_cloth(cloth: Cloth, *, operator: bool, given: bool = False) -> list[str]:
    """What every row has before the first step; returns what an operator's rows carry along."""
    carried = ["late", "report", "dead"] if operator else []
    brought = [*carried, "given"] if given else carried
    cloth.hidden = [WEFT, "_weft_bad", "_weft_raw", *(f"_weft_{name}" for name in brought)]
    unread = cloth.code(Verdict("dead", "reducer" if operator else "parse"))
    passed = cloth.code(Verdict("passed", "operator"))
    cloth.select(
        _weft_verdict=f"CASE WHEN _weft IS NULL THEN {passed} "
        f"WHEN _weft_bad IS NOT NULL THEN {unread} END",
        _weft_reason="_weft_bad",
        _weft_record=f"CASE WHEN _weft_bad IS NOT NULL THEN {cloth.record()} END",
        _weft_spent="0L",
    )
    cloth.hide("_weft_bad")
    return carried


def _keep_given(cloth: Cloth, key: Sequence[str], raw: float) -> None:
    """Set aside what the source gave before anything is done to it: of a share of the keys, and what is unread."""
    given = {name: f"_weft_given.{name}" for name in ("value", "timestamp", "header", "bad")}
    kept = "_weft IS NOT NULL AND _weft_given IS NOT NULL"
    if raw < 1:
        places = [place for name in key if (place := _place(name, cloth))]
        kept += f" AND (_weft_verdict IS NOT NULL OR {share(SALT, places, round(raw * SHARES))})"
    cloth.select(_weft_kept=f"CASE WHEN {kept} THEN {_struct({**given, WEFT: WEFT})} END")
    cloth.hide("_weft_given")


def _note(cloth: Cloth, step: Step, by: str, condition: str | None = None) -> None:
    """Note that records have taken a step, where their way is written down."""
    if cloth.trail is not None:
        called = [step.ref] if isinstance(step, Function) else []
        versions = {ref: cloth.functions[ref].version for ref in called}
        cloth.trail.passed(cloth, by, composed_version([step], versions), condition)


def retime(cloth: Cloth, name: str) -> None:
    """Take the event time of the rows that are left from a column; what the steps dropped has none to count."""
    fields = {field.name: f"{WEFT}.{field.name}" for field in WEFT_TYPE.fields}
    moment = f"CAST({_place(name, cloth) or quoted(name)} AS TIMESTAMP)"
    fields["event_time"] = moment
    cloth.select(
        _weft=f"CASE WHEN _weft_verdict IS NULL THEN {_struct(fields)} ELSE _weft END",
        _weft_time=f"CASE WHEN _weft_verdict IS NULL THEN {moment} END",
    )


def _times(column: str | None) -> dict[str, str]:
    """What the writer looks at of every row. Streams that were read before have partitions of several sources."""
    if column is None:
        return {"partition": "_weft.partition", "event_time": "_weft.event_time"}
    return {
        "partition": "concat_ws('/', _weft.source, _weft.partition)",
        "event_time": "_weft_time",
    }


def _apply_rules(
    cloth: Cloth,
    stream: str,
    key: Sequence[str],
    rules: Sequence[Rule],
    targets: list[WovenOutput],
    depth: int,
) -> None:
    for rule in rules:
        if rule.stream != stream:
            continue
        condition = None
        if rule.percent < 100:
            condition = f"_weft_in{len(cloth.stages)}_{len(cloth.layers)}"
            cloth.select(**{condition: held_share(rule, key, cloth)})
        if rule.output is None:
            _apply_steps(cloth, rule, condition, aside=depth > 0)
        else:
            _divert(cloth, rule, key, rules, targets, condition, depth)
        if condition is not None and cloth.trail is None:
            cloth.hide(condition)


def _apply_steps(
    cloth: Cloth, rule: Rule, condition: str | None = None, *, aside: bool = False
) -> None:
    """Apply the steps of a rule; what is done aside is done to a copy, and no part of the record's own way."""
    for place, compiled in enumerate(compile_steps(rule.steps, cloth.schema, cloth.functions)):
        cloth.place = place
        apply(cloth, compiled, by=f"rule:{rule.id}", condition=condition)
        if not aside:
            _note(cloth, compiled.step, f"rule:{rule.id}", condition)
    cloth.place = 0


def _divert(
    cloth: Cloth,
    rule: Rule,
    key: Sequence[str],
    rules: Sequence[Rule],
    targets: list[WovenOutput],
    condition: str | None,
    depth: int,
) -> None:
    """Weave a side stream: park the main row beside, work on a copy, fold it into a struct, take the main row back.

    What is parked are columns: copies by name cost nothing, while a struct would be built for every row.
    """
    assert rule.output is not None
    main, schema = list(cloth.columns), cloth.schema
    kept = [*main, *_FATE, "_weft_spent"]
    parked = {name: f"_weft_main{depth}_{n}" for n, name in enumerate(kept)}
    side = f"_weft_side_{len(targets)}"
    skipped = cloth.code(Verdict("filtered", f"outside:{rule.id}"))
    cloth.select(
        **{column: quoted(name) for name, column in parked.items()},
        _weft_verdict=f"CASE WHEN {held(condition)} THEN {skipped} END",
    )
    _apply_steps(cloth, rule, aside=True)
    target = WovenOutput(side, rule.output)
    dead = WovenOutput(f"{side}_dead", f"{rule.output}.dead")
    targets += [target, dead]
    _apply_rules(cloth, rule.output, key, rules, targets, depth + 1)
    codes = _dead_codes(cloth)
    cloth.select(
        **{
            side: f"CASE WHEN _weft_verdict IS NULL THEN {row_sql(cloth.columns)} END",
            dead.column: f"CASE WHEN _weft_verdict IN ({codes}) THEN {_dead_row(cloth)} END",
        }
    )
    cloth.reshape(
        {name: parked[name] for name in main},
        **{name: parked[name] for name in _FATE},
        # What was made for a copy that died is gone again, and no burden to the rules that follow.
        _weft_spent=f"CASE WHEN _weft_verdict IN ({codes}) THEN {parked['_weft_spent']} ELSE _weft_spent END",
    )
    cloth.hide(*parked.values())
    cloth.schema = schema


def _finish(
    cloth: Cloth,
    stream: str,
    targets: list[WovenOutput],
    carried: Sequence[str],
    *,
    raw: bool,
    times: Mapping[str, str],
) -> None:
    diverted = [WovenOutput("dead", f"{stream}.dead")]
    if "late" in carried:
        diverted.append(WovenOutput("late", f"{stream}.late"))
    sides = {target.column: target.column for target in targets}
    codes = _dead_codes(cloth)
    told: dict[str, str] = {}
    if cloth.trail is not None:
        told["provenance"] = cloth.trail.finish(cloth, dead=codes, sides=list(sides))
        told["hash"] = cloth.trail.left()
        diverted.append(WovenOutput("provenance", f"{stream}{PROVENANCE}"))
    if raw:
        told["raw"] = "_weft_kept"
        diverted.append(WovenOutput("raw", f"{stream}{RAW}"))
    brought = " ELSE _weft_dead" if "dead" in carried else ""
    cloth.finish(
        {
            "out": f"CASE WHEN _weft_verdict IS NULL THEN {row_sql(cloth.columns)} END",
            "dead": f"CASE WHEN _weft_verdict IN ({codes}) THEN {_dead_row(cloth)}{brought} END",
            **sides,
            **{name: f"_weft_{name}" for name in carried if name != "dead"},
            **told,
            **times,
            "verdict": "_weft_verdict",
        }
    )
    targets += [*diverted, WovenOutput("out", stream)]


def held_share(rule: Rule, key: Sequence[str], cloth: Cloth) -> str:
    """SQL that is true for the share of rows that a rule is for."""
    places = [_place(name, cloth) for name in key]
    present = [place for place in places if place is not None]
    return share(rule.id, present, round(rule.percent * SHARES / 100))


def _place(name: str, cloth: Cloth) -> str | None:
    """A column, or a part of a struct, as SQL names it; None where it is there no more."""
    if name in cloth.columns:
        return quoted(name)
    place = find_path(name, cloth.schema)
    return place.sql if place is not None and len(place.names) > 1 else None


def _dead_codes(cloth: Cloth) -> str:
    return ", ".join(str(n) for n, verdict in enumerate(cloth.verdicts) if verdict.kind == "dead")


def row_sql(columns: Iterable[str]) -> str:
    """SQL of a row with these columns."""
    return _struct({**_plain(columns), WEFT: WEFT})


def _dead_row(cloth: Cloth) -> str:
    steps = ", ".join(literal(verdict.by) for verdict in cloth.verdicts)
    return _struct(
        {
            "raw": "_weft_raw",
            "position": "_weft.id",
            "step": f"element_at(array({steps}), _weft_verdict + 1)",
            "reason": "_weft_reason",
            "record": "_weft_record",
            WEFT: WEFT,
        }
    )


def _plain(columns: Iterable[str]) -> dict[str, str]:
    return {name: quoted(name) for name in columns}


def _struct(fields: Mapping[str, str]) -> str:
    inside = ", ".join(f"{literal(name)}, {sql}" for name, sql in fields.items())
    return f"named_struct({inside})"
