"""A sink that keeps an ordinary Delta table as its documents are: rows of a changing stream are merged into it by key.

The table is written by delta-rs, without Spark. Which knot it has come to is a transaction identifier of Delta's own,
in the commit that merges the knot: both are there or neither is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError, TableNotFoundError

from weft.declared.key import Key
from weft.declared.limit import stored_at
from weft.locations.bucket import delta_options
from weft.reason import one_line
from weft.schema.change import CHANGE, GONE
from weft.sinks.options import Options
from weft.sinks.rows import Rows
from weft.sinks.sink import Promise, Sink, SinkError, Target

T = TypeVar("T")

OP = "_weft_op"
"""The column of what is merged that says whether a row comes or goes; no column of a user begins so."""


@dataclass(frozen=True)
class DeltaOptions(Options):
    """Keeps a Delta table as the documents of a product or the results of a query are, by merging what changed. Exactly
    once, for every reader of Delta."""

    path: Annotated[
        str,
        Key(
            stored_at("s3a"),
            "The table's folder, from the project file on, or a bucket's; it is made if it is not there.",
            "lake/profiles",
        ),
    ]

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"the Delta table in {self.path}"

    def open(self, target: Target) -> Sink:
        """The sink."""
        return DeltaSink(self, target)


class DeltaSink:
    """Exactly once: the commit of a knot says that it was this one, and one that is in the table is not merged again.

    Of two workers that merge at once one fails, as Delta has it, and finds on the next try how far the other came.
    """

    promise: Promise = "exactly once"

    def __init__(self, options: DeltaOptions, target: Target) -> None:
        self._path = options.path
        self._storage = delta_options(options.path)
        self._target = target
        self._columns = [name for name in target.columns if name != CHANGE]
        owner = "/".join(("weft", target.app, target.pipeline, target.stream))
        self._owner = owner
        self._reached = f"{owner}/{target.history}"
        self._cut = f"{owner}/{target.history}/cut"

    def deliver(self, knot: int, rows: Rows) -> None:
        """Merge the rows of a knot, unless the table has them; no rows, no commit.

        A table that knows nothing of this life of the stream gets all that is in the stream by now.
        """
        reached = self.delivered()
        if reached is None and self._target.standing is not None:
            rows = self._target.standing(knot)
        if rows.count and knot > (reached or 0):
            self._merge(rows, {self._reached: knot})

    def delivered(self) -> int | None:
        """The last knot that is in the table."""
        table = self._open()
        return None if table is None else table.transaction_version(self._reached)

    def retract(self, knots: range, rows: Rows) -> None:
        """Give the keys of these knots what they had before; what had not reached the table is left out."""
        table = self._open()
        reached = None if table is None else table.transaction_version(self._reached)
        if table is None or not knots or reached is None or knots[0] > reached:
            return
        is_cut = knots[-1] <= (table.transaction_version(self._cut) or 0)
        if rows.before is not None and not is_cut:
            self._merge(rows.before, {self._cut: knots[-1]})

    def restore(self, knot: int, rows: Rows) -> None:
        """Merge the rows of a knot again that was taken back; done again, it leaves the same rows."""
        reached = self.delivered()
        if reached is not None and rows.count:
            self._merge(rows, {self._reached: max(reached, knot), self._cut: 0})

    def close(self) -> None:
        """Nothing is held."""

    def _merge(self, rows: Rows, said: dict[str, int]) -> None:
        """Commit rows and transaction identifiers together."""
        changes = self._changes(rows)
        said = {self._owner: 0, **said}
        commit = CommitProperties(app_transactions=[Transaction(*one) for one in said.items()])
        table = self._open()
        if table is None or self._is_of_another_life(table):
            there = changes.filter(pc.not_equal(changes[OP], GONE)).drop_columns([OP])
            self._tried(
                lambda: write_deltalake(
                    self._path,
                    there,
                    mode="overwrite",
                    schema_mode="overwrite",
                    commit_properties=commit,
                    storage_options=self._storage,
                )
            )
            return
        self._tried(lambda: self._merged(table, changes, commit))

    def _merged(self, table: DeltaTable, changes: pa.Table, commit: CommitProperties) -> None:
        own = {name: f"s.{_quoted(name)}" for name in self._columns}
        key = self._target.key
        # Null is a value of a key too: that of a row without a partner, or of a group.
        same = [f"(t.{_quoted(name)} IS NOT DISTINCT FROM s.{_quoted(name)})" for name in key]
        targets = {_quoted(name): sql for name, sql in own.items()}
        changed = {name: sql for name, sql in targets.items() if name not in map(_quoted, key)}
        merging = table.merge(
            changes,
            predicate=" AND ".join(same),
            source_alias="s",
            target_alias="t",
            merge_schema=True,
            commit_properties=commit,
        ).when_matched_delete(predicate=f"s.{OP} = '{GONE}'")
        if changed:
            merging = merging.when_matched_update(changed)
        merging.when_not_matched_insert(targets, predicate=f"s.{OP} <> '{GONE}'").execute()

    def _is_of_another_life(self, table: DeltaTable) -> bool:
        """Whether an earlier life of the stream has written it: what that had is not what there is."""
        known = table.transaction_version(self._owner) is not None
        return known and table.transaction_version(self._reached) is None

    def _changes(self, rows: Rows) -> pa.Table:
        """The columns of the rows, and what happened to each."""
        return pa.Table.from_batches(list(self._batches(rows)))

    def _batches(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        for batch in rows.batches():
            op = pc.struct_field(batch.column(CHANGE), "op")
            yield batch.select(self._columns).append_column(OP, op)

    def _open(self) -> DeltaTable | None:
        def opened() -> DeltaTable | None:
            try:
                return DeltaTable(self._path, storage_options=self._storage)
            except TableNotFoundError:
                return None

        return self._tried(opened)

    def _tried(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except (DeltaError, OSError, ValueError) as error:
            reason = one_line(str(error)).rstrip(".")
            raise SinkError(
                f"The Delta table in '{self._path}' did not take the rows of stream "
                f"'{self._target.stream}': {reason}.",
                code="sinks.delta",
                hint="Check that the folder can be written, and that its columns have the types of the stream's. The "
                "rows are merged again.",
                stream=self._target.stream,
                path=self._path,
            ) from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
