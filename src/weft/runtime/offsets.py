"""What a batch takes in: read from Spark's offset log, which is written before the batch runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.errors import WeftError
from weft.lineage.offsets import Offsets
from weft.locations.location import locate


class OffsetsMissingError(WeftError):
    """Spark's offset log has no entry for a batch that it runs."""

    code = "checkpoint.no-offsets"


@dataclass(frozen=True)
class Taken:
    """The offsets of a batch, and the knots of each input that it consumes: after the first, up to the second."""

    offsets: Offsets
    knots: dict[str, tuple[int, int]]


def read(
    checkpoint: str, batch: int, inputs: tuple[str, ...], begin: Callable[[str], int] = lambda _: 0
) -> Taken:
    """What a batch takes in; `inputs` are the streams that are read, in the order of the sources.

    `begin` says behind which knot of a stream its first batch begins.
    """
    end = find(checkpoint, batch)
    if end is None:
        raise OffsetsMissingError(
            f"The offset log in {checkpoint} has no batch {batch}.",
            hint="The checkpoint directory was changed from outside; roll back to the last knot.",
        )
    start = (find(checkpoint, batch - 1) if batch > 0 else None) or (None,) * len(end)
    knots = {
        stream: (
            begin(stream) if start[position] is None else _knot(start[position]),
            _knot(end[position]),
        )
        for position, stream in enumerate(inputs)
    }
    consumed = {stream: upto for stream, (_, upto) in knots.items()}
    return Taken(Offsets(start, end, consumed, order=inputs), knots)


def find(checkpoint: str, batch: int) -> tuple[Any, ...] | None:
    """The position of each source at the end of a batch, or None when the log does not have it."""
    # Line 1 is the version, line 2 the batch's metadata, then one line per source ("-": nothing yet).
    try:
        written = (locate(checkpoint) / "offsets" / str(batch)).read()
    except FileNotFoundError:
        return None
    lines = written.decode().splitlines()[2:]
    return tuple(None if line == "-" else json.loads(line) for line in lines)


def _knot(position: Any) -> int:
    return position["knot"] if position else 0
