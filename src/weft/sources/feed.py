"""The source of the test kit: what a test appends is, segment by segment, exactly one micro-batch
each. Written in the test's process, read by the kernel, again and again with the same result."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from weft.locations.location import Addressed, locate
from weft.sources.options import Again, Source
from weft.sources.segment import Record, Segments, encode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = "weft.kernel.source.FeedSource"


@dataclass(frozen=True)
class FeedSource(Source):
    """What a test of the project feeds: [how to test a project](../how-to/test-a-project.md)."""


class Feed:
    """A folder of segments that a test appends to and a stream reads from."""

    def __init__(self, folder: Addressed) -> None:
        self._segments = Segments(folder)
        self._last = max(self._segments.numbers(), default=0)

    def append(
        self,
        records: Iterable[Record] = (),
        *,
        partition: int = 0,
        watermark: datetime | int | None = None,
    ) -> int:
        """Append one micro-batch and return its segment number. It may hold no record, and state a
        watermark.

        A watermark is an aware datetime or milliseconds since 1970.
        """
        stated = {} if watermark is None else {"watermark": _millis(watermark)}
        encoded = [(partition, encode(record)) for record in records]
        self._last = self._segments.append(encoded, number=self._last + 1, stated=stated)
        return self._last

    def watermark(self, segment: int) -> datetime | None:
        """The watermark stated with a segment, or None."""
        stated = self._segments.get(segment).stated.get("watermark")
        return None if stated is None else datetime.fromtimestamp(stated / 1000, UTC)


class FeedEnd:
    """The newest records of a feed, as a topic's end tells them."""

    def __init__(self, folder: Addressed) -> None:
        self._segments = Segments(folder)
        self._last = 0

    def read(self, most: int) -> list[bytes] | None:
        """The last records, the newest last; None: as when last asked."""
        last = max(self._segments.numbers(), default=0)
        if last == self._last:
            return None
        self._last = last
        return [value for _, value in self._segments.get(last).records()][-most:]


def open_feed(spark: SparkSession, folder: Addressed) -> DataFrame:
    """The feed in this folder in raw form."""
    place = locate(folder).address
    return spark.readStream.format(FORMAT).option("path", place).load()


def read_segments(spark: SparkSession, folder: Addressed, asked: Again) -> DataFrame:
    """What the segments in a folder hold between two offsets, in raw form; refuses those that are gone."""
    check_segments(folder, asked)
    reader = spark.read.format(FORMAT).option("path", locate(folder).address)
    for name, offset in (("from", asked.start), ("to", asked.end)):
        if offset is not None:
            reader = reader.option(name, json.dumps(offset))
    return reader.load()


def check_segments(folder: Addressed, asked: Again) -> None:
    """Refuse segments between two offsets that are gone, or not as they were written."""
    first = asked.start["segment"] if asked.start else 0
    for number in range(first + 1, (asked.end["segment"] if asked.end else first) + 1):
        Segments(folder).get(number).check()


def _millis(moment: datetime | int) -> int:
    return moment if isinstance(moment, int) else round(moment.timestamp() * 1000)
