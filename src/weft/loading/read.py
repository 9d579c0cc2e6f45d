"""A document to a draft of the project: shapes and plain values are checked here, what they mean
together in `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.errors import WeftError
from weft.loading.cursor import Cursor
from weft.loading.document import Path
from weft.loading.kind import read_sinks, read_source
from weft.loading.settings import read_processing, read_watermarks
from weft.project.definition import (
    PipelineSpec,
    Processing,
    SinkSpec,
    SourceSpec,
    WatermarkSpec,
)
from weft.schema.schema import Field, Schema, parse_type
from weft.steps.compile import new_name
from weft.steps.step import Step, from_dict

KEYS = ("app_name", "debug", "processing", "watermarks", "windowing", "streams", "pipelines")
LATER = ("tables", "products")
STREAM_KEYS = ("source", "schema", "key", "event_time", "watermarks", "sinks")
PIPELINE_KEYS = (
    "from",
    "steps",
    "window",
    "by",
    "aggregate",
    "join",
    "dedupe",
    "reducer",
    "to",
    "sinks",
)
JOINS = ("inner", "left", "right", "full")
FOREVER_SECONDS = 9e15
"""As many as there are milliseconds in a number of 64 bits."""


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


@dataclass
class Draft:
    """A project as it is declared, with the path in the document of each pipeline and step."""

    name: str = ""
    debug: bool = False
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
    parts = root.mapping("a project", (*KEYS, *LATER)) or {}
    draft = Draft()
    for key in LATER:
        if key in parts:
            parts[key].wrong(
                "project.not-supported-yet",
                f"`{key}` is part of the format, and this version does not run it.",
                f"Leave `{key}` out; streams and pipelines run.",
                on_key=True,
            )
    if "app_name" in parts:
        draft.name = parts["app_name"].title("`app_name`") or ""
    else:
        root.wrong("project.missing-key", "The project has no name.", "Add `app_name: shop`.")
    if root.has("debug"):
        draft.debug = parts["debug"].flag("debug") or False
    if root.has("processing"):
        draft.processing = read_processing(parts["processing"])
    if root.has("watermarks"):
        draft.watermarks = read_watermarks(parts["watermarks"], WatermarkSpec())
    if root.has("streams"):
        for name, stream in (parts["streams"].mapping("`streams`") or {}).items():
            draft.streams[name] = _stream(name, stream, draft.watermarks)
    if root.has("pipelines"):
        for name, pipeline in (parts["pipelines"].mapping("`pipelines`") or {}).items():
            draft.paths[name] = pipeline.path
            spec = _pipeline(name, pipeline, draft)
            if spec is not None:
                draft.pipelines[name] = spec
    if root.has("windowing"):
        draft.windows = _windows(parts["windowing"])
    return draft


def _stream(name: str, cursor: Cursor, watermarks: WatermarkSpec) -> DraftStream:
    cursor.check_name("stream", name)
    if cursor.value is None:
        return DraftStream(name, cursor.path)
    parts = cursor.mapping(f"stream {name!r}", STREAM_KEYS) or {}
    source = read_source(parts["source"]) if "source" in parts else None
    return DraftStream(
        name,
        cursor.path,
        source=source,
        schema=_schema(parts["schema"]) if "schema" in parts else None,
        declares_schema="schema" in parts,
        key=parts["key"].names("`key`") if "key" in parts else None,
        event_time=parts["event_time"].text("`event_time`") if "event_time" in parts else None,
        watermarks=read_watermarks(parts["watermarks"], watermarks)
        if "watermarks" in parts
        else None,
        sinks=read_sinks(parts["sinks"]) if "sinks" in parts else (),
    )


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


def _pipeline(name: str, cursor: Cursor, draft: Draft) -> PipelineSpec | None:
    cursor.check_name("pipeline", name)
    parts = cursor.mapping(f"pipeline {name!r}", PIPELINE_KEYS)
    if parts is None:
        return None
    inputs = parts["from"].names("`from`") if "from" in parts else None
    if "from" not in parts or inputs == ():
        cursor.wrong(
            "project.missing-key",
            f"Pipeline {name!r} does not say which stream it reads.",
            "Add `from: orders`.",
            on_key=True,
        )
    for stream in sorted({one for one in inputs or () if (inputs or ()).count(one) > 1}):
        parts["from"].wrong(
            "project.duplicate-input",
            f"Pipeline {name!r} reads stream {stream!r} twice.",
            "Name it once; to join it with itself, copy it in a pipeline of its own.",
        )
    to = parts["to"].text("`to`") if "to" in parts else name
    if to is not None and "to" in parts:
        parts["to"].check_name("stream", to)
    aggregate = _texts(parts["aggregate"]) if "aggregate" in parts else {}
    steps = _steps(parts["steps"], draft) if "steps" in parts else {}
    draft.step_paths[name] = tuple(steps)
    return PipelineSpec(
        name=name,
        inputs=inputs or (),
        to=to or name,
        steps=tuple(steps.values()),
        window=_plain(parts["window"], "a window") if "window" in parts else None,
        by=(parts["by"].names("`by`") or ()) if "by" in parts else (),
        aggregate=aggregate,
        join=_join(parts["join"]) if "join" in parts else None,
        dedupe=_dedupe(parts["dedupe"]) if "dedupe" in parts else None,
        reducer=parts["reducer"].text("`reducer`") if "reducer" in parts else None,
        sinks=read_sinks(parts["sinks"]) if "sinks" in parts else (),
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
    parts = cursor.mapping("a join", ("type", "on"))
    if parts is None:
        return None
    kind = parts["type"].choice("`type`", JOINS) if "type" in parts else "inner"
    if "on" not in parts:
        cursor.wrong(
            "project.missing-key", "The join does not say on which columns.", "Add `on: [id]`."
        )
        return None
    on = parts["on"]
    if isinstance(on.value, Mapping):
        pairs = [(str(left), parts["on"].child(left).text("`on`")) for left in on.value]
    else:
        pairs = [(name, name) for name in on.names("`on`") or ()]
    if not on.value:
        on.wrong("project.join", "The join is on no columns.", "Add `on: [id]`.", on_key=True)
    return {"type": kind or "inner", "on": [[left, right] for left, right in pairs if right]}


def _dedupe(cursor: Cursor) -> Mapping[str, Any] | None:
    parts = cursor.mapping("`dedupe`", ("by", "within_seconds"))
    if parts is None:
        return None
    by = parts["by"].names("`by`") if "by" in parts else ()
    within = 3600.0
    if "within_seconds" in parts:
        given = parts["within_seconds"]
        within = given.number("`within_seconds`", least=0.001, most=FOREVER_SECONDS) or within
    return {"by": list(by or ()), "within_seconds": within}


def _windows(cursor: Cursor) -> list[tuple[Path, Mapping[str, Any]]]:
    parts = cursor.mapping("`windowing`", ("windows",)) or {}
    if "windows" not in parts:
        return []
    found = []
    for item in parts["windows"].items("`windows`") or []:
        window = _plain(item, "a window")
        if window is not None:
            found.append((item.path, window))
    return found
