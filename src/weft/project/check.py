"""What the parts of a project mean together, from stream to stream: a draft in, a project out.

Everything that is wrong goes into the report; where columns cannot be known, nothing further down
is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as Folder

from weft.errors import WeftError
from weft.project.definition import EVENT_TIME, PipelineSpec, Project, StreamSpec
from weft.project.document import Path
from weft.project.infer import inferred_schema
from weft.project.kind import is_installed
from weft.project.pane import check_window, pane_schema
from weft.project.problem import Report
from weft.project.read import Draft, DraftStream
from weft.project.wiring import add_windows, check_graph
from weft.sources import shop
from weft.weaving.coercion import UNKNOWN, common
from weft.weaving.function import FunctionVersion, find
from weft.weaving.infer import compile_step
from weft.weaving.schema import Field, Schema, unknown_column
from weft.weaving.step import Filter, Function, Rename, Set, Step


def check_draft(draft: Draft, report: Report, folder: Folder) -> Project | None:
    """The project that a draft says, or None when something is wrong with it."""
    add_windows(draft, report)
    graph = check_graph(draft, report)
    checker = _Checker(draft, report, folder)
    checker.find_functions()
    for name in graph.order:
        if name in draft.pipelines:
            checker.pipeline(draft.pipelines[name])
        else:
            checker.ingest(draft.streams[name])
    for name in draft.pipelines.keys() - set(graph.order):
        check_window(draft.pipelines[name], draft.paths[name], report)
    if report.problems:
        return None
    return Project(
        name=draft.name,
        debug=draft.debug,
        processing=draft.processing,
        streams=checker.streams,
        pipelines=draft.pipelines,
        functions=checker.functions,
        folder=str(folder),
    )


@dataclass
class _Checker:
    """Carries columns from stream to stream, in the order of the pipelines."""

    draft: Draft
    report: Report
    folder: Folder
    streams: dict[str, StreamSpec] = field(default_factory=dict)
    functions: dict[str, FunctionVersion] = field(default_factory=dict)

    def find_functions(self) -> None:
        """Read every Python function and class that is named somewhere."""
        for name, pipeline in self.draft.pipelines.items():
            path = self.draft.paths[name]
            for step, where in zip(
                pipeline.steps, self.draft.step_paths.get(name, ()), strict=False
            ):
                if isinstance(step, Function):
                    self.find_function(step.ref, (*where, "function"))
            if pipeline.reducer:
                self.find_function(pipeline.reducer, (*path, "reducer"))
            for number, sink in enumerate(pipeline.sinks):
                if sink.kind == "python":
                    self.find_class(str(sink.options["class"]), (*path, "sinks", number))
        for stream in self.draft.streams.values():
            if stream.source is not None and stream.source.kind == "python":
                ref = str(stream.source.options.get("class", ""))
                self.find_class(ref, (*stream.path, "source"))

    def find_function(self, ref: str, path: Path) -> None:
        try:
            self.functions[ref] = find(ref, self.folder)
        except WeftError as error:
            self.report.add_error(error, path)

    def find_class(self, ref: str, path: Path) -> None:
        if not is_installed(ref, self.folder):
            self.find_function(ref, path)

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
            schema = inferred_schema(stream, self.report, self.folder)
        if schema is None:
            return
        self.check_columns(stream, schema, key or (), event_time)
        self.streams[stream.name] = StreamSpec(
            name=stream.name,
            schema=schema,
            source=stream.source,
            key=key or (),
            event_time=event_time,
            watermarks=stream.watermarks or self.draft.watermarks,
            sinks=stream.sinks,
        )

    def check_columns(
        self, stream: DraftStream, schema: Schema, key: tuple[str, ...], event_time: str | None
    ) -> None:
        for name in key:
            if schema.find(name) is None:
                self.report.add_error(unknown_column(name, schema.names), (*stream.path, "key"))
        if event_time is None or event_time == EVENT_TIME:
            return
        found = schema.find(event_time)
        path = (*stream.path, "event_time")
        if found is None:
            self.report.add_error(unknown_column(event_time, schema.names), path)
        elif found.type.name not in ("timestamp", "timestamp_ntz", "unknown"):
            self.report.add(
                "project.event-time",
                path,
                f"The event time of stream {stream.name!r} is {event_time!r}, a {found.type}.",
                "Declare the column as timestamp.",
            )

    def pipeline(self, spec: PipelineSpec) -> None:
        """A pipeline: its columns from input to output, and the stream that it writes."""
        inputs = [self.streams.get(name) for name in spec.inputs]
        known = [stream for stream in inputs if stream is not None]
        if not known or len(known) != len(inputs):
            check_window(spec, self.draft.paths[spec.name], self.report)
            return
        if spec.join is not None:
            schema = self.joined(spec, known)
        else:
            schema = self.united(spec, known)
        if schema is None:
            return
        key, event_time = self.carried(spec, known)
        schema = self.steps(spec, schema)
        if schema is None:
            return
        path = self.draft.paths[spec.name]
        if spec.dedupe is not None:
            self.check_names(spec.dedupe["by"], known[0].schema, (*path, "dedupe", "by"))
        check_window(spec, path, self.report)
        if spec.window is not None:
            self.check_event_time(spec, known)
        if spec.window is not None and spec.join is None:
            schema = pane_schema(spec, schema, path, self.report, self.functions)
            key, event_time = spec.by, EVENT_TIME
        if schema is not None:
            self.write(spec, schema, key, event_time)

    def check_event_time(self, spec: PipelineSpec, inputs: list[StreamSpec]) -> None:
        for stream in inputs:
            if stream.event_time is None:
                self.report.add(
                    "project.no-event-time",
                    (*self.draft.paths[spec.name], "window"),
                    f"Pipeline {spec.name!r} has a window, and stream {stream.name!r} no time.",
                    f"Add `event_time:` to stream {stream.name!r}.",
                    on_key=True,
                )

    def check_names(self, names: list[str], schema: Schema, path: Path) -> None:
        for name in names:
            if schema.find(name) is None:
                self.report.add_error(unknown_column(name, schema.names), path)

    def united(self, spec: PipelineSpec, inputs: list[StreamSpec]) -> Schema | None:
        """Several inputs one after the other: they need the same columns."""
        first = inputs[0]
        for stream in inputs[1:]:
            if {one.name: one.type for one in stream.schema} != {
                one.name: one.type for one in first.schema
            }:
                self.report.add(
                    "project.schema-differs",
                    (*self.draft.paths[spec.name], "from"),
                    f"Streams {first.name!r} and {stream.name!r} have different columns.",
                    "Bring them to the same columns with `select` first, or use a `join`.",
                )
                return None
        return first.schema

    def joined(self, spec: PipelineSpec, inputs: list[StreamSpec]) -> Schema | None:
        """Two inputs side by side: the left one's columns, then what the right one adds."""
        path = (*self.draft.paths[spec.name], "join")
        if len(inputs) != 2:
            self.report.add(
                "project.join", path, "A join needs two streams in `from`.", "Write `from: [a, b]`."
            )
            return None
        left, right = inputs
        pairs = (spec.join or {})["on"]
        self.check_names([one for one, _ in pairs], left.schema, (*path, "on"))
        self.check_names([other for _, other in pairs], right.schema, (*path, "on"))
        for one, other in pairs:
            a, b = left.schema.find(one), right.schema.find(other)
            if a and b and common(a.type, b.type) is None:
                self.report.add(
                    "project.join",
                    (*path, "on"),
                    f"{one!r} is {a.type}, and {other!r} of {right.name!r} is {b.type}.",
                    "Join on columns of the same type.",
                )
        taken = {other.lower() for _, other in pairs}
        added = tuple(one for one in right.schema if one.name.lower() not in taken)
        twice = [one.name for one in added if left.schema.find(one.name)]
        if twice:
            self.report.add(
                "project.join",
                path,
                f"Both streams of the join have {', '.join(twice)}.",
                "Rename or drop them in a pipeline before the join.",
            )
            return None
        return Schema((*left.schema.fields, *added))

    def carried(
        self, spec: PipelineSpec, inputs: list[StreamSpec]
    ) -> tuple[tuple[str, ...], str | None]:
        """Key and event time of the input, under the names that they have after the steps."""
        names = {name: name for name in inputs[0].schema.names}
        for step in spec.steps:
            if isinstance(step, Rename):
                renamed = {old.lower(): new for old, new in step.columns.items()}
                names = {one: renamed.get(now.lower(), now) for one, now in names.items()}
        key = tuple(names.get(name, name) for name in inputs[0].key)
        event_time = inputs[0].event_time
        return key, names.get(event_time, event_time) if event_time else None

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
        self, spec: PipelineSpec, schema: Schema, key: tuple[str, ...], event_time: str | None
    ) -> None:
        """The stream that a pipeline writes; what was declared of it must be so."""
        declared = self.draft.streams.get(spec.to)
        if event_time and event_time != EVENT_TIME and schema.find(event_time) is None:
            event_time = EVENT_TIME
        key = key if all(schema.find(name) for name in key) else ()
        stream = StreamSpec(
            name=spec.to,
            schema=schema,
            key=key,
            event_time=event_time,
            watermarks=self.draft.watermarks,
            writer=spec.name,
        )
        if declared is not None:
            stream = self.declared(stream, declared)
        self.streams[spec.to] = stream

    def declared(self, stream: StreamSpec, declared: DraftStream) -> StreamSpec:
        key = declared.key if declared.key is not None else stream.key
        event_time = declared.event_time or stream.event_time
        self.check_columns(declared, stream.schema, key, event_time)
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
            sinks=declared.sinks,
            watermarks=declared.watermarks or stream.watermarks,
        )


def _blamed(step: Step, path: Path, error: WeftError) -> Path:
    """The place of the expression that is wrong, as near as it is known."""
    column = error.ids.get("expression")
    return (*path, step.kind) if column is None else (*path, step.kind, column)


def _guessed(step: Set, schema: Schema) -> Schema:
    fields: Mapping[str, Field] = {one.name.lower(): one for one in schema}
    made = {name.lower(): Field(name, UNKNOWN) for name in step.columns}
    return Schema(tuple({**fields, **made}.values()))
