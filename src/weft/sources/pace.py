"""When records of the mock source happen: a steady rate with bursts, as one function of time and
its inverse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from weft.declared.key import Key
from weft.declared.limit import Fault, number

SPEED = number(1e-6, 1e9)
NOMINAL = 1000.0
"""Records per second of event time where the source is to run as fast as it can."""


@dataclass(frozen=True)
class Burst:
    """Every `every_s` seconds the rate is `times` as high for the last `for_s` of them."""

    every_s: Annotated[float, Key(SPEED, "Seconds from the end of one to the end of the next.", 60)]
    times: Annotated[float, Key(SPEED, "How many times the rate.", 10)]
    for_s: Annotated[float, Key(SPEED, "For how many seconds; shorter than `every_s`.", 5)]

    @staticmethod
    def together(written: Mapping[str, Any]) -> Fault | None:
        """A burst ends before the next begins."""
        is_shorter = written["for_s"] < written["every_s"]
        return None if is_shorter else Fault("out-of-range", "shorter than every_s", ("for_s",))


@dataclass(frozen=True)
class Pace:
    """Records per second, with bursts; `rate` 0 spaces event times as if by the nominal rate."""

    rate: float = 0.0
    burst: Burst | None = None

    @property
    def spacing(self) -> float:
        """Records per second of event time outside a burst."""
        return self.rate or NOMINAL

    @property
    def period(self) -> tuple[float, float, float]:
        """Seconds of a period, seconds of its calm part, and the rate of the rest."""
        if self.burst is None:
            return 1.0, 1.0, self.spacing
        calm = self.burst.every_s - self.burst.for_s
        return self.burst.every_s, calm, self.spacing * self.burst.times

    @property
    def records_per_period(self) -> float:
        """How many records one period has."""
        seconds, calm, high = self.period
        return calm * self.spacing + (seconds - calm) * high

    def records_until(self, seconds: float) -> float:
        """How many records happen in the first `seconds`."""
        period, calm, high = self.period
        whole, rest = divmod(seconds, period)
        in_rest = min(rest, calm) * self.spacing + max(rest - calm, 0.0) * high
        return whole * self.records_per_period + in_rest

    def seconds_at(self, record: float) -> float:
        """When the record of this number happens, in seconds after the first."""
        period, calm, high = self.period
        whole, rest = divmod(record, self.records_per_period)
        calm_records = calm * self.spacing
        in_rest = min(rest, calm_records) / self.spacing + max(rest - calm_records, 0.0) / high
        return whole * period + in_rest
