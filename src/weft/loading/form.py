"""The keys of a project file, of its streams and of its pipelines. Read by `read`; the reference and the schema for
editors are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from weft.declared.key import Key, keys
from weft.declared.limit import FLAG, TEXT, Fault, Limit, names, shape
from weft.project.provenance import KEY as PROVENANCE
from weft.sources.debezium import DebeziumSource
from weft.sources.kafka import TOPIC

MAX_TITLE = 200
_USERS = {"email": "string", "username": "string"}
_WINDOW = {"type": "tumbling", "size_ms": 60_000}
_AGGREGATE = {"orders": "count(*)", "revenue": "sum(total)"}


def _part(expected: str) -> Limit:
    """Something with keys of its own, which is read by itself."""
    return shape(expected, {})


@dataclass(frozen=True)
class Windowing:
    """Windows over every stream that has a source; each is a pipeline of its own, which counts records."""

    windows: Annotated[
        Any,
        Key(
            _part("a list of windows"),
            "The windows; their pipelines are called `<stream>-<type>-<lengths>`.",
            [{"type": "tumbling", "size_ms": 60_000}],
            unsaid="none",
        ),
    ]


@dataclass(frozen=True)
class ProjectKeys:
    """What stands at the top of the file."""

    app_name: Annotated[
        Any,
        Key(
            TEXT,
            f"The project's title: a text on one line of at most {MAX_TITLE} characters.",
            "shop",
        ),
    ]
    debug: Annotated[Any, Key(FLAG, "Whether more is logged.", True)] = False
    storage: Annotated[
        Any,
        Key(
            TEXT,
            "Where `weft up` keeps streams and checkpoints: a folder, from this file's on, `s3a://BUCKET/FOLDER` or "
            "`hdfs://HOST:PORT/FOLDER`.",
            "s3a://shop/weft",
            unsaid="`.weft` beside this file",
        ),
    ] = None
    processing: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "How batches are cut and where state lives: [processing](#processing).",
            {"parallelism": 4},
            unsaid="its defaults",
        ),
    ] = None
    watermarks: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "How time goes on in all streams: [watermarks](#watermarks).",
            {"delay_seconds": 2.0},
            unsaid="its defaults",
        ),
    ] = None
    streams: Annotated[
        Any,
        Key(
            _part("a mapping of name to stream"),
            "The streams that come from outside, and what is to be said of others: [streams](#streams).",
            {"orders": {"source": "mock"}},
            unsaid="without `pipelines`, one stream `events` from the mock source",
        ),
    ] = None
    pipelines: Annotated[
        Any,
        Key(
            _part("a mapping of name to pipeline"),
            "What is made of streams: [pipelines](#pipelines).",
            {"copy": {"from": "orders"}},
            unsaid="none",
        ),
    ] = None
    tables: Annotated[
        Any,
        Key(
            _part("a mapping of name to table"),
            "Tables of a database whose changes come in: [tables](#tables).",
            {
                "users": {
                    "topic": "app.public.users",
                    "key": ["email"],
                    "columns": {"email": "string"},
                }
            },
            unsaid="none",
        ),
    ] = None
    products: Annotated[
        Any,
        Key(
            _part("a mapping of name to product"),
            "Nested documents that follow the changes of tables: [products](#products).",
            {"user-profile": {"root": "users", "fields": ["username"]}},
            unsaid="none",
            beside={"tables": {"users": {"topic": "users", "key": "email", "columns": _USERS}}},
        ),
    ] = None
    windowing: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "Windows over every source stream: [windowing](#windowing).",
            {"windows": [{"type": "tumbling", "size_ms": 60_000}]},
            unsaid="none",
        ),
    ] = None


@dataclass(frozen=True)
class StreamKeys:
    """A stream has a source, or a pipeline writes it; then it needs no more than its name, if anything."""

    source: Annotated[
        Any,
        Key(
            _part("a kind of source with its options"),
            "Where its records come from: [sources](#sources).",
            {"mock": {"rate": 100}},
            unsaid="the pipeline that writes it",
        ),
    ] = None
    schema: Annotated[
        Any,
        Key(
            _part("a mapping of column to type"),
            "Its columns and their types: [types](#types).",
            {"id": "long", "total": "decimal(10,2)", "at": "timestamp"},
            unsaid="as the files, the mock source or the pipeline have it",
        ),
    ] = None
    key: Annotated[
        Any,
        Key(
            names(),
            "The columns by which its records belong together. A field of a struct is named with dots.",
            "id",
            unsaid="none",
        ),
    ] = None
    event_time: Annotated[
        Any,
        Key(
            TEXT,
            "The column that says when a record happened, a timestamp. A field of a struct is named with dots.",
            "at",
            unsaid="none: no windows",
        ),
    ] = None
    watermarks: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "How time goes on in this stream: [watermarks](#watermarks).",
            {"delay_seconds": 5.0},
            unsaid="those of the project",
        ),
    ] = None
    history: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "How long its rows are kept: [history](#history).",
            {"keep_days": 30, "keep_mb": 10_240},
            unsaid="for ever",
        ),
    ] = None
    watch: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "Which of its values are watched for what is unusual: [watch](#watch).",
            {"of": "total", "by": "country"},
            unsaid="the stream as a whole, and its columns",
        ),
    ] = None
    sinks: Annotated[
        Any,
        Key(
            _part("a list of sinks"),
            "Where its records go besides its table: [sinks](#sinks).",
            [{"console": {}}],
            unsaid="none",
        ),
    ] = None
    provenance: Annotated[Any, PROVENANCE] = None


def _one_origin(written: Mapping[str, Any]) -> Fault | None:
    """A table's changes come from a topic, or from another source, which has its own options."""
    if "source" not in written:
        if "topic" in written:
            return DebeziumSource.together(written)
        return Fault(
            "missing-key", "or `source`", ("topic",), hint="Add `topic: app.public.users`."
        )
    beside = [name for name in keys(DebeziumSource) if name in written]
    if beside:
        expected = "left out, or below `source`, which says where changes come from"
        return Fault("unknown-value", expected, (beside[0],))
    return None


