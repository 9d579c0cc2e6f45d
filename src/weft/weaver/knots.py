"""Knots: pinned before a batch runs, completed after it was written, read back as history.

`pin` and `complete` are the two calls of the spine; both may be repeated and then answer the same. What they
write is durable once the store was flushed, which their callers wait for.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.clock import Clock, iso
from weft.errors import WeftError
from weft.lineage.knot import Knot, Output, Parent, RuleRef, Status, StepRecord
from weft.lineage.ledger import Ledger
from weft.weaver.store.records import Records, put
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


class KnotRefusedError(WeftError):
    """A worker asked for something that contradicts what is recorded."""

    code = "knot.refused"
    domain = "conflict"


@dataclass(frozen=True)
class Head:
    """Where a stream stands: its newest live knot, and the highest number ever given out."""

    number: int | None
    last: int

    def to_dict(self) -> dict[str, Any]:
        return {"number": self.number, "last": self.last}


@dataclass(frozen=True)
class PinRequest:
    """What a worker says before it runs a batch."""

    pipeline: str
    stream: str
    epoch: int
    batch: int
    offsets: Mapping[str, Any]
    inputs: Mapping[str, tuple[int, int]]


class Knots:
    """All knots of all streams."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    def head(self, stream: str) -> Head:
        """Where a stream stands."""
        fields = self._records.find("head", stream)
        return Head(**fields) if fields else Head(number=None, last=0)

    def find(self, stream: str, number: int) -> Knot | None:
        """A knot of a stream, or None."""
        fields = self._records.find("knot", stream, number)
        return Knot.from_dict(fields) if fields else None

    def get(self, stream: str, number: int) -> Knot:
        """A knot of a stream."""
        knot = self.find(stream, number)
        if knot is None:
            raise KnotMissingError(stream, number, head=self.head(stream).number)
        return knot

    def log(
        self, stream: str, *, before: int | None = None, limit: int | None = None
    ) -> Iterator[Knot]:
        """Knots of a stream, newest first, from `before` (exclusive) back."""
        start = None if before is None else before - 1
        for fields in self._records.scan("knot", stream, start=start, limit=limit, reverse=True):
            yield Knot.from_dict(fields)

    def after(self, stream: str, number: int, *, limit: int | None = None) -> Iterator[Knot]:
        """Knots of a stream with a higher number, oldest first."""
        for fields in self._records.scan("knot", stream, start=number + 1, limit=limit):
            yield Knot.from_dict(fields)

    def pin(
        self, request: PinRequest, rules: Callable[[int], tuple[RuleRef, ...]]
    ) -> tuple[Knot, Knot | None]:
        """The knot of this batch and the one before it: the one pinned first, or a new one with the rules of now."""
        known = self._records.find("batch", request.pipeline, request.epoch, request.batch)
        if known is not None:
            knot = self.get(request.stream, known["knot"])
            if knot.offsets != request.offsets:
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
        head = self.head(request.stream)
        previous = self.find(request.stream, head.number) if head.number is not None else None
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
        )
        self._records.store.apply(
            [
                put("knot", knot.stream, number, record=knot.to_dict()),
                put(
                    "batch",
                    request.pipeline,
                    request.epoch,
                    request.batch,
                    record={"knot": number},
                ),
                put("head", knot.stream, record=Head(head.number, number).to_dict()),
            ],
            expect={key("knot", knot.stream, number): None},
            durable=False,
        )
        return knot, previous

    def fail(self, stream: str) -> Knot | None:
        """Note that the batch in hand of a stream failed; its knot keeps its rules until the batch runs again."""
        knot = self.find(stream, self.head(stream).last)
        if knot is None or knot.status is not Status.IN_PROGRESS:
            return None
        return self._become(knot, Status.FAILED)

    def _become(self, knot: Knot, status: Status) -> Knot:
        changed = knot.becoming(status)
        write = put("knot", changed.stream, changed.number, record=changed.to_dict())
        self._records.store.apply([write], durable=False)
        return changed

    def complete(
        self, knot: Knot, facts: Mapping[str, Any], also: Callable[[Knot], list[Write]]
    ) -> Knot:
        """Tie the knot: fill in what was written, seal it with its hash, make it the head."""
        if knot.status is Status.COMPLETE:
            return knot
        if knot.status is not Status.IN_PROGRESS:
            raise KnotRefusedError(
                f"Knot {knot.number} of stream '{knot.stream}' cannot be completed: "
                f"it is {knot.status}.",
                hint="It was rolled back while its batch ran; the batch is run again from its new start.",
                stream=knot.stream,
                knot=knot.number,
            )
        outputs = {
            stream: Output(**{**fields, "files": tuple(fields["files"])})
            for stream, fields in facts["outputs"].items()
        }
        tied = replace(
            knot,
            steps=tuple(StepRecord(**step) for step in facts["steps"]),
            schema=facts["schema"],
            outputs=outputs,
            ledger=Ledger.from_dict(facts["ledger"]),
            watermarks=facts["watermarks"],
            watermark=facts["watermark"],
            state=facts.get("state"),
            completed=iso(self._clock.now()),
            duration_ms=facts["duration_ms"],
        )
        if tied.ledger.missing():
            raise KnotRefusedError(
                f"Knot {knot.number} of stream '{knot.stream}' does not balance: "
                f"{tied.ledger.missing()} of {tied.ledger.rows_in} records are unaccounted for.",
                code="knot.unbalanced",
                hint="This is a defect; the batch is kept and runs again.",
                stream=knot.stream,
                knot=knot.number,
            )
        tied = tied.sealed()
        head = self.head(knot.stream)
        self._records.store.apply(
            [
                put("knot", tied.stream, tied.number, record=tied.to_dict()),
                put("head", tied.stream, record=Head(tied.number, head.last).to_dict()),
                *(_use(parent, tied) for parent in tied.parents),
                *also(tied),
            ],
            durable=False,
        )
        return tied

    def uses(self, stream: str, number: int, *, by: str) -> Iterator[int]:
        """The knots of stream `by` that consumed knot `number` of a stream or later ones, in order."""
        for use in self._records.scan("use", stream, by, start=number):
            yield use["knot"]


def _seed(stream: str, number: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{stream}\x00{number}".encode()).digest()[:4], "big")


def _use(parent: Parent, knot: Knot) -> Write:
    return put(
        "use",
        parent.stream,
        knot.stream,
        parent.last,
        knot.number,
        record={"first": parent.first, "knot": knot.number},
    )
