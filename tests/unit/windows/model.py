"""The semantics of windows, said in plain Python and as slowly as is needed to be obvious.

In go the knots of a stream: rows and the watermark that holds after them. Out come panes and late
rows, knot by knot. Whatever the operator does is compared with this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.windows.window import WindowSpec

NEVER = float("inf")


class Row(NamedTuple):
    """A record: its event time, its value, its key; its watermark stamp is the stream's before its
    knot.
    """

    at: int
    value: Any = None
    key: Any = None


class Knot(NamedTuple):
    """What one knot brings: rows, then the watermark; None leaves the watermark as it was."""

    rows: Sequence[Row]
    watermark: int | None = None


@dataclass
class Window:
    """The state of one window of one key."""

    start: float
    end: float
    values: list[Any] = field(default_factory=list)
    pending: int = 0
    closed: bool = False
    revision: int = 0
    settled: int = 0
    hold: int | None = None
    first: float = NEVER
    last: float = -NEVER


@dataclass(frozen=True)
class Pane:
    """One result of a window."""

    key: Any
    start: float
    end: float
    values: tuple[Any, ...]
    timestamp: float
    kind: str
    revision: int
    settled: int | None
    final: bool


@dataclass(frozen=True)
class Late:
    """A row that no window of its own took."""

    row: Row
    start: int
    end: int
    lateness: int


@dataclass
class Model:
    """A windowed pipeline: call `tie` with one knot after another."""

    spec: WindowSpec
    watermark: int | None = None
    windows: dict[Any, list[Window]] = field(default_factory=dict)

    def run(self, knots: Iterable[Knot]) -> tuple[list[list[Pane]], list[list[Late]]]:
        """The panes and the late rows of each knot."""
        done = [self.tie(knot) for knot in knots]
        return [panes for panes, _ in done], [late for _, late in done]

    def tie(self, knot: Knot) -> tuple[list[Pane], list[Late]]:
        """The panes and late rows of one knot: first its rows, then its watermark."""
        panes: list[Pane] = []
        late: list[Late] = []
        by_key: dict[Any, list[Row]] = {}
        for row in knot.rows:
            by_key.setdefault(row.key, []).append(row)
        for key, rows in by_key.items():
            place = self._merge if self.spec.type == "session" else self._assign
            for window in place(key, rows, late):
                panes += self._after_rows(key, window)
        if knot.watermark is not None and not self._passed(knot.watermark):
            panes += self._move(knot.watermark)
        return panes, late

    def _passed(self, time: float) -> bool:
        return self.watermark is not None and time <= self.watermark

    def _expired(self, end: float) -> bool:
        return self._passed(end + self.spec.allowed_lateness_ms)

    def _gone(self, window: Window) -> bool:
        """Whether a window is dropped: some time after its last record when it is a global one."""
        if self.spec.type != "global":
            return self._expired(window.end)
        return bool(self.spec.ttl_ms) and self._passed(window.last + self.spec.ttl_ms)

    def _assign(self, key: Any, rows: list[Row], late: list[Late]) -> list[Window]:
        touched: list[Window] = []
        for row in rows:
            bounds: list[tuple[float, float]] = [*self.spec.assign(row.at)]
            if self.spec.type == "global":
                bounds = [(-NEVER, NEVER)]
            live = [bound for bound in bounds if not self._expired(bound[1])]
            if not live:
                late.append(self._late(row, *bounds[-1]))
            for start, end in live:
                window = self._window(key, start, end)
                self._add(window, row)
                if window not in touched:
                    touched.append(window)
        return touched

    def _merge(self, key: Any, rows: list[Row], late: list[Late]) -> list[Window]:
        """Sessions that overlap or touch become one; a group of only expired rows is late."""
        held = self.windows.setdefault(key, [])
        gap = self.spec.gap_ms
        spans: list[tuple[float, float, Window | Row]] = [(w.start, w.end, w) for w in held]
        spans += [(row.at, row.at + gap, row) for row in rows]
        spans.sort(key=lambda span: span[:2])
        groups: list[list[tuple[float, float, Window | Row]]] = []
        reach = -NEVER
        for span in spans:
            if groups and span[0] <= reach:
                groups[-1].append(span)
            else:
                groups.append([span])
            reach = max(reach, span[1])
        touched: list[Window] = []
        for group in groups:
            start, end = group[0][0], max(span[1] for span in group)
            parts = [what for _, _, what in group if isinstance(what, Window)]
            new = [row for row in rows if any(what is row for _, _, what in group)]
            if not new:
                continue
            if self._expired(end):
                late.extend(self._late(row, row.at, row.at + gap) for row in new)
                continue
            merged = next((w for w in parts if (w.start, w.end) == (start, end)), None)
            merged = merged or Window(start, end)
            others = [w for w in parts if w is not merged]
            held[:] = [w for w in held if w not in parts] + [merged]
            merged.values = [v for w in parts for v in w.values]
            merged.pending += sum(w.pending for w in others)
            merged.hold = self._pick([merged.hold, *(w.hold for w in others)])
            merged.first = min([merged.first, *(w.first for w in others)])
            # A session that grew past the watermark closes again when the watermark reaches its
            # new end.
            merged.closed = any(w.closed for w in parts) and self._passed(end)
            for row in new:
                self._add(merged, row)
            touched.append(merged)
        return touched

    def _late(self, row: Row, start: float, end: float) -> Late:
        assert self.watermark is not None
        return Late(row, int(start), int(end), self.watermark - row.at)

    def _window(self, key: Any, start: float, end: float) -> Window:
        held = self.windows.setdefault(key, [])
        for window in held:
            if (window.start, window.end) == (start, end):
                return window
        held.append(Window(start, end))
        return held[-1]

    def _add(self, window: Window, row: Row) -> None:
        window.values.append(row.value)
        window.pending += 1
        window.first = min(window.first, row.at)
        window.last = max(window.last, row.at)
        if self.watermark is None or row.at >= self.watermark:
            window.hold = self._pick([window.hold, row.at])

    def _pick(self, times: Iterable[int | None]) -> int | None:
        known = [time for time in times if time is not None]
        choose = max if self.spec.timestamp == "latest" else min
        return choose(known) if known else None

    def _after_rows(self, key: Any, window: Window) -> list[Pane]:
        """Panes that the number of new records brings."""
        trigger = self.spec.trigger
        if trigger.final:
            return []
        ended = self._passed(window.end)
        if trigger.plain is not None:
            due = trigger.plain.count is not None and window.pending >= trigger.plain.count
        elif not ended:
            early = trigger.early
            due = early is not None and early.count is not None and window.pending >= early.count
        else:
            # A window whose first records are late closes with them.
            due = not window.closed or window.pending >= trigger.late_count
            window.closed = True
        return [self._fire(key, window, by_watermark=False)] if due else []

    def _move(self, to: int) -> list[Pane]:
        """Panes that the watermark brings; windows whose lateness has passed are gone after it."""
        before, self.watermark = self.watermark, to
        trigger = self.spec.trigger
        panes: list[Pane] = []
        for key, held in self.windows.items():
            for window in list(held):
                ended, expired = self._passed(window.end), self._gone(window)
                at_end = ended and not window.closed and trigger.plain is None and not trigger.final
                by_time = (
                    window.pending > 0
                    and (trigger.plain is not None or not ended)
                    and self._crossed(window, before, to)
                )
                at_last = expired and (trigger.final or window.pending > 0)
                if at_end or by_time or at_last:
                    window.closed = ended
                    panes.append(self._fire(key, window, by_watermark=True))
                if expired:
                    held.remove(window)
        self.windows = {key: held for key, held in self.windows.items() if held}
        return panes

    def _crossed(self, window: Window, before: int | None, to: int) -> bool:
        """Whether the watermark has passed a multiple of the pace after the window's first record."""
        pace = self.spec.trigger.plain or self.spec.trigger.early
        if pace is None or pace.every_ms is None:
            return False
        multiple = to // pace.every_ms * pace.every_ms
        return multiple > window.first and (before is None or multiple > before)

    def _fire(self, key: Any, window: Window, *, by_watermark: bool) -> Pane:
        ended = self._passed(window.end)
        if not ended:
            kind = "early"
        else:
            kind = "on_time" if by_watermark and window.settled == 0 else "late"
        # A global window has no end: its panes without a time of their own are stamped with the
        # watermark.
        timestamp: float = window.end - 1
        if self.spec.timestamp != "end" and window.hold is not None:
            timestamp = window.hold
        elif self.spec.type == "global" and self.watermark is not None:
            timestamp = self.watermark
        pane = Pane(
            key=key,
            start=window.start,
            end=window.end,
            values=tuple(window.values),
            timestamp=timestamp,
            kind=kind,
            revision=window.revision,
            settled=window.settled if ended else None,
            final=self._gone(window),
        )
        window.revision += 1
        window.settled += ended
        window.pending = 0
        window.hold = None
        if not self.spec.accumulate:
            window.values = []
        return pane
