"""Runs windows on Spark: knots in as files, panes and late rows out, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions

from tests.unit.windows.model import Knot
from weft.windows.aggregate import Aggregate
from weft.windows.panes import State, attach
from weft.windows.window import WindowSpec

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BUCKETS = 2
SCHEMA = (
    "key string, value bigint, _weft struct<id: string, knot: bigint, at: timestamp, "
    "source: string, partition: int, event_time: timestamp, watermark: timestamp>, _control string"
)
VALUES = (Aggregate("values", "collect_list", ("value",)),)


def to_ms(moment: datetime | None) -> int | None:
    """A timestamp of Spark's as milliseconds since 1970."""
    if moment is None:
        return None
    return (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)


def to_text(ms: int | None) -> str | None:
    """Milliseconds since 1970 as a timestamp that Spark's JSON reader takes."""
    return (
        None
        if ms is None
        else (EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")
    )


def static_frame(spark: SparkSession, knots: list[Knot]) -> DataFrame:
    """The knots of a stream as one batch."""
    rows: list[dict[str, Any]] = []
    watermark, marks = None, []
    for number, knot in enumerate(knots, 1):
        for place, row in enumerate(knot.rows):
            weft = {
                "id": f"{number}-{place}",
                "knot": number,
                "event_time": to_text(row.at),
                "watermark": to_text(watermark),
            }
            rows.append({"key": row.key, "value": row.value, "_weft": weft})
        watermark = watermark if knot.watermark is None else knot.watermark
        marks.append([number, watermark])
    controls = [{"bucket": bucket, "knots": marks} for bucket in range(BUCKETS)]
    rows += [{"_control": json.dumps(control)} for control in controls]
    # A batch query with state finds Spark's state stores only once streaming was used.
    assert spark.streams.active is not None
    return spark.read.schema(SCHEMA).json(
        spark.sparkContext.parallelize([json.dumps(r) for r in rows], 2)
    )


@dataclass
class Answer:
    """What one batch gave: rows of panes, late rows and reports, by the number of the window."""

    panes: list[tuple[int, Any]] = field(default_factory=list)
    late: list[tuple[int, Any]] = field(default_factory=list)
    reports: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


@dataclass
class WindowRun:
    """One streaming query with a window operator for each specification, over one stream."""

    spark: SparkSession
    folder: Path
    specs: Sequence[WindowSpec]
    aggregates: Sequence[Aggregate] = VALUES
    by: Sequence[str] | dict[str, str] = ("key",)
    buckets: int = 3
    state: State = "rocksdb"
    answers: dict[int, Answer] = field(default_factory=dict)
    _knots: int = 0
    _watermark: int | None = None
    _query: Any = None

    def __post_init__(self) -> None:
        (self.folder / "in").mkdir(parents=True, exist_ok=True)

    def start(self) -> None:
        """Start the query, or go on from its checkpoint."""
        stream = (
            self.spark.readStream.schema(SCHEMA)
            .option("maxFilesPerTrigger", 1)
            .json(str(self.folder / "in"))
        )
        frames = [self._attach(stream, number, spec) for number, spec in enumerate(self.specs)]
        union = frames[0]
        for frame in frames[1:]:
            union = union.unionByName(frame)
        self._query = (
            union.writeStream.foreachBatch(self._take)
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .start()
        )

    def _attach(self, stream: DataFrame, number: int, spec: WindowSpec) -> DataFrame:
        attached = attach(
            stream,
            window=spec,
            by=self.by,
            aggregates=self.aggregates,
            buckets=self.buckets,
            pipeline=f"window-{number}",
            state=self.state,
        )
        return attached.withColumn("number", functions.lit(number))

    def _take(self, frame: DataFrame, batch: int) -> None:
        answer = Answer()
        for row in frame.collect():
            if row.pane is not None:
                answer.panes.append((row.number, row.pane))
            elif row.late is not None:
                answer.late.append((row.number, row.late))
            else:
                answer.reports.append((row.number, json.loads(row.control)))
        self.answers[batch] = answer

    def feed(self, knots: Iterable[Knot]) -> Answer:
        """Run one batch of these knots and return what it gave."""
        rows: list[dict[str, Any]] = []
        marks = []
        for knot in knots:
            self._knots += 1
            for place, row in enumerate(knot.rows):
                weft = {
                    "id": f"{self._knots}-{place:06d}",
                    "knot": self._knots,
                    "event_time": to_text(row.at),
                    "watermark": to_text(self._watermark),
                }
                rows.append({"key": row.key, "value": row.value, "_weft": weft})
            if knot.watermark is not None and (
                self._watermark is None or knot.watermark > self._watermark
            ):
                self._watermark = knot.watermark
            marks.append([self._knots, self._watermark])
        rows += [
            {"_control": json.dumps({"bucket": b, "knots": marks})} for b in range(self.buckets)
        ]
        batch = len(list((self.folder / "in").glob("*.json")))
        hidden = self.folder / "in" / f".{batch}"
        hidden.write_text("\n".join(json.dumps(row) for row in rows))
        hidden.rename(self.folder / "in" / f"{batch:05d}.json")
        self._query.processAllAvailable()
        return self.answers[batch]

    def restart(self, *, is_crash: bool) -> Answer:
        """Stop and go on; a crashed batch runs again. Returns what the last batch gave."""
        self.stop()
        last = max(self.answers)
        if is_crash:
            self._forget_commit()
            del self.answers[last]
        self.start()
        self._query.processAllAvailable()
        return self.answers[last]

    def stop(self) -> None:
        """Stop the query; `start` goes on where it was."""
        self._query.stop()

    def _forget_commit(self) -> None:
        """Take back Spark's record that the last batch is done, as if it had died before writing
        it.
        """
        commits = sorted(
            (
                path
                for path in (self.folder / "checkpoint" / "commits").iterdir()
                if path.name.isdigit()
            ),
            key=lambda path: int(path.name),
        )
        commits[-1].unlink()
        commits[-1].with_name(f".{commits[-1].name}.crc").unlink(missing_ok=True)


def pane_of(row: Any) -> tuple[Any, ...]:
    """A pane's row in the form in which it is compared with the model's."""
    window = row.window
    return (
        row.key,
        to_ms(window.start),
        to_ms(window.end),
        tuple(sorted(row["values"])),
        to_ms(window.timestamp),
        window.kind,
        window.revision,
        window.final,
        window.records,
    )
