"""What a project declares, as frozen values with a canonical JSON form: made by `load`, read by
weaver and worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

from weft.canonical import digest
from weft.errors import WeftError
from weft.project.name import slug
from weft.weaving.function import FunctionVersion
from weft.weaving.schema import Schema, nearest
from weft.weaving.step import Function, Step, composed_version, from_dict, to_dict

T = TypeVar("T")

EVENT_TIME = "_weft.event_time"
"""The event time of a stream that has no column of its own for it; every row carries it."""


class MissingNameError(WeftError):
    """A stream or pipeline that the project does not have."""

    code = "project.unknown-name"
    domain = "missing"


@dataclass(frozen=True)
class Keyframes:
    """Which states are kept beyond Spark's own retention: every so many knots, within a budget."""

    every: int = 100
    budget_mb: int = 1024


@dataclass(frozen=True)
class Processing:
    """How batches are cut and where state lives."""

    parallelism: int = 2
    queue_size: int = 10_000
    checkpoint_interval: float = 1.0
    state: Literal["rocksdb", "memory"] = "rocksdb"
    keyframes: Keyframes = Keyframes()


@dataclass(frozen=True)
class WatermarkSpec:
    """How the watermark of a source partition follows its event times."""

    delay_seconds: float = 0.0
    idle_seconds: float = 30.0
    max_ahead_seconds: float = 3600.0
    ahead: Literal["hold", "dead"] = "hold"


@dataclass(frozen=True)
class SourceSpec:
    """Where the records of a stream come from: a kind of source and its options."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SinkSpec:
    """Where the records of a stream go besides its table: a kind of sink and its options."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StreamSpec:
    """A named stream: read from a source, or written by the pipeline named `writer`."""

    name: str
    schema: Schema
    source: SourceSpec | None = None
    key: tuple[str, ...] = ()
    event_time: str | None = None
    watermarks: WatermarkSpec = WatermarkSpec()
    writer: str | None = None
    sinks: tuple[SinkSpec, ...] = ()

    @property
    def ingested(self) -> bool:
        """Whether it has an ingest pipeline; a side stream (`source: {rule: {}}`) is written by rules."""
        return self.source is not None and self.source.kind != "rule"

    @property
    def pipeline(self) -> str:
        """The pipeline that writes this stream; a source stream's ingest pipeline has its name."""
        return self.writer or self.name


@dataclass(frozen=True)
class PipelineSpec:
    """Input streams, steps, an optional operator, and the stream that it all ends in.

    Order of work: `dedupe`, then `steps`, then `window` with `aggregate` or `reducer`. With a
    `join` the two inputs are joined first, and the steps see the joined records.
    """

    name: str
    inputs: tuple[str, ...]
    to: str
    steps: tuple[Step, ...] = ()
    window: Mapping[str, Any] | None = None
    by: tuple[str, ...] = ()
    aggregate: Mapping[str, str] = field(default_factory=dict)
    join: Mapping[str, Any] | None = None
    dedupe: Mapping[str, Any] | None = None
    reducer: str | None = None
    sinks: tuple[SinkSpec, ...] = ()

    @property
    def functions(self) -> tuple[str, ...]:
        """The references of the Python functions that it calls."""
        called = [step.ref for step in self.steps if isinstance(step, Function)]
        return tuple(called + ([self.reducer] if self.reducer else []))

    @property
    def stateful(self) -> bool:
        """Whether it keeps state between batches."""
        return bool(self.window or self.join or self.dedupe)

    def to_dict(self) -> dict[str, Any]:
        """Its canonical JSON form."""
        return {
            "name": self.name,
            "inputs": list(self.inputs),
            "to": self.to,
            "steps": [to_dict(step) for step in self.steps],
            "window": None if self.window is None else dict(self.window),
            "by": list(self.by),
            "aggregate": [list(pair) for pair in self.aggregate.items()],
            "join": None if self.join is None else dict(self.join),
            "dedupe": None if self.dedupe is None else dict(self.dedupe),
            "reducer": self.reducer,
            "sinks": [asdict(sink) for sink in self.sinks],
        }

    @staticmethod
    def from_dict(form: Mapping[str, Any]) -> PipelineSpec:
        """The pipeline that `to_dict` wrote."""
        return PipelineSpec(
            name=form["name"],
            inputs=tuple(form["inputs"]),
            to=form["to"],
            steps=tuple(from_dict(step) for step in form["steps"]),
            window=form["window"],
            by=tuple(form["by"]),
            aggregate=dict(form["aggregate"]),
            join=form["join"],
            dedupe=form["dedupe"],
            reducer=form["reducer"],
            sinks=tuple(SinkSpec(**sink) for sink in form["sinks"]),
        )


