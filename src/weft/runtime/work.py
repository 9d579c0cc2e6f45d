"""Work that needs data, asked for by the weaver: each kind is one method."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.clock import iso
from weft.errors import WeftError
from weft.lineage.identity import Identity
from weft.locations.location import locate
from weft.operations.cut import Cut, Span
from weft.replays.change import ReplayChange
from weft.replays.leg import Leg
from weft.runtime import checkpoints, session, undo
from weft.runtime.analysis import analyze
from weft.runtime.causes import find_causes
from weft.runtime.compacting import compact
from weft.runtime.compare import compare_rows
from weft.runtime.diff import diff
from weft.runtime.divide import divide
from weft.runtime.documents import find_document
from weft.runtime.fill import fill
from weft.runtime.find import (
    find_breaches,
    find_dropped,
    find_matching,
    find_members,
    find_panes,
    find_record,
)
from weft.runtime.forgetting import forget
from weft.runtime.key_index import KeyIndex
from weft.runtime.origins import find_filters, find_newest, find_origins, find_results
from weft.runtime.pools import beside
from weft.runtime.rerun import clear, rerun
from weft.runtime.trial import trial
from weft.runtime.walking import Look, walk_knot
from weft.sources.segment import JOURNAL, Segments
from weft.streams import compaction
from weft.streams.tables import Tables
from weft.weaving.rule import Rule
from weft.windows.state import read_windows

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

CHECKPOINT_WAIT_S = 55.0
PATIENT = frozenset(
    (
        *("try", "diff", "state", "record", "document", "causes", "matching", "breaches"),
        *("dropped", "members", "panes", "newest", "origins", "results", "walk", "rerun"),
        *("filters", "compare", "fill", "expire"),
    )
)
"""What lets pipelines go first; the rest holds them, or they wait for it."""


class Work:
    """What a worker can be asked to do."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._indexes: dict[str, KeyIndex] = {}

    def do(self, kind: str, arguments: dict[str, Any]) -> Any:
        """Do one piece of work and return its result."""
        known: dict[str, Callable[..., Any]] = {
            "checkpoint": self._checkpoint,
            "analyze": self._analyze,
            "reach": self._reach,
            "kept": self._kept,
            "files": self._files,
            "cut-checkpoint": self._cut_checkpoint,
            "cut-tables": self._cut_tables,
            "retract": self._retract,
            "restore": self._restore,
            "fill": self._fill,
            "unfill": self._unfill,
            "divide": self._divide,
            "try": self._try,
            "diff": self._diff,
            "state": self._state,
            "record": self._record,
            "document": self._document,
            "causes": self._causes,
            "matching": self._matching,
            "breaches": self._breaches,
            "dropped": self._dropped,
            "members": self._members,
            "panes": self._panes,
            "newest": self._newest,
            "origins": self._origins,
            "results": self._results,
            "filters": self._filters,
            "walk": self._walk,
            "rerun": self._rerun,
            "compare": self._compare,
            "clear": self._clear,
            "expire": self._expire,
            "compact": self._compact,
            "forget": self._forget,
        }
        if kind not in known:
            raise WeftError(
                f"This worker does not know the task '{kind}'.",
                code="worker.unknown-task",
                hint="Weaver and worker are of different versions; upgrade the worker.",
            )
        if kind not in PATIENT:
            return known[kind](**arguments)
        with beside(self._worker.spark):
            return known[kind](**arguments)

    def _analyze(self, schema: dict[str, Any], rule: dict[str, Any]) -> dict[str, Any]:
        """The columns that a rule makes of a stream, by Spark's own analysis of it."""
        return {"schema": analyze(self._worker.spark, self._worker.functions, schema, rule)}

    def _reach(self, pipelines: dict[str, list[int]]) -> dict[str, Any]:
        """How far back the state of pipelines is kept: from which batch of each epoch, and keyframes."""
        storage = self._worker.storage
        return {
            name: {
                "keyframes": checkpoints.keyframes(storage.pipeline(name)),
                "earliest": {
                    str(epoch): checkpoints.earliest_state(locate(storage.checkpoint(name, epoch)))
                    for epoch in epochs
                },
            }
            for name, epochs in pipelines.items()
        }

    def _files(self, streams: list[str]) -> dict[str, int]:
        """How many files the tables of streams lie in, those that were replaced a moment ago among them."""
        tables = {name: locate(self._worker.storage.table(name)) for name in streams}
        return {
            name: sum(file.endswith(".parquet") for file in table.names())
            for name, table in tables.items()
        }

    def _kept(self, pipelines: dict[str, list[int]]) -> dict[str, Any]:
        """What is kept of pipelines beside their tables: states, their bytes, and what journals begin with."""
        storage, found = self._worker.storage, self._reach(pipelines)
        for name, told in found.items():
            journal = Segments(locate(storage.source(name)) / JOURNAL).numbers()
            told["journal"] = min(journal, default=None)
            told["bytes"] = locate(storage.pipeline(name)).held()
        return found

    def _cut_checkpoint(self, operation: str, cut: dict[str, Any]) -> None:
        """Make the checkpoint of a pipeline anew as it was at a knot."""
        self._worker.check_operation(operation)
        undo.cut_checkpoint(self._worker, codec.from_form(Cut, cut))

    def _cut_tables(self, operation: str, cut: dict[str, Any]) -> None:
        """Take the rows of knots out of the tables of a pipeline, and bring others back."""
        self._worker.check_operation(operation)
        undo.cut_tables(self._worker, codec.from_form(Cut, cut), operation)

    def _retract(self, operation: str, pipeline: str, gone: dict[str, int], **_: Any) -> None:
        """Have sinks take rows back, while the rows are still in the table."""
        self._worker.check_operation(operation)
        undo.retract(self._worker, pipeline, codec.from_form(Span, gone))

    def _restore(self, operation: str, pipeline: str, back: list[Any], **_: Any) -> None:
        """Deliver rows to sinks again that came back into the table."""
        self._worker.check_operation(operation)
        undo.restore(self._worker, pipeline, [codec.from_form(Span, span) for span in back])

    def _fill(
        self, operation: str, rule: dict[str, Any], identity: dict[str, str], **options: Any
    ) -> list[dict[str, Any]]:
        """Weave recorded rows into the output of a rule."""
        self._worker.check_operation(operation)
        owner = codec.from_form(Identity, identity)
        parts = fill(self._worker, Rule.from_dict(rule), operation, owner, **options)
        return [codec.to_form(part) for part in parts]

    def _unfill(self, operation: str, stream: str, last: int, **_: Any) -> None:
        """Take everything that was filled into a stream out again."""
        self._worker.check_operation(operation)
        table = Tables(self._worker.spark, self._worker.storage).open(stream)
        if table.exists():
            compaction.cut(table, 0, last, {"operation": operation})

    def _divide(self, operation: str, **options: Any) -> dict[str, Any]:
        """Move the state of a pipeline to another number of partitions."""
        self._worker.check_operation(operation)
        return divide(self._worker, **options)

    def _try(self, rule: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Try a rule on recorded rows."""
        return codec.to_form(trial(self._worker, Rule.from_dict(rule), **options))

    def _document(self, **asked: Any) -> dict[str, Any] | None:
        """The newest row of a key of a changing stream."""
        return find_document(self._worker, self._indexes, **asked)

    def _causes(self, **asked: Any) -> list[dict[str, Any]]:
        """The changes that made a document what it is."""
        return [codec.to_form(cause) for cause in find_causes(self._worker, **asked)]

    def _record(self, **options: Any) -> list[dict[str, Any]]:
        """Look a record up by its id."""
        return find_record(self._worker, **options)

    def _matching(self, **asked: Any) -> list[dict[str, Any]]:
        """Rows for which a condition holds."""
        return find_matching(self._worker, **asked)

    def _breaches(self, **asked: Any) -> list[dict[str, Any]]:
        """Rows for which a condition does not hold, of the first knot that has any."""
        return find_breaches(self._worker, **asked)

    def _dropped(self, **asked: Any) -> list[dict[str, Any]]:
        """Rows in files that no table holds any longer."""
        return find_dropped(self._worker, **asked)

    def _members(self, **asked: Any) -> dict[str, Any]:
        """The records that a pane was made of."""
        return find_members(self._worker, **asked)

    def _panes(self, **asked: Any) -> dict[str, Any]:
        """The panes that a record came into."""
        return find_panes(self._worker, **asked)

    def _newest(self, **asked: Any) -> dict[str, Any] | None:
        """The newest change of a row's key, while the row is there."""
        return find_newest(self._worker, **asked)

    def _origins(self, **asked: Any) -> dict[str, Any]:
        """The rows that a result of a changing pipeline was made of."""
        return find_origins(self._worker, **asked)

    def _results(self, **asked: Any) -> dict[str, Any]:
        """The results of a changing pipeline that a row came into."""
        return find_results(self._worker, **asked)

    def _filters(self, **asked: Any) -> list[str]:
        """The filters of a product that leave a row out."""
        return find_filters(self._worker, **asked)

    def _walk(self, leg: dict[str, Any], look: dict[str, Any]) -> dict[str, Any]:
        """Walk a knot step by step."""
        walked = walk_knot(self._worker, codec.from_form(Leg, leg), codec.from_form(Look, look))
        return codec.to_form(walked)

    def _rerun(
        self, operation: str, leg: dict[str, Any], what_if: dict[str, Any]
    ) -> dict[str, Any]:
        """Run a leg of a replay."""
        report = rerun(
            self._worker,
            operation,
            codec.from_form(Leg, leg),
            codec.from_form(ReplayChange, what_if),
        )
        return codec.to_form(report)

    def _compare(self, operation: str, stream: str, after: int, upto: int) -> dict[str, Any]:
        """Compare what a replay has made with what is recorded."""
        self._worker.check_operation(operation, forward=True)
        return codec.to_form(compare_rows(self._worker, operation, stream, after, upto))

    def _clear(self, operation: str) -> None:
        """Remove what a replay has written."""
        clear(self._worker.storage, operation)

    def _expire(self, operation: str, stream: str, after: int, upto: int) -> dict[str, Any]:
        """Take the rows of old knots out of a table, and delete their files."""
        self._worker.check_operation(operation)
        table = Tables(self._worker.spark, self._worker.storage).open(stream)
        if not table.exists():
            return {"files": 0, "bytes": 0}
        compaction.expire(table, upto, {"operation": operation})
        self._worker.faults.reach("expired")
        deleted = table.delete_expired(after, upto)
        return {"files": deleted.files, "bytes": deleted.bytes}

    def _forget(self, operation: str, **options: Any) -> dict[str, Any]:
        """Let go of what is kept of the oldest knots of a pipeline beside their rows."""
        self._worker.check_operation(operation)
        return forget(self._worker, **options)

    def _compact(self, operation: str, **options: Any) -> dict[str, Any]:
        """Put the files of old knots together, and delete those that were replaced long enough ago."""
        self._worker.check_operation(operation)
        return compact(self._worker, operation, **options)

    def _diff(self, **options: Any) -> dict[str, Any]:
        """Compare two streams."""
        return codec.to_form(diff(self._worker, **options))

    def _state(
        self,
        pipeline: str,
        epoch: int,
        batch: int,
        knot: int,
        prefix: str,
        after: str | None,
        limit: int,
    ) -> dict[str, Any]:
        """A page of the windows that a pipeline keeps."""
        place = checkpoints.source_of(self._worker.storage, pipeline, knot, epoch)
        checkpoints.wait_for_commit(place, batch)
        found = read_windows(
            session.fork(self._worker.spark),
            place.address,
            batch=batch,
            prefix=prefix,
            after=after,
            limit=limit,
            state=self._worker.state_kind,
        )
        return {
            "entries": [
                {
                    "key": window.key,
                    "start": iso(window.start) if window.start else None,
                    "end": iso(window.end) if window.end else None,
                    "records": window.records,
                    "values": window.values,
                }
                for window in found
            ],
            "next": found[-1].position() if len(found) == limit else None,
        }

    def _checkpoint(self) -> dict[str, int]:
        """Every running pipeline ties a knot now; which, by pipeline."""
        threads = dict(self._worker.threads)
        before = {name: thread.run.counted.batches for name, thread in threads.items()}
        for thread in threads.values():
            thread.tick()
        deadline = time.monotonic() + CHECKPOINT_WAIT_S
        while time.monotonic() < deadline:
            if all(thread.run.counted.batches > before[name] for name, thread in threads.items()):
                break
            time.sleep(0.01)
        return {
            name: thread.run.tip.number
            for name, thread in threads.items()
            if thread.run.counted.batches > before[name] and thread.run.tip is not None
        }
