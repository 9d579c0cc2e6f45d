"""What a project declares, as frozen values with a canonical JSON form: made by `load`, read by
weaver and worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from weft import codec
from weft.canonical import digest
from weft.errors import WeftError
from weft.project.name import slug
from weft.project.provenance import LAZY, ProvenanceSpec
from weft.project.settings import HistorySpec, Processing, WatermarkSpec
from weft.project.timing import ClockKind
from weft.project.watch import UNWATCHED, WatchSpec
from weft.schema.schema import Schema, StoredSchema, nearest
from weft.steps.function import FunctionVersion
from weft.steps.step import Function, Steps, composed_version

T = TypeVar("T")

Ordered = Annotated[
    Mapping[str, str],
    BeforeValidator(dict),
    PlainSerializer(lambda pairs: [list(pair) for pair in pairs.items()]),
    WithJsonSchema({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
]
"""A mapping whose order counts, stored as a list of pairs: the keys of a stored form are sorted."""


class MissingNameError(WeftError):
    """A stream or pipeline that the project does not have."""

    code = "project.unknown-name"
    domain = "missing"


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
    schema: StoredSchema
    source: SourceSpec | None = None
    key: tuple[str, ...] = ()
    event_time: str | None = None
    watermarks: WatermarkSpec = field(default_factory=WatermarkSpec)
    writer: str | None = None
    sinks: tuple[SinkSpec, ...] = ()
    clock: ClockKind = "inputs"
    """Where it is written by a pipeline: by what its time goes."""
    changing: bool = False
    """Whether each of its rows replaces the one before with its key, and says in `_change` how."""
    provenance: ProvenanceSpec = LAZY
    history: HistorySpec = field(default_factory=HistorySpec)
    """How long its rows are kept; what a pipeline does with them does not depend on it."""
    watch: WatchSpec = UNWATCHED

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
    `join` the two inputs are joined first, and the steps see the joined records. With a `product` the inputs are
    tables, and the steps see the documents that have changed. `group` and `top` come where a window would.
    """

    name: str
    inputs: tuple[str, ...]
    to: str
    steps: Steps = ()
    window: Mapping[str, Any] | None = None
    by: tuple[str, ...] = ()
    aggregate: Ordered = field(default_factory=dict)
    join: Mapping[str, Any] | None = None
    dedupe: Mapping[str, Any] | None = None
    reducer: str | None = None
    sinks: tuple[SinkSpec, ...] = ()
    product: Mapping[str, Any] | None = None
    """The root of a product's tree, as it is stored."""
    group: Mapping[str, Any] | None = None
    top: Mapping[str, Any] | None = None

    @property
    def functions(self) -> tuple[str, ...]:
        """The references of the Python functions that it calls."""
        called = [step.ref for step in self.steps if isinstance(step, Function)]
        return tuple(called + ([self.reducer] if self.reducer else []))

    @property
    def stateful(self) -> bool:
        """Whether it keeps state between batches."""
        return bool(self.window or self.join or self.dedupe or self.product or self.updating)

    @property
    def updating(self) -> bool:
        """Whether it is a query over changing streams, whose results replace one another too."""
        is_join = self.join is not None and self.window is None
        return is_join or self.group is not None or self.top is not None

    @property
    def is_current(self) -> bool:
        """Whether of each key the row that it wrote last is the one that counts."""
        return self.product is not None or self.updating


@dataclass(frozen=True)
class Project:
    """Everything that a project declares: streams with columns, functions with versions.

    Its `name` is a title for people; `slug` is the same as an identifier.
    """

    name: str
    streams: Mapping[str, StreamSpec]
    pipelines: Mapping[str, PipelineSpec]
    processing: Processing = field(default_factory=Processing)
    debug: bool = False
    functions: Mapping[str, FunctionVersion] = field(default_factory=dict)
    folder: str | None = field(default=None, compare=False)
    storage: str | None = field(default=None, compare=False)
    """Where `weft up` keeps streams; no part of what is deployed: a weaver and its workers are told."""

    @cached_property
    def hash(self) -> str:
        """SHA-256 over the canonical form, whatever the order of its parts."""
        form = self._form(sparse=True)
        for part, name in (("streams", "name"), ("pipelines", "name"), ("functions", "ref")):
            form[part] = sorted(form.get(part, ()), key=itemgetter(name))
        return digest(form)

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

    def is_stateful(self, pipeline: str) -> bool:
        """Whether a pipeline keeps state between batches; one that reads a source does not."""
        spec = self.pipelines.get(pipeline)
        return spec is not None and spec.stateful

    def schema_of(self, stream: str) -> Schema:
        """The user's columns of a stream, after everything that its pipelines do."""
        return self.stream(stream).schema

    def version_of(self, pipeline: str) -> str:
        """The function version of a whole pipeline: steps, operator and the functions it calls."""
        spec = self.pipeline(pipeline)
        operator = {
            key: value
            for key, value in codec.to_form(spec, sparse=True).items()
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
        """Its stored form, which holds the sources of its functions too."""
        return self._form(sparse=False)

    def _form(self, *, sparse: bool) -> dict[str, Any]:
        written = ProjectForm(
            name=self.name,
            debug=self.debug,
            processing=self.processing,
            streams=tuple(self.streams.values()),
            pipelines=tuple(self.pipelines.values()),
            functions=tuple(self.functions.values()),
        )
        return {"format": codec.FORMAT, **codec.to_form(written, sparse=sparse)}

    @staticmethod
    def from_dict(form: Mapping[str, Any]) -> Project:
        """The project behind a stored form."""
        read = codec.unpack(ProjectForm, form)
        return Project(
            name=read.name,
            debug=read.debug,
            processing=read.processing,
            streams={stream.name: stream for stream in read.streams},
            pipelines={pipeline.name: pipeline for pipeline in read.pipelines},
            functions={function.ref: function for function in read.functions},
        )


def changing_keys(project: Project | None) -> dict[str, tuple[str, ...]]:
    """The keys of the streams whose rows replace one another."""
    streams = project.streams.values() if project is not None else ()
    return {stream.name: stream.key for stream in streams if stream.changing}


@dataclass(frozen=True)
class ProjectForm:
    """A project as it is stored: what is found by name is in lists, whose order counts."""

    name: str
    streams: tuple[StreamSpec, ...]
    pipelines: tuple[PipelineSpec, ...]
    processing: Processing = field(default_factory=Processing)
    debug: bool = False
    functions: tuple[FunctionVersion, ...] = ()


def _get(things: Mapping[str, T], name: str, noun: str) -> T:
    if name in things:
        return things[name]
    near = nearest(name, things)
    raise MissingNameError(
        f"There is no {noun} {name!r}. There is {', '.join(things) or 'none'}.",
        hint=f"Did you mean {near!r}?" if near else f"Use one of the {noun}s listed.",
        name=name,
    )
