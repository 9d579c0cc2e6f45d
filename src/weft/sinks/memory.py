"""A sink that keeps rows in this process, for tests. What it holds outlives the sink object, as
what a real one wrote outlives the worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from weft.declared.key import Key
from weft.declared.limit import TEXT
from weft.schema.weft import WEFT
from weft.sinks.options import Options
from weft.sinks.rows import Rows
from weft.sinks.sink import Promise, Sink, Target

_STORES: dict[str, dict[int, list[dict[str, Any]]]] = {}


def read(name: str) -> list[dict[str, Any]]:
    """All records that the memory sink of this name holds, in the order of their knots."""
    kept = _STORES.get(name, {})
    return [record for knot in sorted(kept) for record in kept[knot]]


def forget(name: str) -> None:
    """Drop what the memory sink of this name holds."""
    _STORES.pop(name, None)


@dataclass(frozen=True)
class MemoryOptions(Options):
    """Keeps rows in the worker's process, for tests. Exactly once."""

    name: Annotated[str, Key(TEXT, "By which a test finds the rows.", "seen")]

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"memory {self.name}"

    def open(self, target: Target) -> Sink:
        """The sink."""
        return MemorySink(self, target)


class MemorySink:
    """Exactly once: a knot that is delivered again replaces itself."""

    promise: Promise = "exactly once"

    def __init__(self, options: MemoryOptions, target: Target) -> None:
        self._kept = _STORES.setdefault(options.name, {})

    def deliver(self, knot: int, rows: Rows) -> None:
        """Keep the rows of a knot."""
        self._kept[knot] = [
            {name: value for name, value in record.items() if name != WEFT}
            for record in rows.records()
        ]

    def delivered(self) -> int | None:
        """The highest knot that is kept."""
        return max(self._kept, default=None)

    def retract(self, knots: range, rows: Rows) -> None:
        """Drop the rows of these knots."""
        for knot in knots:
            self._kept.pop(knot, None)

    def restore(self, knot: int, rows: Rows) -> None:
        """Keep the rows of a knot again."""
        self.deliver(knot, rows)

    def close(self) -> None:
        """Nothing is held."""
