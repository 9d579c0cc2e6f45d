"""Any declared source as one streaming frame in raw form. Called by the ingest spine.

A kind of source is a declaration with `open(spark, stream, opening) -> DataFrame`; `options` lists
them. Its frame has one row per record: `value` (its bytes; null where typed columns are delivered),
`partition`, `position` (stable within source and partition), `timestamp` (the source's own time of
the record, or null), and where the source has them `header` (of a CSV file), `columns` (a struct of
typed columns) and `bad` (why the record could not be delivered whole). Its offsets must give the
same rows each time they are read, and one batch admits at most `processing.queue_size` records.
What it has to remember it keeps in `<checkpoint>/source/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from weft.locations.location import Addressed, locate
from weft.project.definition import StreamSpec
from weft.project.settings import Processing
from weft.schema.change import with_change
from weft.schema.path import ColumnPath, find_path
from weft.sources.feed import open_feed, read_segments
from weft.sources.options import Again, Opening, check_source, tells_changes
from weft.sources.parse import Parsing, Told


def open_stream(
    spark: SparkSession,
    stream: StreamSpec,
    *,
    checkpoint: Addressed,
    processing: Processing,
    feed_dir: Addressed | None = None,
) -> DataFrame:
    """The records of a stream's source in raw form, or those of the feed in `feed_dir`."""
    if feed_dir is not None:
        return open_feed(spark, feed_dir)
    kind = stream.source.kind if stream.source else ""
    options = stream.source.options if stream.source else {}
    source = check_source(stream.name, kind, options)
    return source.open(spark, stream, Opening(locate(checkpoint), processing))


def open_again(
    spark: SparkSession, stream: StreamSpec, asked: Again, *, feed_dir: Addressed | None = None
) -> DataFrame:
    """What a stream's source, or the feed in `feed_dir`, gave between two offsets, as a plain frame."""
    if feed_dir is not None:
        return read_segments(spark, feed_dir, asked)
    kind = stream.source.kind if stream.source else ""
    options = stream.source.options if stream.source else {}
    source = check_source(stream.name, kind, options)
    return source.again(spark, stream, asked)


def parsing_of(stream: StreamSpec, *, fed: bool = False) -> Parsing:
    """How the records of this stream's source are parsed; those of a feed are always JSON, which of a stream of changes
    are change events too."""
    if stream.source and tells_changes(stream.source.kind):
        return _changes(stream, stream.source.options)
    options = stream.source.options if stream.source and not fed else {}
    return Parsing(
        schema=stream.schema,
        format="csv" if options.get("format") == "csv" else "json",
        event_time=_event_time(stream),
        separator=str(options.get("separator", ",")),
    )


def _changes(stream: StreamSpec, options: Mapping[str, Any]) -> Parsing:
    return Parsing(
        schema=with_change(stream.schema),
        format="debezium",
        event_time=_event_time(stream),
        key=stream.key,
        times=str(options.get("times", "auto")),
        told=_told(options),
    )


def _told(options: Mapping[str, Any]) -> Told:
    if options.get("transactions"):
        return "transactions"
    return "rows" if options.get("unwrapped") else "changes"


def _event_time(stream: StreamSpec) -> ColumnPath | None:
    return find_path(stream.event_time, stream.schema) if stream.event_time else None