@dataclass(frozen=True, kw_only=True)
class TableKeys(DebeziumSource):
    """A table of a database: a stream of its changes, of which each replaces the row before with its key.

    Changes come from a topic of Debezium's, under the keys of the source `debezium`, or from another `source`.
    """

    together = staticmethod(_one_origin)

    topic: Annotated[str, replace(TOPIC, unsaid="needed, unless `source` is said")] = ""
    source: Annotated[
        Any,
        Key(
            _part("a kind of source with its options"),
            "Where its changes come from, without Kafka: [postgres](#source-postgres).",
            {"postgres": {"url": "postgresql://app@localhost/shop"}},
            unsaid="the topic",
        ),
    ] = None
    key: Annotated[
        Any,
        Key(names(), "The columns of its primary key.", ["email"]),
    ]
    columns: Annotated[
        Any,
        Key(
            _part("a mapping of column to type"),
            "Its columns and their types: [types](#types). Columns that are not named are left out.",
            {"email": "string", "joined": "timestamp"},
            unsaid="as the schema in its events, or the database has it",
        ),
    ] = None
    sinks: Annotated[
        Any,
        Key(
            _part("a list of sinks"),
            "Where its changes go besides their table: [sinks](#sinks).",
            [{"console": {}}],
            unsaid="none",
        ),
    ] = None
    provenance: Annotated[Any, PROVENANCE] = None


@dataclass(frozen=True)
class PipelineKeys:
    """A pipeline does what it needs of this, in this order: `dedupe` or `join`; `steps`; `window` with `by` and
    `aggregate` or `reducer`, or `group`, or `top`."""

    inputs: Annotated[
        Any,
        Key(
            names("a stream"),
            "The stream that it reads, or several with the same columns.",
            "orders",
            name="from",
        ),
    ]
    dedupe: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "Drops records that were there before: [dedupe](#dedupe).",
            {"by": ["id"], "within_seconds": 600},
            unsaid="none",
        ),
    ] = None
    join: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "Puts two streams side by side: [join](#join).",
            {"on": {"id": "order_id"}},
            unsaid="none",
            beside={"from": ["orders", "payments"], "window": _WINDOW},
        ),
    ] = None
    steps: Annotated[
        Any,
        Key(
            _part("a list of steps"),
            "What is done to each record, one after the other: [steps](#steps).",
            [{"filter": "total > 0"}, {"set": {"email": "lower(email)"}}],
            unsaid="none",
        ),
    ] = None
    window: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "Which slices of time records go into: [windows](#windows).",
            _WINDOW,
            unsaid="none",
            beside={"aggregate": _AGGREGATE},
        ),
    ] = None
    by: Annotated[
        Any,
        Key(
            names(),
            "What a window groups by.",
            ["country"],
            unsaid="all records together",
            beside={"window": _WINDOW, "aggregate": _AGGREGATE},
        ),
    ] = None
    aggregate: Annotated[
        Any,
        Key(
            _part("a mapping of column to aggregate"),
            "The columns of a window's panes: [aggregates](#aggregates).",
            _AGGREGATE,
            unsaid="none",
            beside={"window": _WINDOW},
        ),
    ] = None
    reducer: Annotated[
        Any,
        Key(
            TEXT,
            "A Python class that makes the rows of panes: [how to call Python](../how-to/python-functions.md).",
            "rules:Basket",
            unsaid="none",
            beside={"window": _WINDOW},
        ),
    ] = None
    group: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "Groups the rows of a changing stream: [group](#group).",
            {"by": ["city"], "aggregate": {"customers": "count(*)"}},
            unsaid="none",
            beside={"from": "customers"},
        ),
    ] = None
    top: Annotated[
        Any,
        Key(
            _part("a mapping"),
            "Keeps the first rows of a changing stream: [top](#top).",
            {"order": ["joined desc"], "limit": 10},
            unsaid="none",
            beside={"from": "customers"},
        ),
    ] = None
    to: Annotated[
        Any,
        Key(TEXT, "The stream that it writes.", "clean-orders", unsaid="the pipeline's name"),
    ] = None
    sinks: Annotated[
        Any,
        Key(
            _part("a list of sinks"),
            "Where its records go besides their table: [sinks](#sinks).",
            [{"console": {}}],
            unsaid="none",
        ),
    ] = None
