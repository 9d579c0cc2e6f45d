"""A document to a draft of the project: shapes and plain values are checked here, what they mean
together in `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft import codec
from weft.declared.key import keys
from weft.declared.read import made
from weft.errors import WeftError
from weft.loading.cursor import Cursor
from weft.loading.document import Path
from weft.loading.form import PipelineKeys, ProjectKeys, StreamKeys, TableKeys, Windowing
from weft.loading.kind import read_sinks, read_source
from weft.products.read import read_product
from weft.products.sql import tables_of
from weft.products.tree import ProductError
from weft.products.write import stored_product
from weft.project.definition import PipelineSpec, SinkSpec, SourceSpec
from weft.project.operator import Deduplication, Joining
from weft.project.provenance import LAZY, MODES, ProvenanceSpec
from weft.project.settings import HistorySpec, Processing, WatermarkSpec
from weft.project.watch import WatchSpec
from weft.queries.form import Grouping, Ranking
from weft.schema.schema import Field, Schema, parse_type
from weft.sources.debezium import DebeziumSource
from weft.sources.options import tells_changes
from weft.steps.compile import new_name
from weft.steps.step import Step, from_dict


@dataclass(frozen=True)
class DraftStream:
    """A stream as it is declared; its columns may have to be found yet."""

    name: str
    path: Path
    source: SourceSpec | None = None
    schema: Schema | None = None
    declares_schema: bool = False
    key: tuple[str, ...] | None = None
    event_time: str | None = None
    watermarks: WatermarkSpec | None = None
    sinks: tuple[SinkSpec, ...] = ()
    provenance: ProvenanceSpec = LAZY
    history: HistorySpec | None = None
    watch: WatchSpec | None = None


@dataclass
class Draft:
    """A project as it is declared, with the path in the document of each pipeline and step."""

    name: str = ""
    debug: bool = False
    storage: str | None = None
    processing: Processing = field(default_factory=Processing)
    watermarks: WatermarkSpec = field(default_factory=WatermarkSpec)
    streams: dict[str, DraftStream] = field(default_factory=dict)
    pipelines: dict[str, PipelineSpec] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)
    step_paths: dict[str, tuple[Path, ...]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    windows: list[tuple[Path, Mapping[str, Any]]] = field(default_factory=list)


def read_draft(root: Cursor) -> Draft | None:
    """The draft of a whole project file."""
    if root.value is None:
        root.wrong(
            "project.empty", "The project file is empty.", "`weft init` writes one to start from."
        )
        return None
    if not isinstance(root.value, Mapping):
        root.wrong(
            "project.not-a-mapping",
            "A project file is a mapping of keys such as app_name and streams.",
            "Write `app_name: shop` on its first line.",
        )
        return None
    parts = root.parts(ProjectKeys, "a project")
    draft = Draft()
    if "app_name" in parts:
        draft.name = parts["app_name"].title("`app_name`") or ""
    if root.has("debug") and "debug" in parts:
        draft.debug = parts["debug"].value
    if root.has("storage") and "storage" in parts:
        draft.storage = parts["storage"].text("`storage`")
    if root.has("processing"):
        draft.processing = parts["processing"].read(Processing, "`processing`")
    if root.has("watermarks"):
        draft.watermarks = parts["watermarks"].read(WatermarkSpec, "`watermarks`")
    if root.has("streams"):
        for name, stream in (parts["streams"].mapping("`streams`") or {}).items():
            draft.streams[name] = _stream(name, stream, draft.watermarks)
    if root.has("tables"):
        for name, table in (parts["tables"].mapping("`tables`") or {}).items():
            draft.streams[name] = read_table(name, table)
    if root.has("pipelines"):
        for name, pipeline in (parts["pipelines"].mapping("`pipelines`") or {}).items():
            draft.paths[name] = pipeline.path
            spec = _pipeline(name, pipeline, draft)
            if spec is not None:
                draft.pipelines[name] = spec
    if root.has("products"):
        for name, product in (parts["products"].mapping("`products`") or {}).items():
            draft.paths[name] = product.path
            assembled = read_assembly(name, product)
            if assembled is not None:
                draft.pipelines[name] = assembled
    if root.has("windowing"):
        draft.windows = _windows(parts["windowing"])
    return draft


def _stream(name: str, cursor: Cursor, watermarks: WatermarkSpec) -> DraftStream:
    cursor.check_name("stream", name)
    if cursor.value is None:
        return DraftStream(name, cursor.path)
    parts = cursor.parts(StreamKeys, f"stream {name!r}")
    return DraftStream(
        name,
        cursor.path,
        source=read_source(parts["source"]) if "source" in parts else None,
        schema=_schema(parts["schema"]) if "schema" in parts else None,
        declares_schema="schema" in parts,
        key=parts["key"].names() if "key" in parts else None,
        event_time=parts["event_time"].value if "event_time" in parts else None,
        watermarks=parts["watermarks"].read(WatermarkSpec, "`watermarks`", watermarks)
        if "watermarks" in parts
        else None,
        sinks=read_sinks(parts["sinks"]) if "sinks" in parts else (),
        provenance=_provenance(parts),
        history=parts["history"].read(HistorySpec, "`history`") if "history" in parts else None,
        watch=parts["watch"].read(WatchSpec, "`watch`") if "watch" in parts else None,
    )


def _provenance(parts: Mapping[str, Cursor]) -> ProvenanceSpec:
    said = parts.get("provenance")
    return LAZY if said is None else MODES.take(said.value)


def _schema(cursor: Cursor) -> Schema | None:
    columns = cursor.mapping("a schema")
    if columns is None:
        return None
    if not columns:
        cursor.wrong("project.schema-missing", "The schema has no columns.", "Write `{id: long}`.")
        return None
    fields: list[Field] = []
    for name, column in columns.items():
        text = column.text(f"the type of {name!r}")
        try:
            new_name(name)
            if text is not None:
                fields.append(Field(name, parse_type(text)))
        except WeftError as error:
            cursor.report.add_error(error, column.path)
    try:
        return Schema(tuple(fields)) if len(fields) == len(columns) else None
    except WeftError as error:
        cursor.report.add_error(error, cursor.path)
        return None


def read_table(name: str, cursor: Cursor) -> DraftStream:
    """A table: a stream of changes from a topic, under its own keys and those of the source, or from another source."""
    cursor.check_name("table", name)
    parts = cursor.parts(TableKeys, f"table {name!r}")
    options = {key: parts[key].value for key in keys(DebeziumSource) if key in parts}
    source = SourceSpec("debezium", options)
    if "source" in parts:
        source = read_source(parts["source"]) or source
    if not tells_changes(source.kind):
        cursor.child("source").wrong(
            "project.not-changing",
            f"Table {name!r} has a source {source.kind!r}, whose records are no changes of rows.",
            "Declare it below `streams`, or use `postgres` or `debezium`.",
        )
    return DraftStream(
        name,
        cursor.path,
        source=source,
        schema=_schema(parts["columns"]) if "columns" in parts else None,
        declares_schema="columns" in parts,
        key=parts["key"].names() if "key" in parts else None,
        sinks=read_sinks(parts["sinks"]) if "sinks" in parts else (),
        provenance=_provenance(parts),
    )


def read_assembly(name: str, cursor: Cursor) -> PipelineSpec | None:
    """A product: a pipeline of its name, which reads its tables and writes its documents."""
    cursor.check_name("product", name)
    if not isinstance(cursor.value, Mapping):
        cursor.expected("a product to be a mapping such as {root: users}", None)
        return None
    sinks = read_sinks(cursor.child("sinks")) if "sinks" in cursor.value else ()
    try:
        product = read_product(name, cursor.value)
    except ProductError as error:
        cursor.report.add_error(error, (*cursor.path, *error.ids.get("path", ())))
        return None
    if "sql" in cursor.value:
        return _queried(name, cursor, sinks)
    return PipelineSpec(
        name, product.inputs(), to=name, sinks=sinks, product=stored_product(product)
    )


def _queried(name: str, cursor: Cursor, sinks: tuple[SinkSpec, ...]) -> PipelineSpec | None:
    """A product that is a SELECT, whose tree is known when the columns of its tables are."""
    kept = ("sql", "parallelism", "transactions")
    said = {key: cursor.value[key] for key in kept if key in cursor.value}
    try:
        tables = tables_of(said["sql"])
    except ProductError as error:
        cursor.report.add_error(error, (*cursor.path, "sql"))
        return None
    ends = [said["transactions"]] if "transactions" in said else []
    return PipelineSpec(name, (*tables, *ends), to=name, sinks=sinks, product=said)


def _pipeline(name: str, cursor: Cursor, draft: Draft) -> PipelineSpec | None:
    cursor.check_name("pipeline", name)
    if not isinstance(cursor.value, Mapping):
        cursor.check(PipelineKeys, f"pipeline {name!r}")
        return None
    parts = cursor.parts(PipelineKeys, f"pipeline {name!r}")
    inputs = parts["from"].names() if "from" in parts else ()
    if "from" in parts and not inputs:
        cursor.wrong(
            "project.missing-key",
            f"Pipeline {name!r} does not say which stream it reads.",
            "Add `from: orders`.",
            on_key=True,
        )
    for stream in sorted({one for one in inputs if inputs.count(one) > 1}):
        parts["from"].wrong(
            "project.duplicate-input",
            f"Pipeline {name!r} reads stream {stream!r} twice.",
            "Name it once; to join it with itself, copy it in a pipeline of its own.",
        )
    to = parts["to"].value if "to" in parts else name
    if "to" in parts:
        parts["to"].check_name("stream", to)
    aggregate = _texts(parts["aggregate"]) if "aggregate" in parts else {}
    steps = _steps(parts["steps"], draft) if "steps" in parts else {}
    draft.step_paths[name] = tuple(steps)
    return PipelineSpec(
        name=name,
        inputs=inputs,
        to=to,
        steps=tuple(steps.values()),
        window=_plain(parts["window"], "a window") if "window" in parts else None,
        by=parts["by"].names() if "by" in parts else (),
        aggregate=aggregate,
        join=_join(parts["join"]) if "join" in parts else None,
        dedupe=_dedupe(parts["dedupe"]) if "dedupe" in parts else None,
        reducer=parts["reducer"].value if "reducer" in parts else None,
        sinks=read_sinks(parts["sinks"]) if "sinks" in parts else (),
        group=_declared(parts["group"], Grouping, "`group`") if "group" in parts else None,
        top=_declared(parts["top"], Ranking, "`top`") if "top" in parts else None,
    )


def _steps(cursor: Cursor, draft: Draft) -> dict[Path, Step]:
    """The steps by their paths, up to the first that cannot be read."""
    found: dict[Path, Step] = {}
    unread = False
    for item in cursor.items("`steps`") or []:
        try:
            step = from_dict(item.value)
        except WeftError as error:
            cursor.report.add_error(error, item.path)
            draft.unread.add(str(cursor.path[1]))
            unread = True
        if not unread:
            found[item.path] = step
    return found


def _texts(cursor: Cursor) -> dict[str, str]:
    parts = cursor.mapping("`aggregate`") or {}
    found = {name: one.text(f"the aggregate {name!r}") for name, one in parts.items()}
    return {name: text for name, text in found.items() if text is not None}


def _plain(cursor: Cursor, what: str) -> Mapping[str, Any] | None:
    return cursor.value if cursor.mapping(what) is not None else None


def _join(cursor: Cursor) -> Mapping[str, Any] | None:
    parts = cursor.parts(Joining, "a join")
    if "on" not in parts:
        return None
    on = parts["on"]
    if not on.value:
        on.wrong("project.join", "The join is on no columns.", "Add `on: [id]`.", on_key=True)
    written = isinstance(on.value, Mapping)
    pairs = on.value.items() if written else [(name, name) for name in on.names()]
    kind = parts["type"].value if "type" in parts else "inner"
    tasks = {"parallelism": parts["parallelism"].value} if "parallelism" in parts else {}
    return {"type": kind, "on": [list(pair) for pair in pairs], **tasks}


def _declared(cursor: Cursor, declaration: type[Any], what: str) -> Mapping[str, Any] | None:
    """What a mapping declares, as it is stored; None where something in it is wrong."""
    before = len(cursor.report.problems)
    cursor.check(declaration, what)
    if len(cursor.report.problems) > before:
        return None
    stored: Mapping[str, Any] = codec.to_form(made(declaration, cursor.value))
    return stored


def _dedupe(cursor: Cursor) -> Mapping[str, Any]:
    found = cursor.read(Deduplication, "`dedupe`")
    return {"by": list(found.by), "within_seconds": found.within_seconds}


def _windows(cursor: Cursor) -> list[tuple[Path, Mapping[str, Any]]]:
    parts = cursor.parts(Windowing, "`windowing`")
    if "windows" not in parts:
        return []
    found = []
    for item in parts["windows"].items("`windows`") or []:
        window = _plain(item, "a window")
        if window is not None:
            found.append((item.path, window))
    return found
