"""The clock of a stream whose watermark follows the event times of its own rows, per partition."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from weft.project.settings import WatermarkSpec
from weft.runtime.spine import Written
from weft.windows.watermark import Seen, Watermarks, advance, latest_ms

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned


class EventClock:
    """Turns what the writer saw of a batch's times into watermarks, and knows when time alone moves them."""

    def __init__(self, spec: WatermarkSpec) -> None:
        self._spec = spec
        self._last: Watermarks | None = None

    def latest_ms(self, pinned: Pinned) -> int:
        """The latest event time that moves the watermark of a batch."""
        return latest_ms(pinned.now, timedelta(seconds=self._spec.max_ahead_seconds))

    def advance(self, pinned: Pinned, written: Written, stated: int | None = None) -> Watermarks:
        """The watermarks after a batch; a stated one replaces what the rows say."""
        observed = {
            name: Seen(_ms(span.max_event_time_us), span.ahead)
            for name, span in written.partitions.items()
        }
        self._last = self._after(pinned.watermarks, observed, pinned.now, stated)
        return self._last

    def is_due(self, now: datetime) -> bool:
        """Whether a partition has become idle since, so that the watermark would move."""
        last = self._last
        return last is not None and self._after(last, {}, now).minimum() != last.minimum()

    def _after(
        self,
        before: Watermarks,
        observed: Mapping[str, Seen],
        now: datetime,
        stated: int | None = None,
    ) -> Watermarks:
        return advance(
            before,
            observed,
            now=now,
            delay=timedelta(seconds=self._spec.delay_seconds),
            idle=timedelta(seconds=self._spec.idle_seconds),
            stated=stated,
        )


def _ms(microseconds: int | None) -> int | None:
    return None if microseconds is None else microseconds // 1000
