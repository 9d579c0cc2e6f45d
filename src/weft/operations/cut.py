"""Which pipelines go back to which knots when one does, told from their knots alone. Pure: values in, cuts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.errors import WeftError
from weft.lineage.knot import Knot
from weft.lineage.offsets import Offsets


class StateGoneError(WeftError):
    """The state that a pipeline would go back to is no longer kept."""

    code = "rollback.state-gone"
    domain = "user"


@dataclass(frozen=True)
class Span:
    """Knots in a row: those after `after`, up to `upto`."""

    after: int
    upto: int


@dataclass(frozen=True)
class Cut:
    """One pipeline cut back: its stream, side streams and checkpoint as they were at knot `keep`.

    `keep` 0 is before the first knot. `revive` are knots of an earlier rollback that come back: the history
    that leads to `keep` when that was rolled back itself. `last` is the highest number that was ever given out, so
    that a cut takes no knot that comes after it, however late it is made.
    """

    pipeline: str
    stream: str
    streams: tuple[str, ...]
    keep: int
    last: int
    epoch: int
    keep_epoch: int
    keep_batch: int | None
    cut_after: int
    revive: tuple[Span, ...] = ()
    offsets: Offsets | None = None
    """Where the pipeline stood at knot `keep`, for a checkpoint that no longer knows."""

    @property
    def gone(self) -> Span | None:
        """The knots that it takes out, or None when there are none."""
        return Span(self.cut_after, self.last) if self.last > self.cut_after else None


@dataclass(frozen=True)
class Affected:
    """A pipeline that may be cut, with where it stands."""

    pipeline: str
    stream: str
    streams: tuple[str, ...]
    inputs: tuple[str, ...]
    epoch: int
    """The epoch that it would get."""
    keep_epoch: int
    """The epoch that it is in."""
    head: int | None
    last: int


class Chain(Protocol):
    """The knots of streams, by number."""

    def find(self, stream: str, number: int) -> Knot | None: ...


@dataclass(frozen=True)
class Reach:
    """How far back the state of a pipeline is kept: from a batch of each epoch on, and at keyframes."""

    keyframes: frozenset[int]
    earliest: Mapping[int, int | None]

    def has(self, knot: Knot) -> bool:
        """Whether the state that this knot left behind can still be had."""
        if knot.number in self.keyframes:
            return True
        first = self.earliest.get(knot.epoch)
        return first is not None and knot.batch >= first


def plan_cuts(
    chain: Chain,
    affected: Sequence[Affected],
    *,
    targets: Mapping[str, int],
    reach: Mapping[str, Reach],
) -> tuple[Cut, ...]:
    """Cut each pipeline of `targets` to its knot, and every other to its last knot that consumed nothing cut.

    `affected` are in the order data moves. `reach` is that of the pipelines with state: a target must have the state of
    that very knot, the others go back as far as they have to. One that consumed nothing cut stays at its newest knot
    and is cut all the same: Spark may have planned a batch for it that would consume what is gone.
    """
    cuts: list[Cut] = []
    kept: dict[str, int] = {}
    for pipeline in affected:
        target = targets.get(pipeline.pipeline)
        if target is not None:
            _check_reach(chain, pipeline, target, reach.get(pipeline.pipeline))
        else:
            target = _last_untouched(chain, pipeline, kept, reach.get(pipeline.pipeline))
        cut = _cut_to(chain, pipeline, target)
        cuts.append(cut)
        kept |= dict.fromkeys(pipeline.streams, cut.cut_after)
    return tuple(cuts)


def _cut_to(chain: Chain, pipeline: Affected, to: int) -> Cut:
    keep = chain.find(pipeline.stream, to) if to else None
    shared, path = _meet(chain, pipeline.stream, pipeline.head, to)
    return Cut(
        pipeline=pipeline.pipeline,
        stream=pipeline.stream,
        streams=pipeline.streams,
        keep=to,
        last=pipeline.last,
        epoch=pipeline.epoch,
        keep_epoch=keep.epoch if keep else pipeline.keep_epoch,
        keep_batch=keep.batch if keep else None,
        cut_after=shared,
        revive=_spans(path[::-1]),
        offsets=keep.offsets if keep else None,
    )


def _meet(chain: Chain, stream: str, head: int | None, to: int) -> tuple[int, list[int]]:
    """The newest knot that both `head` and `to` descend from, and the knots from `to` back to it."""
    path: list[int] = []
    live, wanted = head or 0, to
    while live != wanted:  # numbers fall on the way back, so whichever is higher goes first
        if live > wanted:
            live = _previous(chain, stream, live)
        else:
            path.append(wanted)
            wanted = _previous(chain, stream, wanted)
    return live, path


def _previous(chain: Chain, stream: str, number: int) -> int:
    knot = chain.find(stream, number)
    return (knot.previous or 0) if knot else 0


def _check_reach(chain: Chain, pipeline: Affected, to: int, reach: Reach | None) -> None:
    knot = chain.find(pipeline.stream, to) if to else None
    if knot is None or reach is None or reach.has(knot):
        return
    number, nearest = pipeline.head, None
    while number is not None and number > to:
        later = chain.find(pipeline.stream, number)
        assert later is not None
        if reach.has(later):
            nearest = number
        number = later.previous
    raise StateGoneError(
        f"Stream '{pipeline.stream}' cannot go back to knot {to}: its state is no longer kept.",
        hint=f"Knot {nearest} is the first that can be had; 0 starts from nothing."
        if nearest
        else "0 starts from nothing.",
        stream=pipeline.stream,
        knot=nearest,
    )


def _last_untouched(
    chain: Chain, pipeline: Affected, kept: Mapping[str, int], reach: Reach | None
) -> int:
    number = pipeline.head
    while number is not None:
        knot = chain.find(pipeline.stream, number)
        assert knot is not None
        touched = any(
            knot.offsets.inputs.get(name, 0) > upto
            for name, upto in kept.items()
            if name in pipeline.inputs
        )
        if not touched and (reach is None or reach.has(knot)):
            return number
        number = knot.previous
    return 0


def _spans(numbers: Sequence[int]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for number in numbers:
        if spans and spans[-1].upto == number - 1:
            spans[-1] = Span(spans[-1].after, number)
        else:
            spans.append(Span(number - 1, number))
    return tuple(spans)
