"""How far back a stream can go when old rows are gone: no further than what is kept of it, and of what it is made from.

Asked when a rollback, a recomputation or a replay is planned; raises what stands in its way, and says what can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.operations.cut import Cut
from weft.replays.leg import Leg
from weft.weaver.expiring import expired_upto

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


class RowsGoneError(WeftError):
    """Something would need rows that are no longer kept; nothing was changed."""

    code = "history.rows-gone"
    domain = "user"


def check_rows(weaver: Weaver, cut: Cut, *, own: bool = True) -> None:
    """Refuse a cut that goes back behind what is kept: of the stream itself, or of what comes into it.

    The knot that is gone back to has its rows, and those that it was made of: Spark asks for them when it starts there.
    """
    if own and not (cut.cut_after == cut.keep == weaver.knots.head(cut.stream).number):
        expired = expired_upto(weaver.records, cut.stream)
        lowest = min([cut.keep, *(span.after + 1 for span in cut.revive)])
        if expired and lowest <= expired:
            raise _gone(weaver, cut.stream, cut.keep, cut.stream, expired)
    knot = weaver.knots.find(cut.stream, cut.keep) if cut.keep else None
    for name, expired in _expired_inputs(weaver, cut.pipeline):
        if expired > _begun(weaver, knot, name):
            raise _gone(weaver, cut.stream, cut.keep, name, expired)


def check_leg(weaver: Weaver, leg: Leg, *, compares: bool) -> None:
    """Refuse a leg of a replay whose recorded input is gone, or what its rows would be compared with."""
    expired = expired_upto(weaver.records, leg.stream)
    if (compares or leg.edits) and expired > leg.after:
        raise _gone_from(leg.stream, leg.stream, expired, expired + 1)
    begin = weaver.knots.find(leg.stream, leg.begin) if leg.begin else None
    for name in () if leg.edits else leg.recorded:
        expired = expired_upto(weaver.records, name)
        begun = _begun(weaver, begin, name) if leg.state else _ended(begin, name)
        if expired > _first(weaver, leg, name, begun):
            first = _possible(weaver, leg.stream, [(name, expired)], after=leg.begin)
            if first and leg.stateful:  # it begins with the state of the knot before
                later = weaver.knots.after(leg.stream, first)
                first = next((one.number for one in later if one.status is Status.COMPLETE), None)
            raise _gone_from(leg.stream, name, expired, first)


def check_fill(weaver: Weaver, stream: str, after: int) -> None:
    """Refuse to fill a stream from rows of another that are no longer all there."""
    expired = expired_upto(weaver.records, stream)
    if expired > after:
        raise RowsGoneError(
            f"Nothing can be filled from knot {after + 1} of stream '{stream}' on: its rows are kept from knot "
            f"{expired + 1} on.",
            hint=f"Start after knot {expired}, or at `latest`.",
            stream=stream,
            knot=expired + 1,
        )


def _first(weaver: Weaver, leg: Leg, name: str, begun: int) -> int:
    """The last knot of an input before those that a leg reads: one that began late has read none of the older ones."""
    if leg.begin:
        return begun
    knot: Knot | None = weaver.knots.find(leg.stream, leg.upto)
    while knot is not None and knot.previous:
        knot = weaver.knots.find(leg.stream, knot.previous)
    firsts = [one.first - 1 for one in (knot.parents if knot else ()) if one.stream == name]
    return min(firsts, default=begun)


def _expired_inputs(weaver: Weaver, pipeline: str) -> list[tuple[str, int]]:
    known = weaver.catalog.find_pipeline(pipeline)
    inputs = known.inputs if known is not None else ()
    return [(name, expired_upto(weaver.records, name)) for name in inputs]


def _begun(weaver: Weaver, knot: Knot | None, name: str) -> int:
    """The last knot of an input that was consumed before a knot."""
    before = weaver.knots.find(knot.stream, knot.previous) if knot and knot.previous else None
    return _ended(before, name)


def _ended(knot: Knot | None, name: str) -> int:
    return knot.offsets.inputs.get(name, 0) if knot is not None else 0


def _possible(
    weaver: Weaver, stream: str, inputs: Iterable[tuple[str, int]], *, after: int
) -> int | None:
    """The first live knot after one whose own input is kept."""
    wanted = list(inputs)
    for knot in weaver.knots.after(stream, after):
        if knot.status is Status.COMPLETE and all(
            _begun(weaver, knot, name) >= expired for name, expired in wanted
        ):
            return knot.number
    return None


def _gone(weaver: Weaver, stream: str, to: int, what: str, expired: int) -> RowsGoneError:
    own = expired_upto(weaver.records, stream)
    writer = weaver.catalog.stream(stream).pipeline
    first = _possible(weaver, stream, _expired_inputs(weaver, writer), after=max(to, own))
    return RowsGoneError(
        f"Stream '{stream}' cannot go back to knot {to}: rows of stream '{what}' are kept from knot "
        f"{expired + 1} on.",
        hint=(f"Knot {first} of '{stream}' is the first that it can go back to. " if first else "")
        + "`history` in the project says how long rows are kept.",
        stream=stream,
        knot=first,
        input=what,
    )


def _gone_from(stream: str, what: str, expired: int, first: int | None) -> RowsGoneError:
    start = f"Start at knot {first}" if first else "Wait for newer knots"
    return RowsGoneError(
        f"Knots of stream '{stream}' cannot be run again from there: rows of stream '{what}' are kept from knot "
        f"{expired + 1} on.",
        hint=f"{start}, or keep more with `history` in the project.",
        stream=stream,
        knot=first,
        input=what,
    )
