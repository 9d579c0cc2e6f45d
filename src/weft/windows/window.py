"""A window as its author writes it, checked: values in, values out.

Read by the project loader and the operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, get_args

from weft.declared.key import Key, keys
from weft.declared.limit import FLAG, LARGEST, choice, whole
from weft.declared.read import faults, made, nested
from weft.windows.trigger import Trigger
from weft.windows.written import WindowError, refused

__all__ = ["Trigger", "WindowError", "WindowSpec"]

Kind = Literal["tumbling", "sliding", "session", "global"]
Timestamp = Literal["end", "earliest", "latest"]

KINDS: Mapping[str, str] = {
    "tumbling": "One window after the other; each record is in one.",
    "sliding": "Windows that overlap; each record is in several.",
    "session": "Records of a key that follow each other closely.",
    "global": "All records of a key, in one window that never ends.",
}
TIMESTAMPS: tuple[str, ...] = get_args(Timestamp)
_EVERY = ("tumbling", "sliding")
_LENGTH = whole(1, LARGEST)

# More windows than this over one record are a mistake of units.
MOST_WINDOWS = 10_000


@dataclass(frozen=True)
class WindowSpec:
    """A declared window: half-open bounds in milliseconds of event time, and when panes come."""

    type: Annotated[Kind, Key(choice(*KINDS), "The type of window.", "sliding", unsaid="tumbling")]
    size_ms: Annotated[
        int,
        Key(_LENGTH, "How long a window is, in milliseconds.", 60_000, of=_EVERY),
    ] = 0
    slide_ms: Annotated[
        int,
        Key(_LENGTH, "From the start of one window to that of the next.", 10_000, of=("sliding",)),
    ] = 0
    gap_ms: Annotated[
        int,
        Key(_LENGTH, "A longer silence ends a session.", 300_000, of=("session",)),
    ] = 0
    offset_ms: Annotated[
        int,
        Key(
            whole(-LARGEST, LARGEST),
            "By how much windows are moved from 1970-01-01T00:00:00Z; shorter than their step.",
            5000,
            of=_EVERY,
        ),
    ] = 0
    allowed_lateness_ms: Annotated[
        int,
        Key(
            whole(0, LARGEST),
            "For how long after its end a window takes records; later ones go to `<stream>.late`.",
            5000,
            of=("tumbling", "sliding", "session"),
        ),
    ] = 0
    ttl_ms: Annotated[
        int,
        Key(
            _LENGTH,
            "For how long a key without records is kept.",
            86_400_000,
            unsaid="for ever",
            of=("global",),
        ),
    ] = 0
    trigger: Annotated[
        Trigger,
        Key(
            nested(Trigger, "a mapping such as {early: {count: 10}}", may_be_null=True),
            "When panes come; a global window needs a count or a time.",
            {"count": 100},
            unsaid="at the end, and again for late records",
        ),
    ] = field(default_factory=Trigger)
    accumulate: Annotated[
        bool,
        Key(FLAG, "Whether a pane holds all records so far, or those since the last pane.", False),
    ] = True
    timestamp: Annotated[
        Timestamp,
        Key(
            choice(*TIMESTAMPS),
            "Which time a pane has: the window's end, or that of its first or last record.",
            "latest",
            unsaid="end; latest of a global window",
        ),
    ] = "end"

    @staticmethod
    def from_dict(written: Mapping[str, Any]) -> WindowSpec:
        """The window that a project file declares, or the first thing wrong with it."""
        for fault in faults(WindowSpec, written):
            raise refused(fault, written)
        kind = written.get("type", "tumbling")
        _check_lengths(written, kind)
        said = {name: value for name, value in written.items() if value is not None}
        spec = made(WindowSpec, {**said, "type": kind})
        if kind == "tumbling":
            spec = replace(spec, slide_ms=spec.size_ms)
        if kind == "global" and "timestamp" not in written:
            spec = replace(spec, timestamp="latest")
        _check_together(spec, written)
        return spec

    def to_dict(self) -> dict[str, Any]:
        """This window as its author writes it; `from_dict` reads it back."""
        written: dict[str, Any] = {"type": self.type}
        written.update({name: getattr(self, name) for name in lengths_of(self.type)})
        if self.offset_ms:
            written["offset_ms"] = self.offset_ms
        if self.allowed_lateness_ms:
            written["allowed_lateness_ms"] = self.allowed_lateness_ms
        if self.ttl_ms:
            written["ttl_ms"] = self.ttl_ms
        if self.trigger != Trigger():
            written["trigger"] = self.trigger.to_dict()
        if not self.accumulate:
            written["accumulate"] = False
        if self.timestamp != ("latest" if self.type == "global" else "end"):
            written["timestamp"] = self.timestamp
        return written

    def assign(self, event_ms: int) -> Iterator[tuple[int, int]]:
        """The windows that a record of this event time belongs to, earliest first.

        A session's is the one that the record would make alone.
        """
        if self.type == "session":
            yield event_ms, event_ms + self.gap_ms
        elif self.type != "global":
            newest = (event_ms - self.offset_ms) // self.slide_ms * self.slide_ms + self.offset_ms
            count = (self.size_ms - (event_ms - newest) + self.slide_ms - 1) // self.slide_ms
            for step in range(count - 1, -1, -1):
                start = newest - step * self.slide_ms
                yield start, start + self.size_ms


def lengths_of(kind: str) -> list[str]:
    """The lengths that a type of window needs; every other length is refused."""
    return [name for name in ("size_ms", "slide_ms", "gap_ms") if kind in keys(WindowSpec)[name].of]


def _check_lengths(written: Mapping[str, Any], kind: str) -> None:
    needed = lengths_of(kind)
    for name in ("size_ms", "slide_ms", "gap_ms"):
        if name in needed and name not in written:
            raise WindowError(
                f"A {kind} window needs `{name}`.",
                code="window.length",
                hint=f"Add {name}, in milliseconds.",
                key=name,
            )
        if name in written and name not in needed:
            takes = " and ".join(needed) or "no length"
            raise WindowError(
                f"A {kind} window has no `{name}`: it takes {takes}.",
                code="window.length",
                hint=f"Leave out {name}, or choose another type.",
                key=name,
            )


def _check_together(spec: WindowSpec, written: Mapping[str, Any]) -> None:
    if spec.slide_ms > spec.size_ms:
        raise WindowError(
            f"Windows of {spec.size_ms} ms that slide by {spec.slide_ms} ms leave gaps: "
            "some records would be in none.",
            code="window.length",
            hint="Make slide_ms at most size_ms.",
            key="slide_ms",
        )
    overlap = spec.size_ms // max(1, spec.slide_ms)
    if overlap > MOST_WINDOWS:
        raise WindowError(
            f"Each record would be in {overlap} windows; {MOST_WINDOWS} is the most.",
            code="window.length",
            hint="Make slide_ms longer or size_ms shorter; both are in milliseconds.",
            key="slide_ms",
        )
    if spec.offset_ms and (
        spec.type in ("session", "global") or abs(spec.offset_ms) >= spec.slide_ms
    ):
        takes = (
            "has no offset"
            if spec.type in ("session", "global")
            else f"repeats every {spec.slide_ms} ms"
        )
        raise WindowError(
            f"A {spec.type} window {takes}, so an offset of {spec.offset_ms} ms means nothing.",
            code="window.offset",
            hint="Leave out offset_ms, or make it shorter than the step of the window.",
            key="offset_ms",
        )
    if spec.ttl_ms and spec.type != "global":
        raise WindowError(
            f"A {spec.type} window is dropped when its lateness has passed, so it has no `ttl_ms`.",
            code="window.ttl",
            hint="Leave out ttl_ms, or set allowed_lateness_ms.",
            key="ttl_ms",
        )
    if spec.type == "global":
        if spec.trigger.plain is None:
            raise WindowError(
                "A global window never ends, so its panes come only by count or time.",
                code="window.trigger",
                hint="Add trigger: {count: 100} or trigger: {every_ms: 60000}.",
            )
        if written.get("allowed_lateness_ms"):
            raise WindowError(
                "A global window never ends, so `allowed_lateness_ms` means nothing.",
                code="window.lateness",
                hint="Leave it out; ttl_ms says for how long keys without records are kept.",
                key="allowed_lateness_ms",
            )
        if spec.timestamp == "end":
            raise WindowError(
                "A global window has no end that its panes could be stamped with.",
                code="window.timestamp",
                hint="Choose latest (the default) or earliest.",
            )
