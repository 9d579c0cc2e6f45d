"""A window as its author writes it, checked: values in, values out.

Read by the project loader and the operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from weft.windows.trigger import Trigger, parse_trigger, trigger_error
from weft.windows.written import WindowError, flag, refuse_unknown, whole

__all__ = ["Trigger", "WindowError", "WindowSpec"]

Kind = Literal["tumbling", "sliding", "session", "global"]
Timestamp = Literal["end", "earliest", "latest"]

KINDS: tuple[str, ...] = get_args(Kind)
TIMESTAMPS: tuple[str, ...] = get_args(Timestamp)

# Each kind of window with the lengths that it needs; every other length is refused.
LENGTHS: Mapping[str, tuple[str, ...]] = {
    "tumbling": ("size_ms",),
    "sliding": ("size_ms", "slide_ms"),
    "session": ("gap_ms",),
    "global": (),
}
KEYS = (
    "type",
    "size_ms",
    "slide_ms",
    "gap_ms",
    "offset_ms",
    "allowed_lateness_ms",
    "ttl_ms",
    "trigger",
    "accumulate",
    "timestamp",
)

# More windows than this over one record are a mistake of units.
MOST_WINDOWS = 10_000


@dataclass(frozen=True)
class WindowSpec:
    """A declared window: half-open bounds in milliseconds of event time, and when panes come."""

    type: Kind
    size_ms: int = 0
    slide_ms: int = 0
    gap_ms: int = 0
    offset_ms: int = 0
    allowed_lateness_ms: int = 0
    ttl_ms: int = 0
    trigger: Trigger = field(default_factory=Trigger)
    accumulate: bool = True
    timestamp: Timestamp = "end"

    @staticmethod
    def from_dict(written: Mapping[str, Any]) -> WindowSpec:
        """The window that a project file declares, or the first thing wrong with it."""
        refuse_unknown(written, KEYS, where="a window")
        kind = written.get("type", "tumbling")
        if kind not in KINDS:
            raise WindowError(
                f"There is no window of type {kind!r}.",
                code="window.type",
                hint=f"Choose one of {', '.join(KINDS)}.",
                type=kind,
            )
        _check_lengths(written, kind)
        size = whole(written, "size_ms", least=1) if kind in ("tumbling", "sliding") else 0
        slide = whole(written, "slide_ms", least=1) if kind == "sliding" else size
        spec = WindowSpec(
            type=kind,
            size_ms=size,
            slide_ms=slide,
            gap_ms=whole(written, "gap_ms", least=1) if kind == "session" else 0,
            offset_ms=whole(written, "offset_ms", least=None, default=0),
            allowed_lateness_ms=whole(written, "allowed_lateness_ms", least=0, default=0),
            ttl_ms=whole(written, "ttl_ms", least=1) if "ttl_ms" in written else 0,
            trigger=parse_trigger(written.get("trigger")),
            accumulate=flag(written, "accumulate", default=True),
            timestamp=written.get("timestamp", "latest" if kind == "global" else "end"),
        )
        _check_together(spec, written)
        return spec

    def to_dict(self) -> dict[str, Any]:
        """This window as its author writes it; `from_dict` reads it back."""
        written: dict[str, Any] = {"type": self.type}
        written.update({name: getattr(self, name) for name in LENGTHS[self.type]})
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


def _check_lengths(written: Mapping[str, Any], kind: str) -> None:
    for name in ("size_ms", "slide_ms", "gap_ms"):
        if name in LENGTHS[kind] and name not in written:
            raise WindowError(
                f"A {kind} window needs `{name}`.",
                code="window.length",
                hint=f"Add {name}, in milliseconds.",
                key=name,
            )
        if name in written and name not in LENGTHS[kind]:
            takes = " and ".join(LENGTHS[kind]) or "no length"
            raise WindowError(
                f"A {kind} window has no `{name}`: it takes {takes}.",
                code="window.length",
                hint=f"Leave out {name}, or choose another type.",
                key=name,
            )


def _check_together(spec: WindowSpec, written: Mapping[str, Any]) -> None:
    if spec.timestamp not in TIMESTAMPS:
        raise WindowError(
            f"A pane cannot be stamped with {spec.timestamp!r}.",
            code="window.timestamp",
            hint=f"Choose one of {', '.join(TIMESTAMPS)}.",
        )
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
            raise trigger_error(
                "A global window never ends, so its panes come only by count or time.",
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
