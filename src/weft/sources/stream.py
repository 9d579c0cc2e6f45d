"""Any declared source as one streaming frame in raw form. Called by the ingest spine.

A kind of source is a function `open_…(spark, stream, *, checkpoint, processing) -> DataFrame`. Its
frame has one row per record: `value` (its bytes; null where typed columns are delivered),
`partition`, `position` (stable within source and partition), `timestamp` (the source's own time of
the record, or null), and where the source has them `header` (of a CSV file), `columns` (a struct of
typed columns) and `bad` (why the record could not be delivered whole). Its offsets must give the
same rows each time they are read, and one batch admits at most `processing.queue_size` records.
What it has to remember it keeps in `<checkpoint>/source/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from weft.project.definition import Processing, StreamSpec
from weft.sources.feed import open_feed
from weft.sources.files import open_files
from weft.sources.kafka import open_kafka
from weft.sources.mock import open_mock
from weft.sources.options import SourceError
from weft.sources.parse import Parsing
from weft.sources.python import open_python
from weft.sources.raw import get_jvm
from weft.weaving.schema import nearest

TICK = "weft.kernel.source.TickSource"
KINDS: Mapping[str, Callable[..., DataFrame]] = {
    "mock": open_mock,
    "files": open_files,
    "kafka": open_kafka,
    "python": open_python,
}


def open_stream(
    spark: SparkSession,
    stream: StreamSpec,
    *,
    checkpoint: str | Path,
    processing: Processing,
    feed_dir: str | Path | None = None,
) -> DataFrame:
    """The records of a stream's source in raw form; with `feed_dir`, the feed in it instead of the
    source."""
    if feed_dir is not None:
        return open_feed(spark, feed_dir)
    kind = stream.source.kind if stream.source else ""
    if kind not in KINDS:
        near = nearest(kind, KINDS)
        raise SourceError(
            f"Stream {stream.name!r} has a source of kind {kind!r}, which there is not. "
            f"There is {', '.join(KINDS)}.",
            code="source.unknown-kind",
            hint=f"Did you mean {near!r}?" if near else "Use one of the kinds listed.",
            stream=stream.name,
        )
    return KINDS[kind](spark, stream, checkpoint=Path(checkpoint), processing=processing)


def parsing_of(stream: StreamSpec, *, fed: bool = False) -> Parsing:
    """How the records of this stream's source are parsed; those of a feed are always JSON."""
    options = stream.source.options if stream.source and not fed else {}
    return Parsing(
        schema=stream.schema,
        format="csv" if options.get("format") == "csv" else "json",
        event_time=stream.event_time,
        separator=str(options.get("separator", ",")),
    )


def with_tick(raw: DataFrame, name: str) -> DataFrame:
    """The same records, and a batch without any whenever `tick` asks for one under this name."""
    reader = raw.sparkSession.readStream.format(TICK).option("name", name)
    return raw.unionByName(reader.schema(raw.schema).load())


def tick(spark: SparkSession, name: str) -> None:
    """Ask for one batch of the query that reads this name, with data or without, now or when it
    starts."""
    get_jvm(spark).weft.kernel.source.TickSource.tick(name)
