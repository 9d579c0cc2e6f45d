"""A window as its author writes it, checked: values in, values out. Read by the project loader and the operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, get_args

from weft.errors import WeftError

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
    "trigger",
    "accumulate",
    "timestamp",
)
TRIGGER_KEYS = ("early", "late", "final", "count", "every_ms")

# A window that a record falls into is written as one update of its slices: more would be a mistake of units.
MOST_SLICES = 100_000


class WindowError(WeftError):
    """A window cannot be declared as written."""

    code = "window.invalid"
    domain = "user"


@dataclass(frozen=True)
class Pace:
    """How often panes come: after a number of new records, or each time the watermark passes a multiple of a time."""

    count: int | None = None
    every_ms: int | None = None

    def to_dict(self) -> dict[str, int]:
        """This pace as its author writes it."""
        pairs = (("count", self.count), ("every_ms", self.every_ms))
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True)
class Trigger:
    """When the panes of a window come.

    Without anything said, a pane comes when the watermark reaches the window's end, and another with
    each knot that brings records for it within the allowed lateness. `early` adds panes before the
    end; `late` makes late panes wait for a number of records; `final` leaves one pane, once the
    lateness has passed; `plain` replaces all of that by a pace alone.
    """

    early: Pace | None = None
    late_count: int = 1
    final: bool = False
    plain: Pace | None = None

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


@dataclass(frozen=True)
class WindowSpec:
    """A declared window: half-open bounds in milliseconds of event time, and when its panes come."""

    type: Kind
    size_ms: int = 0
    slide_ms: int = 0
    gap_ms: int = 0
    offset_ms: int = 0
    allowed_lateness_ms: int = 0
    trigger: Trigger = field(default_factory=Trigger)
    accumulate: bool = True
    timestamp: Timestamp = "end"

    @staticmethod
    def from_dict(written: Mapping[str, Any]) -> WindowSpec:
        """The window that a project file declares, or the first thing wrong with it."""
        _refuse_unknown(written, KEYS, where="a window")
        kind = written.get("type", "tumbling")
        if kind not in KINDS:
            raise WindowError(
                f"There is no window of type {kind!r}.",
                code="window.type",
                hint=f"Choose one of {', '.join(KINDS)}.",
                type=kind,
            )
        _check_lengths(written, kind)
        size = _whole(written, "size_ms", least=1) if kind in ("tumbling", "sliding") else 0
        slide = _whole(written, "slide_ms", least=1) if kind == "sliding" else size
        spec = WindowSpec(
            type=kind,
            size_ms=size,
            slide_ms=slide,
            gap_ms=_whole(written, "gap_ms", least=1) if kind == "session" else 0,
            offset_ms=_whole(written, "offset_ms", least=None, default=0),
            allowed_lateness_ms=_whole(written, "allowed_lateness_ms", least=0, default=0),
            trigger=_trigger(written.get("trigger")),
            accumulate=_flag(written, "accumulate", default=True),
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


def _trigger(written: Any) -> Trigger:
    if written is None:
        return Trigger()
    if not isinstance(written, Mapping):
        raise _trigger_error(
            "A trigger is written as a mapping.", hint="For example {early: {count: 10}}."
        )
    _refuse_unknown(written, TRIGGER_KEYS, where="a trigger")
    plain = {name: written[name] for name in ("count", "every_ms") if name in written}
    if plain:
        if len(written) > len(plain):
            raise _trigger_error(
                "A trigger has either a plain count or time, or early, late and final.",
                hint="Move the count or time into `early`, or leave the others out.",
            )
        return Trigger(plain=_pace(plain, where="a trigger"))
    early = written.get("early")
    late = written.get("late", {})
    if not isinstance(late, Mapping):
        raise _trigger_error(
            "`late` is written as a mapping.", hint="For example late: {count: 3}."
        )
    _refuse_unknown(late, ("count",), where="`late`")
    trigger = Trigger(
        early=None if early is None else _pace(early, where="`early`"),
        late_count=_whole(late, "count", least=1, default=1),
        final=_flag(written, "final", default=False),
    )
    if trigger.final and (early is not None or "late" in written):
        raise _trigger_error(
            "`final` gives one pane once the lateness has passed, so it goes with neither early nor late panes.",
            hint="Leave out `final`, or leave out `early` and `late`.",
        )
    return trigger


def _pace(written: Any, *, where: str) -> Pace:
    if not isinstance(written, Mapping) or len(written) != 1:
        raise _trigger_error(
            f"The pace of {where} is either a count or a time.",
            hint="Write {count: 10} or {every_ms: 1000}.",
        )
    _refuse_unknown(written, ("count", "every_ms"), where=where)
    if "count" in written:
        return Pace(count=_whole(written, "count", least=1))
    return Pace(every_ms=_whole(written, "every_ms", least=1))


def _trigger_error(message: str, *, hint: str) -> WindowError:
    return WindowError(message, code="window.trigger", hint=hint)


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
            f"Windows of {spec.size_ms} ms that slide by {spec.slide_ms} ms leave gaps: some records would be in none.",
            code="window.length",
            hint="Make slide_ms at most size_ms.",
            key="slide_ms",
        )
    if spec.slide_ms and spec.size_ms // spec.slide_ms > MOST_SLICES:
        raise WindowError(
            f"Each record would be in {spec.size_ms // spec.slide_ms} windows; at most {MOST_SLICES} are kept.",
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
    if spec.type == "global":
        if spec.trigger.plain is None:
            raise _trigger_error(
                "A global window never ends, so its panes come only by count or time.",
                hint="Add trigger: {count: 100} or trigger: {every_ms: 60000}.",
            )
        for name in ("allowed_lateness_ms",):
            if written.get(name):
                raise WindowError(
                    f"A global window never ends, so `{name}` means nothing.",
                    code="window.lateness",
                    hint=f"Leave out {name}.",
                    key=name,
                )
        if spec.timestamp == "end":
            raise WindowError(
                "A global window has no end that its panes could be stamped with.",
                code="window.timestamp",
                hint="Choose latest (the default) or earliest.",
            )


def _refuse_unknown(written: Mapping[str, Any], known: tuple[str, ...], *, where: str) -> None:
    for name in written:
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"It takes {', '.join(known)}."
            raise WindowError(
                f"There is no {name!r} in {where}.", code="window.key", hint=hint, key=name
            )


def _whole(
    written: Mapping[str, Any], name: str, *, least: int | None, default: int | None = None
) -> int:
    value = written.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise WindowError(
            f"`{name}` is {value!r}, not a whole number.",
            code="window.number",
            hint=f"Write {name} as a whole number{' of milliseconds' if name.endswith('_ms') else ''}.",
            key=name,
        )
    if least is not None and value < least:
        raise WindowError(
            f"`{name}` is {value}, and must be at least {least}.",
            code="window.number",
            hint=f"Raise {name} to {least} or more.",
            key=name,
        )
    return value


def _flag(written: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = written.get(name, default)
    if not isinstance(value, bool):
        raise WindowError(
            f"`{name}` is {value!r}, not true or false.",
            code="window.flag",
            hint=f"Write {name}: true or {name}: false.",
            key=name,
        )
    return value
