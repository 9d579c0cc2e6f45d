"""Whether the columns of a table are still those it was declared with: one that was dropped stops it before its rows
lose the values. Made with the thread of a pipeline; asked before each batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from weft.sinks.rows import FilePart, SharedRows
from weft.sources.drift import TableChangedError, check_types, missing
from weft.sources.envelope import envelope_columns
from weft.sources.feed import FeedEnd
from weft.sources.options import check_source

if TYPE_CHECKING:
    from weft.runtime.pipeline import RunningPipeline
    from weft.schema.schema import Schema

NEWEST = 3
"""So many events at a topic's end are looked at: a deletion comes with a record that has no value."""
MOST_FILES = 200
"""So many files of the stream are looked at, the newest first, for a value of a column."""


class End(Protocol):
    """The end of what a table is read from."""

    def read(self, most: int) -> list[bytes] | None: ...


class ColumnDrift:
    """The columns of a table as its newest event tells them.

    That of the topic, and not of the batch: events that are read again after a rollback may be older than a column. A
    column that no event has told yet was declared before it was first used, and is waited for.
    """

    def __init__(self, run: RunningPipeline) -> None:
        self._run = run
        self._end = _end(run)
        self._awaited: set[str] = set()

    def check(self) -> None:
        """Refuse to go on with a table that has lost a column which had values, or whose types do not fit."""
        values = self._end.read(NEWEST) if self._end is not None else None
        found = [columns for value in values or () if (columns := self._columns(value))]
        if values and not found:
            self._end = None  # a connector that writes no schemas tells nothing of columns, however often it is asked
        if not found:
            return
        name, declared = self._run.stream.name, self._run.stream.schema
        check_types(name, declared, found[-1])
        lacking = missing(declared, found[-1])
        self._awaited &= set(lacking)
        for column in lacking:
            if column not in self._awaited and self._had_values(column):
                listed = ", ".join(found[-1].names)
                raise TableChangedError(
                    name,
                    column,
                    f"it has no column {column!r} any longer. Its columns are {listed}",
                )
            self._awaited.add(column)

    def _columns(self, value: bytes) -> Schema | None:
        source = self._run.stream.source
        is_row = source is not None and bool(source.options.get("unwrapped"))
        return envelope_columns(value, unwrapped=is_row)

    def _had_values(self, column: str) -> bool:
        """Whether the stream has a value in a column, by what its files say of themselves."""
        table = self._run.tables.open(self._run.stream.name)
        knots = table.knots() if table.exists() else []
        newest = dict.fromkeys(file.path for knot in reversed(knots) for file in knot.files)
        parts = [FilePart(f"{table.path}/{path}") for path in list(newest)[:MOST_FILES]]
        rows = SharedRows(parts, [column])
        return any(batch.column(column).null_count < batch.num_rows for batch in rows.batches())


def _end(run: RunningPipeline) -> End | None:
    source = run.stream.source
    if source is None or source.kind != "debezium":
        return None
    if run.feed is not None:
        return None if source.options.get("transactions") else FeedEnd(run.feed)
    from weft.sources.debezium import DebeziumSource

    opened = check_source(run.stream.name, source.kind, source.options)
    assert isinstance(opened, DebeziumSource)
    return opened.newest()
