"""When the panes of a window come, as its author writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from weft.declared.key import Key
from weft.declared.limit import FLAG, LARGEST, Fault, whole
from weft.declared.read import nested

_MANY = whole(1, LARGEST)


@dataclass(frozen=True)
class Cadence:
    """How often panes come: after a number of new records, or each time the watermark passes a
    multiple of a time that lies after the window's first record.
    """

    count: Annotated[
        int | None, Key(_MANY, "After so many new records.", 10, unsaid="`every_ms` says it")
    ] = None
    every_ms: Annotated[
        int | None,
        Key(_MANY, "After so much time, in milliseconds.", 1000, unsaid="`count` says it"),
    ] = None

    @staticmethod
    def together(written: Mapping[str, Any]) -> Fault | None:
        """One of the two."""
        if len(written) == 1:
            return None
        return Fault("wrong-type", "either a count or a time: {count: 10} or {every_ms: 1000}")

    def to_dict(self) -> dict[str, int]:
        """This pace as its author writes it."""
        pairs = (("count", self.count), ("every_ms", self.every_ms))
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True)
class Tardiness:
    """How often panes come once the window has ended."""

    count: Annotated[int, Key(_MANY, "After so many late records.", 3)] = 1


@dataclass(frozen=True)
class Trigger:
    """When the panes of a window come.

    Without anything said, a pane comes when the watermark reaches the window's end, and another
    with each knot that brings records for it within the allowed lateness. `early` adds panes before
    the end; `late` makes late panes wait for a number of records; `final` leaves one pane, once the
    lateness has passed; `count` or `every_ms` replaces all of that by a pace alone.
    """

    early: Annotated[
        Cadence | None,
        Key(
            nested(Cadence, "either {count: 10} or {every_ms: 1000}", may_be_null=True),
            "Panes before the window's end, at this pace.",
            {"every_ms": 1000},
            unsaid="none",
        ),
    ] = None
    late: Annotated[
        Tardiness,
        Key(
            nested(Tardiness, "a mapping such as {count: 3}"),
            "For how many records a pane after the window's end waits.",
            {"count": 3},
            unsaid="`{count: 1}`",
        ),
    ] = Tardiness()
    final: Annotated[bool, Key(FLAG, "One pane alone, once the lateness has passed.", True)] = False
    count: Annotated[
        int | None, Key(_MANY, "A pane after so many records, and no others.", 100, unsaid="none")
    ] = None
    every_ms: Annotated[
        int | None,
        Key(_MANY, "A pane after so much time, and no others.", 60_000, unsaid="none"),
    ] = None

    @staticmethod
    def together(written: Mapping[str, Any]) -> Fault | None:
        """A pace alone, or one pane alone, or panes around the window's end."""
        plain = [name for name in ("count", "every_ms") if name in written]
        if len(plain) > 1 or (plain and len(written) > 1):
            return Fault(
                "wrong-type",
                "either a plain count or time, or early, late and final",
                hint="Move the count or time into `early`, or leave the others out.",
            )
        if written.get("final") and (written.get("early") is not None or "late" in written):
            return Fault(
                "wrong-type",
                "`final`, which gives one pane, or else `early` and `late`",
                hint="Leave out `final`, or leave out `early` and `late`.",
            )
        return None

    @property
    def plain(self) -> Cadence | None:
        """The pace that replaces everything else."""
        if self.count is None and self.every_ms is None:
            return None
        return Cadence(self.count, self.every_ms)

    @property
    def late_count(self) -> int:
        """For how many records a late pane waits."""
        return self.late.count

    def to_dict(self) -> dict[str, Any]:
        """This trigger as its author writes it; what is not said is left out."""
        if self.plain is not None:
            return dict(self.plain.to_dict())
        written: dict[str, Any] = {}
        if self.early is not None:
            written["early"] = self.early.to_dict()
        if self.late_count != 1:
            written["late"] = {"count": self.late_count}
        if self.final:
            written["final"] = True
        return written
