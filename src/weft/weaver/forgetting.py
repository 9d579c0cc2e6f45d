"""Knots that are forgotten: those before the oldest rows that any stream of a line keeps, beyond the number that stays.

That a line begins with a knot is written down before anything goes: whoever verifies from then on asks about no older
one. Then a worker lets go of the logs, checkpoints and keyframes of what came before, and the weaver of its knots. Each
part may be repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.clock import iso
from weft.lineage.knot import Status
from weft.operations.operation import Operation
from weft.operations.step import Forget
from weft.weaver.expiring import WORKER_S, expired_upto, history_of, kept_rows
from weft.weaver.knots import KnotFloor, forget_knot, store_floor

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

CHUNK = 500
"""So many knots are forgotten in one write."""


async def plan_forgetting(weaver: Weaver, stream: str, *, expiring: int = 0) -> Forget | None:
    """The step that forgets the oldest knots of a stream; None where all of them stay, or it has no line of its own.

    `expiring` is the last knot whose rows go before.
    """
    if weaver.catalog.stream(stream).origin != stream:
        return None
    first = await _first_kept(weaver, stream, expiring)
    return None if first is None else Forget(stream, first)


async def _first_kept(weaver: Weaver, stream: str, expiring: int) -> int | None:
    """The knot that a line begins with once all are forgotten that can be; None where it begins there already.

    It is live, no older than any row that is kept, and not among the newest that stay in any case.
    """
    expired = max(expiring, expired_upto(weaver.records, stream))
    first = (weaver.knots.head(stream).number or 0) - history_of(weaver, stream).keep_knots
    for one in weaver.catalog.streams():
        if one.origin == stream and not one.dropped:
            gone = expired if one.name == stream else 0
            kept = await kept_rows(weaver, one.name)
            first = min([first, *[k.number for k in kept if k.rows and k.number > gone][:1]])
    # The newest expired knot stays, so that what begins behind it finds where that was.
    first = min(first, expired)
    floor = weaver.knots.floor(stream)
    begins = floor.number if floor is not None else 1
    older = weaver.knots.log(stream, before=first + 1) if first > begins else ()
    found = next((knot.number for knot in older if knot.status is Status.COMPLETE), 0)
    return found if found > begins else None


async def forget(weaver: Weaver, operation: Operation, step: Forget) -> dict[str, Any]:
    """Do the step, as far as rows went before it. May be repeated."""
    stream = step.stream
    possible = await _first_kept(weaver, stream, 0)
    if possible is not None:
        first = min(step.first, possible)
        before = weaver.knots.get(stream, first).previous_hash
        floor = KnotFloor(first, before, iso(weaver.clock.now()), operation.id)
        weaver.store.apply([store_floor(stream, floor)])
    known = weaver.knots.floor(stream)
    if known is None:
        return {}
    arguments = {
        "operation": operation.id,
        "streams": [one.name for one in weaver.catalog.streams() if one.origin == stream],
        "pipeline": weaver.catalog.stream(stream).pipeline,
        "knot": known.number,
        "epoch": _first_epoch(weaver, stream, known.number),
    }
    done: dict[str, Any] = await weaver.ask("forget", arguments, timeout=WORKER_S)
    gone = _forget_knots(weaver, stream, known.number)
    return {"knots": gone, "first": known.number, **done}


def _forget_knots(weaver: Weaver, stream: str, first: int) -> int:
    gone = 0
    while older := [
        knot for knot in weaver.knots.after(stream, 0, limit=CHUNK) if knot.number < first
    ]:
        weaver.store.apply([write for knot in older for write in forget_knot(knot)])
        gone += len(older)
    return gone


def _first_epoch(weaver: Weaver, stream: str, first: int) -> int:
    """The lowest epoch that a knot which is kept was tied in: its checkpoint may be gone back to."""
    pipeline = weaver.catalog.find_pipeline(weaver.catalog.stream(stream).pipeline)
    epochs = [knot.epoch for knot in weaver.knots.after(stream, first - 1)]
    return min([*epochs, *([pipeline.epoch] if pipeline is not None else [])], default=0)
