"""The mock source: seeded records at a set pace, so that two runs are equal however their batches are cut. What a
project file says of it is here; the records are made in `generate`, and Spark reads them in `spark.mock`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from weft.declared.key import Key
from weft.declared.limit import LARGEST, Limit, Mistake, number, whole
from weft.declared.read import nested
from weft.project.definition import StreamSpec
from weft.sources.options import LONGEST_MS, Again, Opening, Source
from weft.sources.pace import SPEED, Burst

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START = "2026-01-01T00:00:00Z"
KEYS = 1000


def _rate(value: Any) -> Mistake | None:
    return None if value in ("max", 0) and value is not False else SPEED.judge(value)


def _start(value: Any) -> Mistake | None:
    if value == "now" or isinstance(value, datetime):
        return None
    if not isinstance(value, str):
        return "wrong-type"
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return "unknown-value"
    return None


RATE = Limit(f"{SPEED.expected}, or max", _rate, {"anyOf": [SPEED.schema, {"enum": ["max", 0]}]})
MOMENT = Limit("a time such as 2026-01-01T00:00:00Z, or now", _start, {"type": "string"})


@dataclass(frozen=True)
class MockSource(Source):
    """Made-up records that are the same in every run. Without a `schema` they are orders of a shop."""

    rate: Annotated[
        float | Literal["max"], Key(RATE, "Records a second, or as many as can be.", 50)
    ] = 100
    seed: Annotated[int, Key(whole(0, LARGEST), "Another seed makes other records.", 7)] = 0
    bursts: Annotated[
        Burst | None,
        Key(
            nested(Burst, "{every_s: 60, times: 10, for_s: 5}"),
            "Times of a higher rate.",
            {"every_s": 60, "times": 10, "for_s": 5},
            unsaid="none",
        ),
    ] = None
    disorder_ms: Annotated[
        int, Key(whole(0, LONGEST_MS), "How far records may be out of order.", 1500)
    ] = 0
    bad_share: Annotated[
        float, Key(number(0, 1), "Which share of the records cannot be read.", 0.01)
    ] = 0.0
    keys: Annotated[
        int | None, Key(whole(1, 2**53), "How many different keys there are.", 50, unsaid=str(KEYS))
    ] = None
    skew: Annotated[
        float | None,
        Key(number(0, 1000), "How much more often some keys come than others.", 1.2, unsaid="0"),
    ] = None
    events: Annotated[
        int, Key(whole(0, 10**15), "How many records there are in all; 0 is without end.", 10_000)
    ] = 0
    partitions: Annotated[
        int | None,
        Key(whole(1, 10_000), "How many partitions it has.", 4, unsaid="`parallelism`"),
    ] = None
    start: Annotated[
        str,
        Key(MOMENT, "The event time of the first record, or `now`.", "now"),
    ] = START

    @property
    def first(self) -> datetime:
        """The event time of the first record."""
        if self.start == "now":
            return datetime.now(UTC)
        given: Any = self.start
        moment = given if isinstance(given, datetime) else datetime.fromisoformat(given)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def open(self, spark: SparkSession, stream: StreamSpec, opening: Opening) -> DataFrame:
        """The records in raw form."""
        from weft.sources.spark.mock import open_mock

        return open_mock(spark, self, stream, opening)

    def again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The records made anew: they are the same in every run."""
        from weft.sources.spark.mock import mock_again

        return mock_again(spark, self, stream, asked)
