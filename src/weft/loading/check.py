"""What the parts of a project mean together, from stream to stream: a draft in, a project out.

Everything that is wrong goes into the report; where columns cannot be known, nothing further down
is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as Folder

from weft.errors import WeftError
from weft.gate.coercion import UNKNOWN
from weft.loading.changing import (
    check_changing,
    check_table,
    document_stream,
    keyless,
    other_key,
)
from weft.loading.code import find_code
from weft.loading.columns import check_columns, inferred
from weft.loading.document import Path
from weft.loading.history import check_history
from weft.loading.kind import anchored
from weft.loading.merge import check_names, joined, spelled, united
from weft.loading.outlet import Outlets
from weft.loading.pane import check_window, pane_schema
from weft.loading.problem import Problems
from weft.loading.read import Draft, DraftStream
from weft.loading.recorded import recorded
from weft.loading.revision import check_revised
from weft.loading.timed import check_clock, check_event_time, timed
from weft.loading.updating import as_spelled, check_updating, find_columns
from weft.loading.watched import watched
from weft.loading.wiring import add_windows, check_graph
from weft.products.reading import TableColumns
from weft.project.definition import PipelineSpec, Project, StreamSpec
from weft.project.settings import HistorySpec
from weft.project.timing import EVENT_TIME, Timing
from weft.schema.change import with_change
from weft.schema.path import find_path
from weft.schema.schema import Field, Schema, nearest
from weft.sources import shop
from weft.sources.options import tells_changes
from weft.steps.compile import compile_step
from weft.steps.function import FunctionVersion
from weft.steps.step import Filter, Function, Rename, Set, Step


def check_draft(
    draft: Draft, report: Problems, folder: Folder, *, runs_code: bool = True
) -> Project | None:
    """The project that a draft says, or None when something is wrong with it."""
    _anchor(draft, folder)
    add_windows(draft, report)
    graph = check_graph(draft, report)
    functions = find_code(draft, report, folder, runs_it=runs_code)
    checker = _Checker(draft, report, folder, functions=functions)
    for name in graph.order:
        if name in draft.pipelines:
            checker.pipeline(draft.pipelines[name])
        else:
            checker.ingest(draft.streams[name])
    for name in draft.pipelines.keys() - set(graph.order):
        check_window(draft.pipelines[name], draft.paths[name], report)
    check_revised(draft, report)
    streams = watched(draft, recorded(draft, checker.streams, report), report)
    check_history(draft, checker.streams, report)
    _check_placement(draft, report)
    if report.problems:
        return None
    return Project(
        name=draft.name,
        debug=draft.debug,
        processing=draft.processing,
        streams=streams,
        pipelines=draft.pipelines,
        functions=checker.functions,
        folder=str(folder),
        storage=draft.storage,
    )


def _check_placement(draft: Draft, report: Problems) -> None:
    """Labels are asked of pipelines that there are; the one that reads a source has the name of its stream."""
    known = [*draft.pipelines, *(name for name, one in draft.streams.items() if one.source)]
    for name in draft.processing.placement:
        if name not in known:
            near = nearest(name, known)
            report.add(
                "project.unknown-name",
                ("processing", "placement", name),
                f"`placement` names {name!r}, and there is no such pipeline.",
                f"Did you mean {near!r}?"
                if near
                else "Name a pipeline, or a stream with a source.",
                on_key=True,
            )


@dataclass
class _Checker:
    """Carries columns from stream to stream, in the order of the pipelines."""

    draft: Draft
    report: Problems
    folder: Folder
    streams: dict[str, StreamSpec] = field(default_factory=dict)
    functions: Mapping[str, FunctionVersion] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.outlets = Outlets(self.report)

    def ingest(self, stream: DraftStream) -> None:
        """A stream that is read from a source."""
        schema, key, event_time = stream.schema, stream.key, stream.event_time
        if (
            stream.source is not None
            and stream.source.kind == "mock"
            and not stream.declares_schema
        ):
            schema = shop.SCHEMA
            key = key if key is not None else (shop.KEY,)
            event_time = event_time or shop.EVENT_TIME
        elif not stream.declares_schema:
            schema = inferred(stream, self.report)
        if schema is None:
            return
        key, event_time = check_columns(stream, schema, key or (), event_time, self.report)
        changing = stream.source is not None and tells_changes(stream.source.kind)
        if changing:
            schema = with_change(schema)
            check_table(stream, key, self.report)
        self.outlets.check(stream.sinks, stream=stream.name, schema=schema, path=stream.path)
        self.streams[stream.name] = StreamSpec(
            name=stream.name,
            schema=schema,
            source=stream.source,
            key=key,
            event_time=event_time,
            watermarks=stream.watermarks or self.draft.watermarks,
            sinks=stream.sinks,
            changing=changing,
            history=stream.history or HistorySpec(),
        )

    def pipeline(self, spec: PipelineSpec) -> None:
        """A pipeline: its columns from input to output, and the stream that it writes."""
        path = self.draft.paths[spec.name]
        check_window(spec, path, self.report)
        inputs = [self.streams[name] for name in spec.inputs if name in self.streams]
        if not inputs or len(inputs) != len(spec.inputs):
            return
        if spec.product is not None:
            made = document_stream(spec, inputs, path, self.report, self.draft.watermarks)
            if made is not None:
                self.draft.pipelines[spec.name], stream = made
                self.outlets.check(
                    spec.sinks, stream=spec.to, schema=stream.schema, path=path, current=True
                )
                self.streams[spec.to] = stream
            return
        if spec.updating:
            self.updating(spec, inputs)
            return
        changing = [stream.name for stream in inputs if stream.changing]
        if changing:
            check_changing(spec, changing[0], path, self.report)
        if spec.window is not None:
            check_event_time(spec, inputs, path, self.report)
        if spec.join is not None:
            spec = replace(spec, join=spelled(spec.join, inputs, (*path, "join"), self.report))
            schema = joined(spec.join or {}, inputs, path, self.report)
        else:
            schema = united(inputs, path, self.report)
        if schema is None:
            return
        if spec.dedupe is not None:
            by = check_names(spec.dedupe["by"], schema, (*path, "dedupe", "by"), self.report)
            spec = replace(spec, dedupe={**spec.dedupe, "by": list(by)})
        self.draft.pipelines[spec.name] = spec
        key = self.carried(spec, inputs[0].schema, inputs[0].key)
        timing = timed(spec, inputs, path, self.report, self.functions)
        schema = self.steps(spec, schema)
        if schema is not None and spec.window is not None and spec.join is None:
            spec = replace(spec, by=check_names(spec.by, schema, (*path, "by"), self.report))
            self.draft.pipelines[spec.name] = spec
            schema = pane_schema(spec, schema, path, self.report, self.functions)
            key, timing = spec.by, Timing(EVENT_TIME)
        if schema is not None:
            self.outlets.check(spec.sinks, stream=spec.to, schema=schema, path=path)
            self.write(spec, schema, key, timing, inputs[0])

    def updating(self, spec: PipelineSpec, inputs: list[StreamSpec]) -> None:
        """A query over changing streams; steps come behind a join, and before everything else."""
        path = self.draft.paths[spec.name]
        if not check_updating(spec, inputs, path, self.report):
            return
        tables = [TableColumns.of(one.schema, one.key) for one in inputs]
        first = inputs[0]
        if spec.join is None:
            schema = self.steps(spec, first.schema)
            key = self.carried(spec, first.schema, first.key)
            if schema is None or not self.keeps(spec, schema, key, first.key):
                return
            tables = [TableColumns.of(schema, key)]
        query = find_columns(spec, tables, path, self.report)
        if query is None:
            return
        spec = self.draft.pipelines[spec.name] = as_spelled(spec, tables)
        schema, key = with_change(query.columns), query.key
        if spec.join is not None:
            key = self.carried(spec, schema, key)
            schema = self.steps(spec, schema)
        if schema is not None and self.keeps(spec, schema, key, query.key):
            self.outlets.check(spec.sinks, stream=spec.to, schema=schema, path=path, current=True)
            self.write(spec, schema, key, Timing(None), first)

    def keeps(
        self, spec: PipelineSpec, schema: Schema, key: tuple[str, ...], known: tuple[str, ...]
    ) -> bool:
        """Whether steps have left the key of changing rows in place; notes it where they have not."""
        if all(schema.find(name) for name in key):
            return True
        keyless(spec, known, self.draft.paths[spec.name], self.report)
        return False

    def carried(self, spec: PipelineSpec, schema: Schema, key: Sequence[str]) -> tuple[str, ...]:
        """A key, under the names that it has after the steps."""
        names = {name: name for name in schema.names}
        for step in spec.steps:
            if isinstance(step, Rename):
                renamed = {old.lower(): new for old, new in step.columns.items()}
                names = {one: renamed.get(now.lower(), now) for one, now in names.items()}
        places = [find_path(name, schema) for name in key]
        return tuple(
            ".".join((names[place.names[0]], *place.names[1:])) for place in places if place
        )

    def steps(self, spec: PipelineSpec, schema: Schema) -> Schema | None:
        """The columns after the steps; what a wrong `set` makes is taken as unknown."""
        paths = self.draft.step_paths.get(spec.name, ())
        for step, path in zip(spec.steps, paths, strict=False):
            try:
                schema = compile_step(step, schema, self.functions).output
            except WeftError as error:
                if not (isinstance(step, Function) and step.ref not in self.functions):
                    self.report.add_error(error, _blamed(step, path, error))
                if isinstance(step, Set):
                    schema = _guessed(step, schema)
                elif not isinstance(step, Filter):
                    return None
        return None if spec.name in self.draft.unread else schema

    def write(
        self,
        spec: PipelineSpec,
        schema: Schema,
        key: tuple[str, ...],
        timing: Timing,
        source: StreamSpec,
    ) -> None:
        """The stream that a pipeline writes; what was declared of it must be so."""
        declared = self.draft.streams.get(spec.to)
        key = key if all(find_path(name, schema) for name in key) else ()
        if source.changing and not key:
            keyless(spec, source.key, self.draft.paths[spec.name], self.report)
        stream = StreamSpec(
            name=spec.to,
            schema=schema,
            key=key,
            event_time=timing.column,
            watermarks=replace(source.watermarks, ahead="hold"),
            writer=spec.name,
            clock=timing.clock,
            changing=source.changing,
        )
        if declared is not None:
            stream = self.declared(stream, declared)
        self.streams[spec.to] = stream

    def declared(self, stream: StreamSpec, declared: DraftStream) -> StreamSpec:
        key = declared.key if declared.key is not None else stream.key
        if stream.changing and tuple(key) != stream.key:
            other_key(stream, declared.path, self.report)
            key = stream.key
        event_time = declared.event_time or stream.event_time
        key, event_time = check_columns(declared, stream.schema, key, event_time, self.report)
        is_other = event_time != stream.event_time
        clock = "own" if is_other else stream.clock
        writer = self.draft.pipelines[stream.pipeline]
        check_clock(declared, stream, writer, self.report, is_other=is_other)
        self.outlets.check(
            declared.sinks,
            stream=stream.name,
            schema=stream.schema,
            path=declared.path,
            current=writer.is_current,
        )
        # The pipeline that writes a stream feeds its sinks, wherever they are declared.
        sinks = (*writer.sinks, *declared.sinks)
        self.draft.pipelines[stream.pipeline] = replace(writer, sinks=sinks)
        if declared.schema is not None and declared.schema.to_dict() != stream.schema.to_dict():
            self.report.add(
                "project.schema-differs",
                (*declared.path, "schema"),
                f"Stream {stream.name!r} is declared as {declared.schema}, and pipeline "
                f"{stream.writer!r} writes {stream.schema}.",
                "Correct the steps or the schema; it may be left out.",
            )
        return replace(
            stream,
            key=key,
            event_time=event_time,
            watermarks=declared.watermarks or stream.watermarks,
            clock=clock,
            history=declared.history or stream.history,
        )


def _anchor(draft: Draft, folder: Folder) -> None:
    for name, stream in draft.streams.items():
        source = anchored(stream.source, folder) if stream.source is not None else None
        sinks = tuple(anchored(sink, folder) for sink in stream.sinks)
        draft.streams[name] = replace(stream, source=source, sinks=sinks)
    for name, pipeline in draft.pipelines.items():
        sinks = tuple(anchored(sink, folder) for sink in pipeline.sinks)
        draft.pipelines[name] = replace(pipeline, sinks=sinks)


def _blamed(step: Step, path: Path, error: WeftError) -> Path:
    """The place of the expression that is wrong, as near as it is known."""
    column = error.ids.get("expression")
    return (*path, step.kind) if column is None else (*path, step.kind, column)


def _guessed(step: Set, schema: Schema) -> Schema:
    fields: Mapping[str, Field] = {one.name.lower(): one for one in schema}
    made = {name.lower(): Field(name, UNKNOWN) for name in step.columns}
    return Schema(tuple({**fields, **made}.values()))
