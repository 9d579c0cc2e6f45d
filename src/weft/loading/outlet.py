"""What the sinks of a project need of its streams: the columns that they name, of types that they can
take, and nothing that two of them would fight for. Called by `check`."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from weft.loading.document import Path
from weft.loading.merge import check_names
from weft.loading.problem import Problems
from weft.project.definition import SinkSpec
from weft.schema.schema import Schema
from weft.sinks.metrics import MetricsOptions, MetricsSink
from weft.sinks.options import read_options
from weft.sinks.sink import Target

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean")


class Outlets:
    """The sinks that were seen so far; those of one project share a worker, and so its metrics."""

    def __init__(self, report: Problems) -> None:
        self._report = report
        self._metrics = CollectorRegistry()
        self._merged: set[str] = set()

    def check(
        self,
        sinks: tuple[SinkSpec, ...],
        *,
        stream: str,
        schema: Schema,
        path: Path,
        current: bool = False,
    ) -> None:
        """Note what is wrong with the sinks of a stream that has these columns.

        `current` if of each key the row that comes last is the one that counts.
        """
        topics: set[str] = set()
        for number, sink in enumerate(sinks):
            where = (*path, "sinks", number)
            options = read_options(sink.kind, sink.options)
            named = options.columns()
            if len(check_names(named, schema, where, self._report)) != len(named):
                continue
            if isinstance(options, MetricsOptions):
                self._check_metrics(options, stream, schema, where)
            if sink.kind == "kafka":
                if options.place in topics:
                    self._wrong(where, f"Stream {stream!r} goes to {options.place} twice.")
                topics.add(options.place)
            if sink.kind == "delta":
                self._check_merged(options.place, stream, where, current=current)

    def _check_merged(self, place: str, stream: str, path: Path, *, current: bool) -> None:
        if not current:
            message = f"Stream {stream!r} is no product and no query, so its rows cannot be merged."
            hint = (
                "Declare a product of it, with `root` alone if need be, and let that have the sink."
            )
            self._report.add("project.sinks", path, message, hint)
        elif place in self._merged:
            self._wrong(path, f"Stream {stream!r} goes to {place}, and so does another sink.")
        self._merged.add(place)

    def _check_metrics(
        self, options: MetricsOptions, stream: str, schema: Schema, path: Path
    ) -> None:
        for name in (*options.counters, *options.gauges):
            kind = schema.get(name).type
            if kind.name not in (*_NUMBERS, "unknown"):
                self._wrong(path, f"Column {name!r} is {kind}, and a metric is a number.")
                return
        target = Target("check", stream, stream, tuple(schema.names))
        try:
            MetricsSink(options, target, registry=self._metrics)
        except ValueError as error:
            self._wrong(path, f"The metrics of stream {stream!r} cannot be: {error}.")

    def _wrong(self, path: Path, message: str) -> None:
        hint = "Give them names of their own, or leave one out."
        self._report.add("project.sinks", path, message, hint)
