"""Rollback as a list of steps: a stream as it was at a knot, and everything downstream with it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.operations.cut import Cut
from weft.operations.step import (
    CutCheckpoint,
    CutTables,
    Install,
    LetGo,
    Plan,
    Restore,
    Retract,
    Settle,
    Step,
    Stop,
)
from weft.weaving.rule import Rule


class RollbackError(WeftError):
    """A rollback that cannot be done; nothing was changed."""

    code = "rollback.refused"
    domain = "user"


@dataclass(frozen=True)
class SinkNames:
    """The sinks of a pipeline: those that take rows back, and those that keep them."""

    retract: tuple[str, ...] = ()
    final: tuple[str, ...] = ()


def rollback_steps(
    cuts: Sequence[Cut],
    *,
    stream: str,
    to: int,
    retire: tuple[str, ...] = (),
    restore: tuple[str, ...] = (),
    attach: Rule | None = None,
    install: str | None = None,
    sinks: Mapping[str, SinkNames],
) -> tuple[Step, ...]:
    """Everything that a rollback does, in order.

    Checkpoints come first: they are made beside the old ones, so that up to there nothing has changed.
    """
    names = tuple(cut.pipeline for cut in cuts)
    steps: list[Step] = [Stop(names), Plan()]
    steps += [CutCheckpoint(cut) for cut in cuts]
    for cut in cuts:
        of = sinks.get(cut.pipeline, SinkNames())
        if cut.gone is not None and (of.retract or of.final):
            steps.append(Retract(cut.pipeline, cut.stream, cut.gone, of.retract, of.final))
        steps.append(CutTables(cut))
        if cut.revive and of.retract:
            steps.append(Restore(cut.pipeline, cut.stream, cut.revive, of.retract))
    if install is not None:
        steps.append(Install(install))
    steps.append(Settle(tuple(cuts), stream, to, retire, restore, attach))
    return (*steps, LetGo(names))


def check_target(
    knot: Knot | None, stream: str, to: int, *, head: int | None, in_hand: Knot | None
) -> None:
    """Refuse a knot that a stream cannot go back to.

    The newest knot is one that it can go back to while a batch is in hand: that batch is given up and pinned anew.
    """
    if to != 0 and knot is None:
        newest = "it has none yet" if head is None else f"its newest is {head}"
        raise RollbackError(
            f"Stream '{stream}' cannot be rolled back to knot {to}: it has no such knot; {newest}.",
            code="rollback.no-such-knot",
            domain="missing",
            hint=f"See `weft stream log {stream}`; 0 is before the first knot.",
            stream=stream,
            knot=to,
        )
    if knot is not None and knot.status is Status.ROLLED_BACK and knot.hash is None:
        raise RollbackError(
            f"Stream '{stream}' cannot be rolled back to knot {to}: its batch was given up.",
            code="rollback.unfinished-knot",
            domain="conflict",
            hint="Choose a knot that is COMPLETE.",
            stream=stream,
            knot=to,
        )
    if knot is not None and knot.is_open:
        raise RollbackError(
            f"Stream '{stream}' cannot be rolled back to knot {to}: it is {knot.status}.",
            code="rollback.unfinished-knot",
            domain="conflict",
            hint="Choose a knot that is COMPLETE, or one that was rolled back and shall come back.",
            stream=stream,
            knot=to,
        )
    if (head or 0) == to and in_hand is None:
        raise RollbackError(
            f"Stream '{stream}' is at knot {to} already, and no batch is in hand.",
            code="rollback.nothing",
            domain="conflict",
            hint="Choose an earlier knot.",
            stream=stream,
            knot=to,
        )
