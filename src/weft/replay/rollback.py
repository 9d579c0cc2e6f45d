"""Rollback as a plan: which pipelines are cut back to which knots, and what goes with it. Pure: values in, steps out.

The same list is printed by a dry run, run by a worker, and finished at the next start if something died on the way:
every step may be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from weft.errors import WeftError
from weft.lineage.knot import Knot, Status


class RollbackError(WeftError):
    """A rollback that cannot be done; nothing was changed."""

    code = "rollback.refused"
    domain = "user"


@dataclass(frozen=True)
class Run:
    """Knots in a row: those after `after`, up to `upto`."""

    after: int
    upto: int


@dataclass(frozen=True)
class Cut:
    """One pipeline cut back: its stream, side streams and checkpoint as they were at knot `keep`.

    `keep` 0 is before the first knot. `revive` are knots of an earlier rollback that come back: the history
    that leads to `keep` when that was rolled back itself.
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
    revive: tuple[Run, ...] = ()

    def describe(self) -> list[str]:
        """What it does, a line each."""
        lines = []
        gone = self.last - self.cut_after
        if gone:
            lines.append(
                f"cut {self.stream} after knot {self.cut_after}: {gone} "
                f"knot{'s' if gone != 1 else ''} up to {self.last} are rolled back"
            )
        lines += [
            f"bring knots {run.after + 1} to {run.upto} of {self.stream} back"
            for run in self.revive
        ]
        beside = [name for name in self.streams if name != self.stream]
        if beside:
            lines.append(f"cut {', '.join(beside)} with it")
        start = f"batch {self.keep_batch}" if self.keep_batch is not None else "the beginning"
        lines.append(f"cut the checkpoint of {self.pipeline} back to {start} (epoch {self.epoch})")
        return lines

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Cut:
        return Cut(
            **{
                **fields,
                "streams": tuple(fields["streams"]),
                "revive": tuple(Run(**run) for run in fields["revive"]),
            }
        )


@dataclass(frozen=True)
class RollbackPlan:
    """Everything that a rollback does, in order."""

    stream: str
    to: int
    cuts: tuple[Cut, ...]
    retired: tuple[str, ...]
    restored: tuple[str, ...]

    def describe(self) -> list[str]:
        """The steps as people read them."""
        names = ", ".join(cut.pipeline for cut in self.cuts)
        lines = [f"hold {names}: finish the batch in hand, then stop"]
        lines += [line for cut in self.cuts for line in cut.describe()]
        lines += [f"retire rule {rule}" for rule in self.retired]
        lines += [f"put rule {rule} in force again" for rule in self.restored]
        return [*lines, f"let {names} go on"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "stream": self.stream,
            "to": self.to,
            "cuts": [cut.to_dict() for cut in self.cuts],
            "retired": list(self.retired),
            "restored": list(self.restored),
            "steps": self.describe(),
        }

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> RollbackPlan:
        return RollbackPlan(
            stream=fields["stream"],
            to=fields["to"],
            cuts=tuple(Cut.from_dict(cut) for cut in fields["cuts"]),
            retired=tuple(fields["retired"]),
            restored=tuple(fields["restored"]),
        )


@dataclass(frozen=True)
class Affected:
    """A pipeline that a rollback may touch, with where it stands."""

    pipeline: str
    stream: str
    streams: tuple[str, ...]
    inputs: tuple[str, ...]
    epoch: int
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
    chain: Chain, affected: Sequence[Affected], *, to: int, reach: Mapping[str, Reach]
) -> tuple[Cut, ...]:
    """Cut the first pipeline to knot `to`, and each after it to its last knot that consumed nothing cut.

    `reach` is that of the pipelines with state: the first must have the state of that very knot, the others go
    back as far as they have to.
    """
    first = affected[0]
    _check_reach(chain, first, to, reach.get(first.pipeline))
    cuts = [_cut_to(chain, first, to)]
    kept = dict.fromkeys(first.streams, cuts[0].cut_after)
    for pipeline in affected[1:]:
        keep = _last_untouched(chain, pipeline, kept, reach.get(pipeline.pipeline))
        cut = _cut_to(chain, pipeline, keep)
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
        epoch=pipeline.epoch + 1,
        keep_epoch=keep.epoch if keep else pipeline.epoch,
        keep_batch=keep.batch if keep else None,
        cut_after=shared,
        revive=_runs(path[::-1]),
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
    raise RollbackError(
        f"Stream '{pipeline.stream}' cannot be rolled back to knot {to}: its state is no longer kept.",
        code="rollback.state-gone",
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
        consumed: Mapping[str, int] = knot.offsets.get("inputs", {})
        touched = any(
            consumed.get(name, 0) > upto for name, upto in kept.items() if name in pipeline.inputs
        )
        if not touched and (reach is None or reach.has(knot)):
            return number
        number = knot.previous
    return 0


def _runs(numbers: Sequence[int]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for number in numbers:
        if runs and runs[-1].upto == number - 1:
            runs[-1] = Run(runs[-1].after, number)
        else:
            runs.append(Run(number - 1, number))
    return tuple(runs)


def check_target(knot: Knot | None, stream: str, to: int, *, head: int | None) -> None:
    """Refuse a knot that a stream cannot go back to."""
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
    if knot is not None and knot.status not in (Status.COMPLETE, Status.ROLLED_BACK):
        raise RollbackError(
            f"Stream '{stream}' cannot be rolled back to knot {to}: it is {knot.status}.",
            code="rollback.unfinished-knot",
            domain="conflict",
            hint="Choose a knot that is COMPLETE, or one that was rolled back and shall come back.",
            stream=stream,
            knot=to,
        )
    if head == to:
        raise RollbackError(
            f"Stream '{stream}' is at knot {to} already.",
            code="rollback.nothing",
            domain="conflict",
            hint="Choose an earlier knot.",
            stream=stream,
            knot=to,
        )
