"""Knots: pinned before a batch runs, completed after it was written, read back as history.

`pin` and `complete` are the two calls of the spine; both may be repeated and then answer the same. What they
write is durable once the store was flushed, which their callers wait for. All of a stream's line lies in one partition.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from weft.clock import Clock, iso
from weft.errors import WeftError
from weft.lineage.facts import Facts
from weft.lineage.knot import Knot, Parent, RuleRef, Status
from weft.lineage.offsets import Offsets
from weft.weaver.store.records import Records, put, put_encoded, remove
from weft.weaver.store.store import Write, key


class KnotMissingError(WeftError):
    """There is no such knot."""

    code = "knot.missing"
    domain = "missing"

    def __init__(self, stream: str, number: int, *, head: int | None) -> None:
        last = "it has no knots yet" if head is None else f"its newest knot is {head}"
        super().__init__(
            f"Stream '{stream}' has no knot {number}: {last}.",
            hint=f"See `weft stream log {stream}`.",
            stream=stream,
            knot=number,
        )


class KnotNotLiveError(WeftError):
    """A knot whose rows are not in the tables: it was rolled back, or is not tied yet."""

    code = "knot.not-live"
    domain = "user"

    def __init__(self, knot: Knot) -> None:
        super().__init__(
            f"Knot {knot.number} of stream '{knot.stream}' is {knot.status}: nothing is as of it.",
            hint=f"Choose a complete one; `weft stream log {knot.stream}` shows them.",
            stream=knot.stream,
            knot=knot.number,
        )


class KnotRefusedError(WeftError):
    """A worker asked for something that contradicts what is recorded."""

    code = "knot.refused"
    domain = "conflict"


@dataclass(frozen=True)
class Head:
    """Where a stream stands: its newest live knot, and the highest number ever given out."""

    number: int | None = None
    last: int = 0
    given_up: int | None = None
    """A knot after the newest live one whose batch was given up; the next knot replaces it."""


@dataclass(frozen=True)
class KnotFloor:
    """Where the line of a stream begins: knots before this one are forgotten, or go now."""

    number: int
    before: str | None
    """The hash of the knot that it follows."""
    at: str
    operation: str


@dataclass(frozen=True)
class Batch:
    """The knot that a batch was pinned as."""

    knot: int


@dataclass(frozen=True)
class Use:
    """A knot that consumed knots of another stream, from `first` on."""

    first: int
    knot: int


@dataclass(frozen=True)
class PinRequest:
    """What a worker says before it runs a batch."""

    pipeline: str
    stream: str
    epoch: int
    batch: int
    offsets: Offsets
    inputs: Mapping[str, tuple[int, int]]


def line(stream: str) -> str:
    """The partition of the store that has a stream's line of knots."""
    return f"line/{stream}"


