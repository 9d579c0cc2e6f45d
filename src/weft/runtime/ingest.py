"""Source to stream: raw records become rows with an identity, an event time and a watermark."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from weft.clock import to_ms
from weft.gate.spark import select
from weft.lineage.ledger import Ledger
from weft.runtime.event_clock import EventClock
from weft.runtime.shape import row_ledger
from weft.runtime.spine import Written
from weft.schema.schema import Schema, literal, quoted
from weft.schema.weft import WEFT
from weft.sources.feed import Feed
from weft.sources.parse import parse
from weft.sources.stream import open_stream, parsing_of
from weft.steps.step import Step
from weft.streams.intake import LOOK_MS, Intake, over, source_inlet, tick_inlet
from weft.weaving.weave import Weave
from weft.windows.watermark import Watermarks

if TYPE_CHECKING:
    from weft.runtime.pipeline import Pinned, RunningPipeline

MINUTE_MS = 60_000


class Ingest:
    """Reads the source of a stream; what cannot be read becomes a dead letter with its bytes and reason."""

    operator = False
    counts_state = True

    def __init__(self, run: RunningPipeline) -> None:
        self._run = run
        self._clock = EventClock(run.stream.watermarks)
        self._parsing = parsing_of(run.stream, fed=run.feed is not None)
        self._raw: DataFrame | None = None
        """The source as a streaming frame, which says what is made of its rows."""

    @property
    def schema(self) -> Schema:
        return self._run.stream.schema

    @property
    def steps(self) -> tuple[Step, ...]:
        return ()

    @property
    def partitions(self) -> int:
        return self._run.project.processing.parallelism

    def open(self) -> Intake:
        run = self._run
        self._raw = open_stream(
            run.spark,
            run.stream,
            checkpoint=run.storage.source(run.stream.name),
            processing=run.project.processing,
            feed_dir=run.feed,
        )
        source = source_inlet(self._raw, f"{run.checkpoint}/sources/0")
        every_ms = round(run.project.processing.checkpoint_interval * 1000)
        self._intake = Intake(
            run.spark,
            [source, tick_inlet(run.spark, run.name)],
            wakes=[run.name],
            look_ms=max(every_ms, LOOK_MS),
        )
        return self._intake

    def taken(self, batch: int) -> DataFrame:
        taken = self._run.taken(batch)
        return self._intake.rows([self._intake.batch(0, taken.after[0], taken.upto[0])])

    def state_size(self) -> None:
        return None

    @property
    def is_steady(self) -> bool:
        return self._run.stream.watermarks.ahead != "dead"

    def prepare(self, frame: DataFrame, pinned: Pinned) -> DataFrame:
        raw = frame if self._raw is None else over(frame, self._raw)
        rows = parse(raw, self._parsing, source=self._run.stream.name)
        columns = [(name, quoted(name)) for name in self.schema.names]
        weft = arrived(self._run.stream.name)
        system = [(WEFT, weft), ("_weft_bad", self._reason(pinned)), ("_weft_raw", "_raw")]
        if self._run.raw is not None:
            system.append(("_weft_given", "_given"))
        return select(rows, [[*columns, *system]])

    def time(self, pinned: Pinned, written: Written) -> Watermarks:
        return self._clock.advance(pinned, written, self._stated(pinned))

    def latest_ms(self, pinned: Pinned) -> int:
        return self._clock.latest_ms(pinned)

    def is_due(self, now: datetime) -> bool:
        return self._clock.is_due(now)

    def ledger(self, weave: Weave, written: Written) -> Ledger:
        return row_ledger(weave, written)

    def _reason(self, pinned: Pinned) -> str:
        """Why a row is dead on arrival: it cannot be read, or comes from the future where that is refused."""
        spec = self._run.stream.watermarks
        if spec.ahead != "dead":
            return "_bad"
        limit = self.latest_ms(pinned)
        # Rounded up to a minute: the same literal for many batches keeps Spark's generated code.
        limit += -limit % MINUTE_MS
        return (
            f"CASE WHEN _bad IS NULL AND _event_time > timestamp_millis({limit}) "
            f"THEN 'its event time is more than {spec.max_ahead_seconds:g} s ahead of the clock' "
            "ELSE _bad END"
        )

    def _stated(self, pinned: Pinned) -> int | None:
        """The watermark that a test stated with the segment of this batch."""
        if self._run.feed is None:
            return None
        end = pinned.knot.offsets.end[0]
        stated = Feed(self._run.feed).watermark(end["segment"]) if end else None
        return to_ms(stated) if stated else None


def arrived(stream: str) -> str:
    """SQL of `_weft` for records that were just read: who they are and their time; the knot is stamped as they are
    written."""
    return (
        "named_struct('id', _id, 'knot', CAST(0 AS BIGINT), 'at', CAST(NULL AS TIMESTAMP), "
        f"'source', {literal(stream)}, 'partition', _partition, "
        "'event_time', _event_time, 'watermark', CAST(NULL AS TIMESTAMP))"
    )
