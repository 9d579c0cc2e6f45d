"""What a batch takes in: where it begins and ends in each input, as the log in its checkpoint says.

The log is written before a batch runs, and has a file for each: line 1 is its form, line 2 what Spark would know of it,
then a line for each input, "-" where nothing was read yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.lineage.offsets import Offsets
from weft.locations.location import Location, locate
from weft.streams.intake import At

HEAD = ("v1", json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}}))
NOTHING_YET = "-"
KEPT = 200
"""So many batches are kept: a rollback cuts a checkpoint back to one of them."""


@dataclass(frozen=True)
class Taken:
    """The offsets of a batch, and the knots of each input that it consumes: after the first, up to the second."""

    offsets: Offsets
    knots: dict[str, tuple[int, int]]
    after: At
    """Where it begins, in the words of its inputs."""
    upto: At
    """Where it ends."""


def taken(
    after: At, upto: At, inputs: tuple[str, ...], begin: Callable[[str], int] = lambda _: 0
) -> Taken:
    """What a batch takes in; `inputs` are the streams that are read, in their order.

    `begin` says behind which knot of a stream its first batch begins.
    """
    start, end = positions(after), positions(upto)
    knots = {
        stream: (
            begin(stream) if start[place] is None else _knot(start[place]),
            _knot(end[place]),
        )
        for place, stream in enumerate(inputs)
    }
    consumed = {stream: upto for stream, (_, upto) in knots.items()}
    return Taken(Offsets(start, end, consumed, order=inputs), knots, after, upto)


def positions(at: At) -> tuple[Any, ...]:
    """What the texts of a place say."""
    return tuple(None if text is None else json.loads(text) for text in at)


def find_at(checkpoint: str | Location, batch: int) -> At | None:
    """Where a batch ends in each input, in the input's words, or None when the log does not have it."""
    try:
        written = (locate(checkpoint) / "offsets" / str(batch)).read()
    except FileNotFoundError:
        return None
    lines = written.decode().splitlines()[len(HEAD) :]
    return tuple(None if line == NOTHING_YET else line for line in lines)


def find(checkpoint: str | Location, batch: int) -> tuple[Any, ...] | None:
    """The position of each input at the end of a batch, or None when the log does not have it."""
    at = find_at(checkpoint, batch)
    return None if at is None else positions(at)


def newest(checkpoint: str | Location) -> int | None:
    """The last batch that the log has, or None."""
    names = (locate(checkpoint) / "offsets").names()
    return max((int(name) for name in names if name.isdigit()), default=None)


def is_done(checkpoint: str | Location, batch: int) -> bool:
    """Whether a batch has run to its end."""
    return (locate(checkpoint) / "commits" / str(batch)).exists()


def form(ends: Sequence[Any]) -> bytes:
    """The file of a batch that ends at these positions."""
    lines = [NOTHING_YET if end is None else json.dumps(end) for end in ends]
    return "\n".join([*HEAD, *lines]).encode()


DONE = b'v1\n{"nextBatchWatermarkMs":0}'
"""The file of a batch that has run."""


def _knot(position: Any) -> int:
    return position["knot"] if position else 0