class Knots:
    """All knots of all streams."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    def head(self, stream: str) -> Head:
        """Where a stream stands."""
        return self._records.find(Head, line(stream), "head") or Head()

    def floor(self, stream: str) -> KnotFloor | None:
        """Where the line of a stream begins; None where every knot is kept."""
        return self._records.find(KnotFloor, line(stream), "floor")

    def find(self, stream: str, number: int) -> Knot | None:
        """A knot of a stream, or None."""
        return self._records.find(Knot, line(stream), "knot", number)

    def get(self, stream: str, number: int) -> Knot:
        """A knot of a stream."""
        knot = self.find(stream, number)
        if knot is None:
            raise KnotMissingError(stream, number, head=self.head(stream).number)
        return knot

    def get_live(self, stream: str, number: int) -> Knot:
        """A live knot of a stream; refuses one that was rolled back or is not tied."""
        knot = self.get(stream, number)
        if knot.status is not Status.COMPLETE:
            raise KnotNotLiveError(knot)
        return knot

    def newest(self, stream: str) -> Knot | None:
        """The newest live knot of a stream."""
        number = self.head(stream).number
        return None if number is None else self.find(stream, number)

    def in_hand(self, stream: str) -> Knot | None:
        """The knot whose batch runs now, or will run again."""
        knot = self.find(stream, self.head(stream).last)
        return knot if knot is not None and knot.is_open else None

    def log(
        self, stream: str, *, before: int | None = None, limit: int | None = None
    ) -> Iterator[Knot]:
        """Knots of a stream, newest first, from `before` (exclusive) back."""
        start = None if before is None else before - 1
        return self._records.scan(
            Knot, line(stream), "knot", start=start, limit=limit, reverse=True
        )

    def after(self, stream: str, number: int, *, limit: int | None = None) -> Iterator[Knot]:
        """Knots of a stream with a higher number, oldest first."""
        return self._records.scan(Knot, line(stream), "knot", start=number + 1, limit=limit)

    def find_pinned(self, request: PinRequest) -> Knot | None:
        """The knot that this batch was pinned as before, or None."""
        known = self._records.find(
            Batch, line(request.stream), "batch", request.epoch, request.batch
        )
        return None if known is None else self.get(request.stream, known.knot)

    def last_epoch(self, stream: str) -> int:
        """The last epoch in which a stream has batches, whichever pipelines have written it."""
        newest = self._records.scan(Batch, line(stream), "batch", limit=1, reverse=True)
        knots = [self.find(stream, one.knot) for one in newest]
        return max((knot.epoch for knot in knots if knot is not None), default=0)

    def of_batch(self, stream: str, batch: int, *, epochs: int) -> list[Knot]:
        """The live knot of a batch, in the newest epoch up to this one that had it; none where there is none."""
        for epoch in range(epochs, -1, -1):
            known = self._records.find(Batch, line(stream), "batch", epoch, batch)
            knot = None if known is None else self.find(stream, known.knot)
            if knot is not None and knot.status is Status.COMPLETE:
                return [knot]
        return []

    def pin(
        self,
        request: PinRequest,
        rules: Callable[[int], tuple[RuleRef, ...]],
        *,
        is_flagged: Callable[[str, int], bool] = lambda *_: False,
    ) -> tuple[Knot, Knot | None]:
        """The knot of this batch and the one before it: the one pinned first, or a new one with the rules of now."""
        known = self.find_pinned(request)
        if known is not None:
            return self._pin_again(known, request)
        head = self.head(request.stream)
        previous = self.newest(request.stream)
        _check_follows(request, previous)
        number = head.last + 1
        knot = Knot(
            id=str(uuid.uuid4()),
            stream=request.stream,
            pipeline=request.pipeline,
            number=number,
            epoch=request.epoch,
            batch=request.batch,
            parents=tuple(
                Parent(stream, first=after + 1, last=upto)
                for stream, (after, upto) in sorted(request.inputs.items())
                if upto > after
            ),
            offsets=request.offsets,
            rules=rules(number),
            now=iso(self._clock.now()),
            seed=_seed(request.stream, number),
            previous=previous.number if previous else None,
            previous_hash=previous.hash if previous else None,
            replaces=head.given_up,
            flagged=is_flagged(request.stream, number),
        )
        pinned = Head(head.number, number)
        self._records.store.apply(
            [
                self._records.kept(store_knot(knot), knot),
                put(line(knot.stream), "batch", knot.epoch, knot.batch, value=Batch(number)),
                self._records.kept(store_head(knot.stream, pinned), pinned),
            ],
            expect={key(line(knot.stream), "knot", number): None},
            durable=False,
        )
        return knot, previous

    def _pin_again(self, knot: Knot, request: PinRequest) -> tuple[Knot, Knot | None]:
        if knot.offsets != request.offsets or knot.pipeline != request.pipeline:
            raise KnotRefusedError(
                f"Batch {request.batch} of pipeline '{request.pipeline}' was pinned with other "
                "offsets than it has now.",
                hint="Two workers may share one checkpoint directory; stop one of them.",
                pipeline=request.pipeline,
                knot=knot.number,
            )
        if knot.status is Status.FAILED:
            knot = self._become(knot, Status.IN_PROGRESS)
        return knot, None if knot.previous is None else self.find(knot.stream, knot.previous)

    def fail(self, stream: str, reason: str) -> Knot | None:
        """Note that the batch in hand of a stream failed; its knot keeps its rules until the batch runs again."""
        knot = self.in_hand(stream)
        if knot is None or knot.status is Status.FAILED:
            return None
        return self._become(knot, Status.FAILED, reason=reason)

    def _become(self, knot: Knot, status: Status, *, reason: str | None = None) -> Knot:
        changed = knot.becoming(status, reason=reason)
        self._records.store.apply([store_knot(changed)], durable=False)
        return changed

    def check_open(self, knot: Knot) -> Knot:
        """Refuse a knot whose batch no longer runs."""
        if knot.status is not Status.IN_PROGRESS:
            raise KnotRefusedError(
                f"Knot {knot.number} of stream '{knot.stream}' cannot be completed: "
                f"it is {knot.status}.",
                hint="It was rolled back while its batch ran; the batch is run again from its new start.",
                stream=knot.stream,
                knot=knot.number,
            )
        return knot

    def complete(self, knot: Knot, facts: Facts, also: Callable[[Knot], list[Write]]) -> Knot:
        """Tie the knot: fill in what was written, seal it with its hash, make it the head."""
        if knot.status is Status.COMPLETE:
            return knot
        self.check_open(knot)
        if facts.ledger.missing():
            raise KnotRefusedError(
                f"Knot {knot.number} of stream '{knot.stream}' does not balance: "
                f"{facts.ledger.missing()} of {facts.ledger.rows_in} records are unaccounted for.",
                code="knot.unbalanced",
                hint="This is a defect; the batch is kept and runs again.",
                stream=knot.stream,
                knot=knot.number,
            )
        tied = knot.tied(facts)
        head = replace(self.head(knot.stream), number=tied.number, given_up=None)
        self._records.store.apply(
            [
                self._records.kept(store_knot(tied), tied),
                self._records.kept(store_head(tied.stream, head), head),
                *uses_of(tied),
                *also(tied),
            ],
            durable=False,
        )
        return tied

    def uses(self, stream: str, number: int, *, by: str) -> Iterator[int]:
        """The knots of stream `by` that consumed knot `number` of a stream or later ones, in order."""
        for use in self._records.scan(Use, line(by), "use", stream, start=number):
            yield use.knot


def store_knot(knot: Knot) -> Write:
    """The write that stores a knot."""
    return put_encoded(line(knot.stream), "knot", knot.number, body=knot.stored)


def store_head(stream: str, head: Head) -> Write:
    """The write that says where a stream stands."""
    return put(line(stream), "head", value=head)


def store_floor(stream: str, floor: KnotFloor) -> Write:
    """The write that says where the line of a stream begins."""
    return put(line(stream), "floor", value=floor)


def forget_knot(knot: Knot) -> list[Write]:
    """The writes that forget a knot, and what finds it."""
    return [
        remove(line(knot.stream), "knot", knot.number),
        remove(line(knot.stream), "batch", knot.epoch, knot.batch),
        *(
            remove(line(knot.stream), "use", parent.stream, parent.last, knot.number)
            for parent in knot.parents
        ),
    ]


def uses_of(knot: Knot) -> list[Write]:
    """The writes by which what came of a knot's inputs is found."""
    return [
        put(
            *(line(knot.stream), "use", parent.stream, parent.last, knot.number),
            value=Use(parent.first, knot.number),
        )
        for parent in knot.parents
    ]


def _check_follows(request: PinRequest, previous: Knot | None) -> None:
    """Refuse a batch that does not begin where the newest knot ended: it would repeat records, or leave some out."""
    ended = previous.offsets.end if previous else ()
    start = request.offsets.start
    if start == ended or (previous is None and all(position is None for position in start)):
        return
    raise KnotRefusedError(
        f"Batch {request.batch} of pipeline '{request.pipeline}' begins at {list(start)}, and "
        + (f"knot {previous.number} ended at {list(ended)}." if previous else "it has no knots."),
        code="knot.gap",
        hint="Its checkpoint directory is not the one that goes with the store. Stop Weft and run "
        "`weft store rebuild`, which makes one from the newest knot.",
        pipeline=request.pipeline,
    )


def _seed(stream: str, number: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{stream}\x00{number}".encode()).digest()[:4], "big")