@dataclass(frozen=True)
class Project:
    """Everything that a project declares: streams with columns, functions with versions.

    Its `name` is a title for people; `slug` is the same as an identifier.
    """

    name: str
    streams: Mapping[str, StreamSpec]
    pipelines: Mapping[str, PipelineSpec]
    processing: Processing = Processing()
    debug: bool = False
    functions: Mapping[str, FunctionVersion] = field(default_factory=dict)
    folder: str | None = field(default=None, compare=False)

    @cached_property
    def hash(self) -> str:
        """SHA-256 over the canonical form."""
        return digest(self.to_dict())

    @property
    def slug(self) -> str:
        """Its name for what takes identifiers alone."""
        return slug(self.name)

    def stream(self, name: str) -> StreamSpec:
        """The stream of this name; refuses an unknown one."""
        return _get(self.streams, name, "stream")

    def pipeline(self, name: str) -> PipelineSpec:
        """The pipeline of this name; refuses an unknown one."""
        return _get(self.pipelines, name, "pipeline")

    def schema_of(self, stream: str) -> Schema:
        """The user's columns of a stream, after everything that its pipelines do."""
        return self.stream(stream).schema

    def version_of(self, pipeline: str) -> str:
        """The function version of a whole pipeline: steps, operator and the functions it calls."""
        spec = self.pipeline(pipeline)
        operator = {
            key: value
            for key, value in spec.to_dict().items()
            if key not in ("name", "inputs", "to", "steps", "sinks")
        }
        versions = {ref: self.functions[ref].version for ref in spec.functions}
        return digest(
            {
                "steps": composed_version(spec.steps, versions),
                "operator": operator,
                "reducer": versions.get(spec.reducer or ""),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Its canonical JSON form, which holds the sources of its functions too."""
        return {
            "format": 1,
            "name": self.name,
            "debug": self.debug,
            "processing": asdict(self.processing),
            "streams": [_stream_to_dict(stream) for stream in self.streams.values()],
            "pipelines": [pipeline.to_dict() for pipeline in self.pipelines.values()],
            "functions": [function.to_dict() for function in self.functions.values()],
        }

    @staticmethod
    def from_dict(form: Mapping[str, Any]) -> Project:
        """The project that `to_dict` wrote."""
        processing = dict(form["processing"])
        processing["keyframes"] = Keyframes(**processing["keyframes"])
        streams = [_stream_from_dict(stream) for stream in form["streams"]]
        pipelines = [PipelineSpec.from_dict(pipeline) for pipeline in form["pipelines"]]
        functions = [FunctionVersion.from_dict(function) for function in form["functions"]]
        return Project(
            name=form["name"],
            debug=form["debug"],
            processing=Processing(**processing),
            streams={stream.name: stream for stream in streams},
            pipelines={pipeline.name: pipeline for pipeline in pipelines},
            functions={function.ref: function for function in functions},
        )


def _stream_to_dict(stream: StreamSpec) -> dict[str, Any]:
    return {
        "name": stream.name,
        "schema": stream.schema.to_json(),
        "source": None if stream.source is None else asdict(stream.source),
        "key": list(stream.key),
        "event_time": stream.event_time,
        "watermarks": asdict(stream.watermarks),
        "writer": stream.writer,
        "sinks": [asdict(sink) for sink in stream.sinks],
    }


def _stream_from_dict(form: Mapping[str, Any]) -> StreamSpec:
    return StreamSpec(
        name=form["name"],
        schema=Schema.from_json(form["schema"]),
        source=None if form["source"] is None else SourceSpec(**form["source"]),
        key=tuple(form["key"]),
        event_time=form["event_time"],
        watermarks=WatermarkSpec(**form["watermarks"]),
        writer=form["writer"],
        sinks=tuple(SinkSpec(**sink) for sink in form["sinks"]),
    )


def _get(things: Mapping[str, T], name: str, noun: str) -> T:
    if name in things:
        return things[name]
    near = nearest(name, things)
    raise MissingNameError(
        f"There is no {noun} {name!r}. There is {', '.join(things) or 'none'}.",
        hint=f"Did you mean {near!r}?" if near else f"Use one of the {noun}s listed.",
        name=name,
    )
