"""A sink that feeds Prometheus: counters and gauges from columns of a stream."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge

from weft.declared.key import Key
from weft.declared.limit import names
from weft.sinks.document import to_text
from weft.sinks.options import Options
from weft.sinks.rows import Rows
from weft.sinks.sink import Promise, Sink, Target


@dataclass(frozen=True)
class MetricsOptions(Options):
    """Feeds the worker's Prometheus metrics from columns. At least once."""

    takes_back: ClassVar[bool] = False

    counters: Annotated[
        tuple[str, ...], Key(names(), "Columns that are added up.", ["orders"])
    ] = ()
    gauges: Annotated[
        tuple[str, ...], Key(names(), "Columns whose last value is shown.", ["revenue"])
    ] = ()
    by: Annotated[tuple[str, ...], Key(names(), "Columns that become labels.", ["country"])] = ()

    @property
    def place(self) -> str:
        """Where the rows go."""
        return "the metrics"

    def columns(self) -> tuple[str, ...]:
        """Everything that is measured, and the labels."""
        return (*self.counters, *self.gauges, *self.by)

    def open(self, target: Target) -> Sink:
        """The sink."""
        return MetricsSink(self, target)


class MetricsSink:
    """At least once: metrics live in the process, and a new one counts again from what it is given.

    A counter adds up its column, a gauge shows the last value, both per value of the `by` columns.
    Counters never fall: negative values add nothing, and rows that were rolled back stay counted,
    and are counted apart.
    """

    promise: Promise = "at least once"

    def __init__(
        self, options: MetricsOptions, target: Target, *, registry: CollectorRegistry = REGISTRY
    ) -> None:
        self._registry = registry
        self._by = options.by
        self._last: int | None = None
        stream = target.stream
        self._rows = self._counter(f"{stream}_rows", f"Rows of stream {stream}", ())
        self._retracted = self._counter(
            f"{stream}_retracted_rows", f"Rows of stream {stream} that were rolled back", ()
        )
        self._counters = {
            column: self._counter(f"{stream}_{column}", f"Sum of {column} in {stream}", self._by)
            for column in options.counters
        }
        self._gauges = {
            column: Gauge(
                _metric_name(f"{stream}_{column}_last"),
                f"Last {column} in {stream}",
                [_label_name(label) for label in self._by],
                registry=registry,
            )
            for column in options.gauges
        }

    def deliver(self, knot: int, rows: Rows) -> None:
        """Take the rows of a knot into the metrics, once in this process."""
        if self._last is not None and knot <= self._last:
            return
        for record in rows.records():
            labels = {_label_name(label): to_text(record[label]) for label in self._by}
            for column, counter in self._counters.items():
                _labelled(counter, labels).inc(max(0.0, float(record[column] or 0)))
            for column, gauge in self._gauges.items():
                if record[column] is not None:
                    _labelled(gauge, labels).set(float(record[column]))
        self._rows.inc(rows.count)
        self._last = knot

    def delivered(self) -> int | None:
        """The last knot that this process counted."""
        return self._last

    def retract(self, knots: range, rows: Rows) -> None:
        """Count the rows that were rolled back."""
        self._retracted.inc(rows.count)

    def restore(self, knot: int, rows: Rows) -> None:
        """Rows that come back were counted when they first came; counters never fell."""

    def close(self) -> None:
        """Take the metrics out of the registry, so that the sink can be opened again."""
        own: Iterable[Counter | Gauge] = (
            self._rows,
            self._retracted,
            *self._counters.values(),
            *self._gauges.values(),
        )
        for metric in own:
            self._registry.unregister(metric)

    def _counter(self, name: str, text: str, by: tuple[str, ...]) -> Counter:
        labels = [_label_name(label) for label in by]
        return Counter(_metric_name(name), text, labels, registry=self._registry)


def _labelled(metric: Any, labels: dict[str, str]) -> Any:
    return metric.labels(**labels) if labels else metric


def _metric_name(words: str) -> str:
    return "weft_" + re.sub(r"\W", "_", words)


def _label_name(column: str) -> str:
    name = re.sub(r"\W", "_", column)
    return f"_{name}" if name[:1].isdigit() else name
