"""When each knot of a replay may begin: as far apart as they were, or a multiple faster. For load tests.

A replay without a speed does not come here; one with a speed asks before it weaves each batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from weft.clock import parse_iso
from weft.lineage.knot import Knot

LOOK_S = 0.5
"""How often it is looked whether anybody still waits."""


class Tempo:
    """Holds back knots whose time has not come, and remembers how far behind the others were."""

    def __init__(self, speed: float, still_wanted: Callable[[], None]) -> None:
        self.behind_s = 0.0
        """The furthest that a knot began after its time."""
        self._speed = speed
        self._still_wanted = still_wanted
        self._first: tuple[float, float] | None = None

    def wait(self, knot: Knot) -> None:
        """Return when it is time for a knot: at once for the first, and for all that are behind."""
        recorded = parse_iso(knot.now).timestamp()
        if self._first is None:
            self._first = (recorded, time.monotonic())
        began, at = self._first
        due = at + max(0.0, recorded - began) / self._speed
        while (left := due - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_S))
            self._still_wanted()
        self.behind_s = max(self.behind_s, time.monotonic() - due)
