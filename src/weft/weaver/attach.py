"""Attaching a rule: everything that can be wrong with it is found before anything changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast, get_args

from weft.errors import WeftError
from weft.lineage.guard import Guard
from weft.project.timing import EVENT_TIME, after_steps
from weft.schema.schema import Schema
from weft.steps.compile import apply_schema, origins
from weft.steps.step import Select, Set, steps_from
from weft.weaver.catalog import Stream
from weft.weaver.rules import NAME, RuleError
from weft.weaving.impact import check_in_place
from weft.weaving.rule import Breach, Rule

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

MOST_STEPS = 100


@dataclass(frozen=True)
class RuleRequest:
    """A rule as somebody asks for it."""

    stream: str
    steps: list[Any]
    id: str | None = None
    output: str | None = None
    percent: float = 100.0
    start: int | str = "latest"
    author: str | None = None
    note: str | None = None
    guards: list[str] = field(default_factory=list)
    on_breach: str = "retire"


async def checked_rule(weaver: Weaver, request: RuleRequest) -> Rule:
    """The rule that is asked for, checked against its stream; raises and changes nothing otherwise."""
    stream = _target(weaver, request.stream)
    name = request.id if request.id is not None else weaver.rules.new_id(request.stream)
    weaver.rules.check_id(name)
    if not request.steps:
        raise RuleError(
            f"Rule '{name}' has no steps.", code="rule.empty", hint="Give it at least one step."
        )
    if len(request.steps) > MOST_STEPS:
        raise RuleError(
            f"Rule '{name}' has {len(request.steps)} steps; {MOST_STEPS} are the most.",
            code="rule.too-large",
            hint="Split it into several rules.",
        )
    if not 0 < request.percent <= 100:
        raise RuleError(
            f"Rule '{name}' is for {request.percent:g} % of the keys.",
            code="rule.percent",
            hint="`percent` is above 0 and at most 100.",
        )
    if request.on_breach not in get_args(Breach):
        raise RuleError(
            f"'{request.on_breach}' is nothing a rule can do when a guard is broken.",
            code="rule.on-breach",
            hint="`on_breach` is `retire` or `rollback`.",
        )
    for guard in request.guards:
        Guard.parse(guard)
    rule = Rule(
        id=name,
        stream=request.stream,
        steps=steps_from(request.steps),
        output=request.output,
        percent=request.percent,
        author=request.author,
        note=request.note,
        guards=tuple(request.guards),
        on_breach=cast(Breach, request.on_breach),
    )
    await check_rule(weaver, rule, stream)
    return rule


async def check_rule(weaver: Weaver, rule: Rule, stream: Stream) -> None:
    """Check what a rule does against the columns its stream has now, first by itself, then by Spark."""
    project = weaver.catalog.project()
    before = _schema_coming(weaver, rule.stream)
    try:
        after = apply_schema(rule.steps, before, project.functions)
    except WeftError as error:
        error.ids.setdefault("rule", rule.id)
        error.ids.setdefault("stream", rule.stream)
        raise
    check_time(weaver, rule)
    _check_key(weaver, rule, before, after)
    if rule.output is None:
        check_in_place(project, rule.stream, before, after)
    else:
        check_output(weaver, rule, stream)
    exact = await weaver.ask(
        "analyze",
        {"schema": before.to_json(), "rule": rule.to_dict()},
        timeout=30,
    )
    after = Schema.from_json(exact["schema"])
    if rule.output is None:
        check_in_place(project, rule.stream, before, after)
    else:
        _check_side_columns(weaver, rule.output, after)
    if _schema_coming(weaver, rule.stream) != before:  # another rule has come while Spark checked
        await check_rule(weaver, rule, stream)


def schema_now(weaver: Weaver, name: str) -> Schema:
    """The columns of a stream with its newest knot, or as declared while it has none."""
    stream = weaver.catalog.stream(name)
    known = weaver.catalog.schema(stream.schema) if stream.schema else None
    if known is not None:
        return known
    side = next((rule for rule in weaver.rules.all() if rule.output == name), None)
    if side is None:
        return weaver.catalog.project().schema_of(name)
    functions = weaver.catalog.project().functions
    return apply_schema(side.steps, schema_now(weaver, side.stream), functions)


def _schema_coming(weaver: Weaver, name: str) -> Schema:
    """The columns that the next knot of a stream will have: with rules that were attached since the newest one too."""
    known = schema_now(weaver, name)
    origin = weaver.catalog.stream(name).origin
    newest = weaver.knots.newest(origin)
    met = {ref.id for ref in newest.rules} if newest else set()
    for rule in weaver.rules.in_force(origin, weaver.knots.head(origin).last + 1):
        if rule.stream == name and rule.output is None and rule.id not in met:
            after = apply_schema(rule.steps, known, weaver.catalog.project().functions)
            # What a share of the rows loses is null in them, and a column still.
            lost = () if rule.percent == 100 else (one for one in known if not after.find(one.name))
            known = Schema((*after, *lost))
    return known


def _check_key(weaver: Weaver, rule: Rule, before: Schema, after: Schema) -> None:
    """Refuse to take away the key by which rows replace one another, and to change it under rows that are there."""
    key = _changing_key(weaver, rule.stream)
    if not key:
        return
    kept = origins(rule.steps, before, weaver.catalog.project().functions)
    lost = [name for name in key if after.find(name) is None]
    set_anew = [name for name in key if name not in lost and _is_set(rule, name, kept)]
    wrong = lost or (set_anew if rule.output is None else [])
    if wrong:
        done = "leaves out" if lost else "changes"
        raise RuleError(
            f"Rule '{rule.id}' {done} {', '.join(wrong)}, the key by which rows of stream '{rule.stream}' replace one "
            "another: rows that are there would stay for good.",
            code="rule.changes-key",
            domain="conflict",
            hint=f"Keep {', '.join(key)} as it is; write another value under another name.",
            rule=rule.id,
            stream=rule.stream,
        )


def _is_set(rule: Rule, name: str, kept: Mapping[str, Collection[str]]) -> bool:
    """Whether steps give a column another value than it came with, as far as they say."""
    if set(kept.get(name, ())) != {name}:
        return True
    given = [
        *(pair for step in rule.steps if isinstance(step, Set) for pair in step.columns.items()),
        *(pair for s in rule.steps if isinstance(s, Select) for pair in s.expressions.items()),
    ]
    own = name.lower()
    return any(column.lower() == own and sql.strip("` ").lower() != own for column, sql in given)


def _changing_key(weaver: Weaver, name: str) -> tuple[str, ...]:
    """The key of a stream whose rows replace one another, also of one that a rule writes; of others none."""
    side = next((rule for rule in weaver.rules.all() if rule.output == name), None)
    if side is not None:
        return _changing_key(weaver, side.stream)
    spec = weaver.catalog.project().streams.get(name)
    return spec.key if spec is not None and spec.changing else ()


def check_time(weaver: Weaver, rule: Rule) -> None:
    """Refuse to change the event time of records by a rule: they have their place in time when rules see them."""
    project = weaver.catalog.project()
    before = _event_time(weaver, rule.stream)
    after = after_steps(rule.steps, before, project.functions)
    if after.clock == "own":
        raise RuleError(
            f"Rule '{rule.id}' changes '{before}', the event time of stream '{rule.stream}', and its records "
            "have been given their place in time already.",
            code="rule.event-time",
            hint="Set another column; or change it in the steps of a pipeline, whose output has a clock of its own.",
            rule=rule.id,
            stream=rule.stream,
        )
    side = project.streams.get(rule.output or "")
    if side is not None and side.event_time not in (None, EVENT_TIME, after.column):
        raise RuleError(
            f"Stream '{side.name}' says that its event time is '{side.event_time}', and the records of rule "
            f"'{rule.id}' keep that of stream '{rule.stream}'.",
            code="rule.event-time",
            hint=f"Leave `event_time` of stream '{side.name}' out of the project file.",
            rule=rule.id,
            stream=side.name,
        )


def _event_time(weaver: Weaver, name: str) -> str | None:
    """The column that is the event time of a stream, also of one that a rule writes."""
    project = weaver.catalog.project()
    side = next((rule for rule in weaver.rules.all() if rule.output == name), None)
    if side is None:
        return project.stream(name).event_time
    return after_steps(side.steps, _event_time(weaver, side.stream), project.functions).column


def _target(weaver: Weaver, name: str) -> Stream:
    stream = weaver.catalog.stream(name)
    if stream.kind in ("dead", "late", "provenance", "raw"):
        kept = "is provenance" if stream.kind == "provenance" else f"keeps {stream.kind} records"
        raise RuleError(
            f"Stream '{name}' {kept} as it came to be; it takes no rules.",
            code="rule.bad-target",
            hint=f"Attach the rule to '{stream.origin}'.",
            stream=name,
        )
    return stream


def check_output(weaver: Weaver, rule: Rule, stream: Stream) -> None:
    """Refuse an output stream that cannot be named so, or that someone else writes."""
    assert rule.output is not None
    if not NAME.fullmatch(rule.output) or len(rule.output) > 64:
        shown = rule.output.encode("unicode_escape").decode()[:80]
        raise RuleError(
            f"'{shown}' cannot be the name of a stream.",
            code="rule.bad-output",
            hint="Use lower-case letters, digits and single - or _, at most 64 characters.",
        )
    known = weaver.catalog.find_stream(rule.output)
    if known is not None and (known.kind != "side" or known.origin != stream.origin):
        raise RuleError(
            f"Rule '{rule.id}' cannot write to stream '{rule.output}': "
            f"pipeline '{known.pipeline}' does.",
            code="rule.output-taken",
            domain="conflict",
            hint="Choose the name of a new stream.",
            stream=rule.output,
        )
    declared = weaver.catalog.project().streams.get(rule.output)
    if declared is not None and (declared.writer or declared.ingested) and known is None:
        raise RuleError(
            f"Rule '{rule.id}' cannot write to stream '{rule.output}', which the project declares.",
            code="rule.output-taken",
            domain="conflict",
            hint="Choose the name of a new stream, or declare it with `source: {rule: {}}`.",
            stream=rule.output,
        )


def _check_side_columns(weaver: Weaver, output: str, after: Schema) -> None:
    known = weaver.catalog.find_stream(output)
    now = weaver.catalog.schema(known.schema) if known and known.schema else None
    for field_now in now or ():
        new = after.find(field_now.name)
        if new is not None and new.type != field_now.type:
            raise RuleError(
                f"Column '{new.name}' of stream '{output}' is {field_now.type} and cannot become "
                f"{new.type}.",
                code="rule.changes-type",
                domain="conflict",
                hint="Cast it, or choose another output stream.",
                stream=output,
                column=new.name,
            )
