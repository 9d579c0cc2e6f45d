"""Rules put in force, promoted and retired while their streams run, from the next knot on or from a past one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import codec
from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.operations.operation import Operation, OperationStatus
from weft.operations.run import OperationBusyError
from weft.weaver.attach import RuleRequest, check_rule, checked_rule, schema_now
from weft.weaver.catalog import Stream, store_stream
from weft.weaver.fills import NOT_YET
from weft.weaver.reaching import check_fill
from weft.weaver.rules import RuleError
from weft.weaving.rule import Rule, RuleStatus
from weft.weaving.tried import Trial

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


async def attach(weaver: Weaver, request: RuleRequest) -> Rule:
    """Check a rule and put it in force from the next knot of its stream on, or from a past one.

    From a past knot, a rule with an output fills it from recorded rows first; one in place is a rollback
    to that knot and the rule in force when the stream goes on.
    """
    rule = await checked_rule(weaver, request)
    weaver.rules.check_id(rule.id)  # another one may have come while Spark checked
    if request.start == "latest":
        attached = weaver.rules.attach(rule)
        declare_side(weaver, attached)
        weaver.changed()
        return attached
    start = int(request.start)
    check_start(weaver, rule, start)
    if rule.output is not None:
        return await fill(weaver, rule, start)
    operation = await weaver.roll_back(
        rule.stream,
        start,
        attach=weaver.rules.numbered(rule),
        by=request.author,
        because=request.note,
    )
    if operation.status is not OperationStatus.DONE:
        raise _not_in_force(rule, operation)
    return weaver.rules.get(rule.id)


async def fill(weaver: Weaver, rule: Rule, after: int) -> Rule:
    """Attach a rule whose output holds the rows after a past knot too; returns when it has joined the live flow."""
    pending = weaver.rules.attach(rule.changed(since=NOT_YET, filled_after=after))
    declare_side(weaver, pending)
    try:
        await weaver.operations.run(
            "fill", {"rule": pending.id, "stream": rule.stream}, by=rule.author, because=rule.note
        )
    except WeftError as error:
        if weaver.rules.get(pending.id).status is RuleStatus.ACTIVE:
            weaver.rules.retire(
                pending.id, because=f"its stream could not be filled: {error.message}"
            )
        raise
    return weaver.rules.get(pending.id)


async def drop_unbegun(weaver: Weaver) -> None:
    """Retire the rules whose stream was to be filled by an operation that was never written down."""
    filled = {
        operation.request.get("rule")
        for operation in await weaver.operations.runner.all()
        if operation.kind == "fill" and not operation.is_over
    }
    for rule in weaver.rules.all(active=True):
        if rule.since == NOT_YET and rule.id not in filled:
            weaver.rules.retire(rule.id, because="the weaver stopped before its stream was filled")


async def plan_attach(weaver: Weaver, request: RuleRequest, *, knots: int) -> dict[str, Any]:
    """What a rule would do, tried on the last recorded knots of its stream; nothing changes."""
    rule = await checked_rule(weaver, request)
    plan: dict[str, Any] = {"rule": rule, "start": request.start}
    if request.start != "latest":
        check_start(weaver, rule, int(request.start))
        if rule.output is None:
            asked = {"stream": rule.stream, "to": int(request.start)}
            plan["rollback"] = await weaver.operations.plan("rollback", asked)
    stream = weaver.catalog.stream(rule.stream)
    tried = await weaver.ask(
        "try",
        {
            "rule": rule.to_dict(),
            "schema": schema_now(weaver, rule.stream).to_json(),
            "key": weaver.key_of(rule.stream),
            "knots": knots,
            "head": weaver.knots.head(stream.origin).number or 0,
        },
        timeout=120,
    )
    return {**plan, "trial": codec.from_form(Trial, tried)}


async def promote(
    weaver: Weaver,
    name: str,
    *,
    percent: float | None = None,
    in_place: bool = False,
    start: int | None = None,
) -> Rule:
    """Give a rule another share of the keys, or move it from its side stream into place, from now or a past knot on."""
    rule = weaver.rules.get(name)
    if percent is None and not in_place:
        raise RuleError(
            f"Rule '{name}' cannot be promoted to nothing.",
            code="rule.promote-nothing",
            hint="Give `percent`, or `in_place`, or both.",
            rule=name,
        )
    if percent is not None and not 0 < percent <= 100:
        raise RuleError(
            f"Rule '{name}' cannot be for {percent:g} % of the keys.",
            code="rule.percent",
            hint="`percent` is above 0 and at most 100.",
            rule=name,
        )
    share = rule.percent if percent is None else percent
    if not in_place:
        if start is not None:
            raise _start_without_place(name)
        return weaver.rules.change(name, f"promoted to {share:g} %", percent=share)
    if rule.output is None:
        raise RuleError(
            f"Rule '{name}' is in place already.",
            code="rule.in-place",
            domain="conflict",
            hint="Change its share with `percent`.",
            rule=name,
        )
    weaver.rules.check_active(rule)
    moved = rule.changed(output=None, percent=share)
    await check_rule(weaver, moved, weaver.catalog.stream(rule.stream))
    if start is None:
        return weaver.rules.change(name, "promoted into place", output=None, percent=share)
    check_start(weaver, moved, start)
    await weaver.roll_back(rule.stream, start, attach=moved, because=f"rule {name} is promoted")
    return weaver.rules.get(name)


async def retire(
    weaver: Weaver, name: str, *, because: str = "asked for", now: bool = False
) -> tuple[Rule, Operation | None]:
    """End a rule after the knots that are pinned already; what it has woven stays.

    With `now` the batch in hand is given up and pinned anew without it, also when it was retired before.
    """
    rule = weaver.rules.get(name)
    if not now:
        return weaver.rules.retire(name, because=because), None
    found = weaver.catalog.stream(rule.stream)
    origin = found.origin
    hold = weaver.operations.hold(found.pipeline)
    if hold is not None:
        raise OperationBusyError(found.pipeline, hold.operation)
    pinned = weaver.knots.in_hand(origin)
    if pinned is None or rule.id not in {ref.id for ref in pinned.rules}:
        return weaver.rules.retire(name, because=because), None

    def retire_it() -> None:
        if weaver.rules.get(name).status is RuleStatus.ACTIVE:
            weaver.rules.retire(name, because=because)

    operation = await weaver.roll_back(
        origin,
        weaver.knots.head(origin).number or 0,
        patience_s=0.0,
        because=f"rule {name} is retired at once",
        begun=retire_it,  # not before: where the rollback is refused, nothing is to change
    )
    return weaver.rules.get(name), operation


def declare_side(weaver: Weaver, rule: Rule) -> None:
    """Make the side stream of a rule known before its first row, so that pipelines can name it."""
    if rule.output is None or weaver.catalog.find_stream(rule.output) is not None:
        return
    origin = weaver.catalog.stream(rule.stream)
    side = Stream(rule.output, origin.pipeline, origin=origin.origin, kind="side")
    weaver.store.apply([store_stream(side)])


def check_start(weaver: Weaver, rule: Rule, start: int) -> None:
    """Refuse a past knot that a rule cannot start after."""
    origin = weaver.catalog.stream(rule.stream).origin
    head = weaver.knots.head(origin).number
    knot: Knot | None = weaver.knots.find(origin, start)
    if start == 0 or (knot is not None and knot.status is Status.COMPLETE):
        if rule.output is not None:
            check_fill(weaver, rule.stream, start)
        return
    newest = "it has no knots yet" if head is None else f"its newest is {head}"
    raise RuleError(
        f"Rule '{rule.id}' cannot start after knot {start} of stream '{rule.stream}': it has no "
        f"such live knot; {newest}.",
        code="rule.bad-start",
        hint="Start at `latest`, or after a knot of `weft stream log`; 0 is before the first.",
        stream=rule.stream,
        knot=start,
    )


def _start_without_place(name: str) -> RuleError:
    return RuleError(
        f"Rule '{name}' can be promoted from a past knot on only into place.",
        code="rule.promote-start",
        hint="Add `in_place`, or leave `start` out.",
        rule=name,
    )


def _not_in_force(rule: Rule, operation: Operation) -> RuleError:
    """What is told when the operation that puts a rule in force was given up, or has not ended yet."""
    end = "given up" if operation.is_over else f"still {operation.status}"
    return RuleError(
        f"Rule '{rule.id}' is not in force on stream '{rule.stream}': {operation.id} is {end}.",
        code="rule.not-in-force",
        domain="conflict",
        hint="Attach it again."
        if operation.is_over
        else f"It will be when that is done; see `weft operation show {operation.id}`.",
        rule=rule.id,
        operation=operation.id,
    )
