"""What a batch takes in: read from Spark's offset log, which is written before the batch runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import WeftError


class OffsetsMissingError(WeftError):
    """Spark's offset log has no entry for a batch that it runs."""

    code = "checkpoint.no-offsets"


@dataclass(frozen=True)
class Offsets:
    """Where each source of a batch starts (None: from its beginning) and ends."""

    start: tuple[Any, ...]
    end: tuple[Any, ...]

    def to_dict(self, inputs: tuple[str, ...]) -> dict[str, Any]:
        """As a knot holds them; `inputs` are the streams read, in the order of the sources."""
        return {
            "from": list(self.start),
            "to": list(self.end),
            "inputs": {stream: upto for stream, (_, upto) in self.knots(inputs).items()},
        }

    def knots(self, inputs: tuple[str, ...]) -> dict[str, tuple[int, int]]:
        """The knots of each input stream that the batch consumes: after the first, up to the second."""
        consumed: dict[str, tuple[int, int]] = {}
        for position, stream in enumerate(inputs):
            start, end = self.start[position], self.end[position]
            consumed[stream] = (start["knot"] if start else 0, end["knot"] if end else 0)
        return consumed


def read(checkpoint: str, batch: int) -> Offsets:
    """The offsets of a batch and of the one before it."""
    end = _entry(checkpoint, batch)
    if end is None:
        raise OffsetsMissingError(
            f"The offset log in {checkpoint} has no batch {batch}.",
            hint="The checkpoint directory was changed from outside; roll back to the last knot.",
        )
    start = _entry(checkpoint, batch - 1) if batch > 0 else None
    return Offsets(start or (None,) * len(end), end)


def _entry(checkpoint: str, batch: int) -> tuple[Any, ...] | None:
    # Line 1 is the version, line 2 the batch's metadata, then one line per source ("-": nothing yet).
    file = Path(checkpoint) / "offsets" / str(batch)
    if not file.exists():
        return None
    lines = file.read_text().splitlines()[2:]
    return tuple(None if line == "-" else json.loads(line) for line in lines)
