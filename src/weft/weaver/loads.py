"""The load of every pipeline over time: what workers measure comes in, histories are kept and stored page by page.

A page is an hour of minutes or a day of quarters, written again with each row that it gains. The last seconds are in
memory alone: a weaver that starts begins with minutes.
"""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass

from weft.clock import Clock
from weft.codec import StoredError
from weft.logs import get_logger
from weft.scaling.history import KEPT_S, MEASURES, LoadHistory, LoadPoint, LoadRow, repacked
from weft.scaling.measured import ExecutorsNow, PipelineWork
from weft.weaver.store.records import Records, put, remove

log = get_logger(__name__)

PAGES = {60: 3_600, 900: 86_400}
"""The levels that are stored, and the seconds of a page of each."""
NOT_KNOWN = float("nan")


@dataclass(frozen=True)
class LoadPage:
    """Rows of one level of one pipeline, packed, and which measures they have."""

    pipeline: str
    step_s: int
    start_s: int
    measures: tuple[str, ...]
    rows: str
    """In base64."""


@dataclass(frozen=True)
class LoadView:
    """The load of a pipeline in steps of some seconds, oldest first."""

    pipeline: str
    stream: str
    step_s: int
    rows: tuple[LoadRow, ...]


class Loads:
    """The histories of all pipelines of a store."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._histories: dict[str, LoadHistory] = {}

    def history(self, pipeline: str) -> LoadHistory:
        """What is known of a pipeline's load."""
        if pipeline not in self._histories:
            self._histories[pipeline] = self._restored(pipeline)
        return self._histories[pipeline]

    def add(self, pipeline: str, point: LoadPoint) -> None:
        """Take in what was measured of a pipeline."""
        history = self.history(pipeline)
        writes = []
        for step, start in history.add(point):
            if step not in PAGES:
                continue
            begin = start - start % PAGES[step]
            rows = history.page(step, begin, begin + PAGES[step])
            page = LoadPage(pipeline, step, begin, MEASURES, base64.b64encode(rows).decode())
            writes.append(put("loads", pipeline, step, begin, value=page))
            if start == begin:
                old = begin - KEPT_S[step] - PAGES[step]
                writes.append(remove("loads", pipeline, step, max(0, old)))
        if writes:
            self._records.store.apply(writes, durable=False)

    def _restored(self, pipeline: str) -> LoadHistory:
        history = LoadHistory()
        oldest = self._clock.now().timestamp()
        for step in PAGES:
            for page in self._records.scan(LoadPage, "loads", pipeline, step):
                if page.start_s + PAGES[step] < oldest - KEPT_S[step]:
                    continue
                try:
                    rows = base64.b64decode(page.rows)
                    if page.measures != MEASURES:
                        rows = repacked(rows, page.measures)
                    history.restore(step, rows)
                except (StoredError, ValueError, struct.error) as error:
                    log.warning("a page of the load of %s is left out: %s", pipeline, error)
        return history


def point_of(
    at_s: float,
    work: PipelineWork,
    executors: ExecutorsNow,
    *,
    complexity: float = NOT_KNOWN,
    backlog: float | None = None,
    watermark_ms: int | None = None,
) -> LoadPoint:
    """What a worker measured of a pipeline as a point of its history."""
    seconds = max(work.seconds, 1e-3)
    served = _share(work.rows_in, work.run_s) if work.rows_in else NOT_KNOWN
    behind = NOT_KNOWN if backlog is None else backlog
    return LoadPoint(
        at_s=at_s,
        rate_in=work.came / seconds,
        rate_out=work.rows_out / seconds,
        backlog=behind,
        backlog_s=_share(behind, served * executors.cores) if behind else 0.0,
        batch_ms=_share(work.batch_s * 1000, work.batches),
        per_core_s=served,
        complexity=complexity,
        executors=float(executors.running),
        cpu=_share(work.cpu_s, seconds * executors.cores),
        memory=float(executors.memory),
        watermark_lag_s=NOT_KNOWN if watermark_ms is None else at_s - watermark_ms / 1000,
        batch_records=_share(work.rows_in, work.batches) if work.rows_in else NOT_KNOWN,
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else NOT_KNOWN
