"""Prometheus metrics, told from the knots as they are tied."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from weft.clock import Clock, to_ms
from weft.lineage.knot import Knot
from weft.weaver.workers import StateSize

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


@dataclass(frozen=True)
class PipelineMetrics:
    """What is told of every knot of a pipeline, looked up once."""

    processed: Counter
    duration: Histogram
    late: Counter
    ahead: Counter
    dead: Counter
    filtered: Counter
    knot: Gauge


class Metrics:
    """What a scraper sees; one registry per weaver."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._server: WSGIServer | None = None
        self._watermarks: dict[tuple[str, str], int] = {}
        self._told: dict[str, PipelineMetrics] = {}
        self.registry = CollectorRegistry()
        self._processed = self._counter("stream_events_processed", "Records that came in")
        self._duration = Histogram(
            "stream_processing_duration_seconds",
            "Time from pin to written, per batch",
            ["pipeline"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._windows = self._gauge("stream_active_windows", "Windows that are open", "pipeline")
        self._lag = self._gauge(
            "stream_watermark_lag_seconds",
            "How far the watermark is behind the clock",
            "pipeline",
            "partition",
        )
        self._late = self._counter("stream_late_records", "Records that came too late")
        self._ahead = self._counter("stream_ahead_records", "Records from the future")
        self._dead = self._counter("stream_dead_records", "Records that could not be processed")
        self._filtered = self._counter("stream_filtered_records", "Records that were filtered out")
        self._unusual = self._counter(
            "stream_anomalies", "Measures of knots that were unusual", "measure"
        )
        self._written = self._counter("stream_records_written", "Rows written", "stream")
        self._state_bytes = self._gauge("stream_state_bytes", "Size of operator state", "pipeline")
        self._state_rows = self._gauge(
            "stream_state_rows", "Entries of operator state, where they are counted", "pipeline"
        )
        self._knot = self._gauge("stream_knot", "Number of the newest knot", "pipeline")

    def serve(self, port: int, address: str) -> None:
        """Answer scrapers on a port of its own."""
        self._server, _ = start_http_server(port, address, registry=self.registry)

    def stop(self) -> None:
        """Answer scrapers no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def tied(self, knot: Knot) -> None:
        """Count one knot."""
        name, ledger = knot.pipeline, knot.ledger
        if name not in self._told:
            self._told[name] = PipelineMetrics(
                processed=self._processed.labels(name),
                duration=self._duration.labels(name),
                late=self._late.labels(name),
                ahead=self._ahead.labels(name),
                dead=self._dead.labels(name),
                filtered=self._filtered.labels(name),
                knot=self._knot.labels(name),
            )
        told = self._told[name]
        told.processed.inc(ledger.rows_in)
        told.duration.observe(knot.duration_ms / 1000)
        told.late.inc(ledger.late)
        told.ahead.inc(knot.watermarks.ahead)
        told.dead.inc(ledger.dead)
        told.filtered.inc(sum(ledger.filtered.values()))
        told.knot.set(knot.number)
        for stream, output in knot.outputs.items():
            self._written.labels(name, stream).inc(output.rows)
        if knot.watermarks.windows is not None:
            self._windows.labels(name).set(knot.watermarks.windows)
        for partition, watermark in _watermarks(knot).items():
            place = (name, partition)
            if place not in self._watermarks:
                self._lag.labels(*place).set_function(partial(self._lag_of, place))
            self._watermarks[place] = watermark

    def unusual(self, pipeline: str, measure: str) -> None:
        """Count a measure of a knot that was unusual."""
        self._unusual.labels(pipeline, measure).inc()

    def state(self, pipeline: str, size: StateSize) -> None:
        """Take in what a worker says of the state of a pipeline."""
        self._state_bytes.labels(pipeline).set(size.bytes)
        if size.rows is not None:
            self._state_rows.labels(pipeline).set(size.rows)

    def _lag_of(self, place: tuple[str, str]) -> float:
        return max(0.0, (to_ms(self._clock.now()) - self._watermarks[place]) / 1000)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, ["pipeline", *labels], registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, registry=self.registry)


def _watermarks(knot: Knot) -> dict[str, int]:
    """The watermark of each source partition, and that of the stream under `all`."""
    found = {} if knot.watermark is None else {"all": knot.watermark}
    for name, partition in knot.watermarks.partitions.items():
        if partition.watermark_ms is not None:
            found[name] = partition.watermark_ms
    return found
