"""A Python reducer on the panes of a window: rows are folded in Spark's Python workers, and a pane whose rows cannot
be folded says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from weft.reason import reason_of
from weft.schema.arrow import Columns, Reasons, to_records
from weft.schema.schema import Schema, quoted
from weft.schema.weft import WEFT
from weft.windows.aggregate import Aggregate
from weft.windows.reducer import Reducer, reduce_rows

HIDDEN = "_rows"


def rows_of(columns: StructType) -> Aggregate:
    """The rows of a pane over a stream with these columns, as one more aggregate of it."""
    own = [quoted(name) for name in columns.names if name != WEFT]
    return Aggregate(HIDDEN, "collect_list", (f"struct({', '.join(own)})",), total=True)


def folded(panes: DataFrame, make: Callable[[], Reducer], *, returns: Schema) -> DataFrame:
    """Panes with their rows folded: the columns of the reducer's result in place of `rows_of`.

    `make` is called in the Python workers. The answer has one more column, `bad`: why the reducer gave no
    result for the pane, whose columns of the result are then null.
    """
    given = panes.schema["pane"].dataType
    assert isinstance(given, StructType)
    result = StructType.fromJson(returns.to_json())
    pane = StructType([*(one for one in given if one.name != HIDDEN), *result])
    after = StructType(
        [
            StructField("pane", pane),
            panes.schema["late"],
            panes.schema["report"],
            panes.schema["dead"],
            StructField("bad", StringType()),
        ]
    )
    fold = _Fold(make, returns, to_arrow_schema(after, timezone="UTC"))
    return panes.mapInArrow(fold.run, after)


@dataclass(frozen=True)
class _Fold:
    """Folds the rows of each pane of Arrow batches, in a Python worker."""

    make: Callable[[], Reducer]
    returns: Schema
    arrow: pa.Schema

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What Spark calls for each partition."""
        reducer = self.make()
        for batch in batches:
            yield self._one(batch, reducer)

    def _one(self, batch: pa.RecordBatch, reducer: Reducer) -> pa.RecordBatch:
        panes = batch.column("pane")
        listed = pa.RecordBatch.from_arrays([panes.field(HIDDEN)], [HIDDEN])
        records, bad = to_records(listed)
        kind = self.arrow.field("pane").type
        columns = Columns(self.returns, [kind.field(name).type for name in self.returns.names])
        done: list[int] = []
        for number, record in enumerate(records):
            if not panes[number].is_valid or record is None:
                continue
            try:
                columns.add(reduce_rows(reducer, record[HIDDEN] or []))
                done.append(number)
            except BaseException as error:
                bad[number] = reason_of(error)
        made, misfits = columns.finish()
        bad |= {done[place]: reason for place, reason in misfits.items()}
        done = [number for place, number in enumerate(done) if place not in misfits]
        return self._whole(batch, made, done, bad)

    def _whole(
        self, batch: pa.RecordBatch, made: list[pa.Array], done: list[int], bad: Reasons
    ) -> pa.RecordBatch:
        """The batch with the results in its panes; a place in `done` is where one goes."""
        panes = batch.column("pane")
        places: list[int | None] = [None] * batch.num_rows
        for position, row in enumerate(done):
            places[row] = position
        order = pa.array(places, pa.int64())
        kind = self.arrow.field("pane").type
        results = dict(zip(self.returns.names, made, strict=True))
        inner = [
            results[one.name].take(order) if one.name in results else panes.field(one.name)
            for one in kind
        ]
        typed = [_typed(column, one.type) for column, one in zip(inner, kind, strict=True)]
        folded = pa.StructArray.from_arrays(typed, fields=list(kind), mask=panes.is_null())
        reasons = [bad.get(number) for number in range(batch.num_rows)]
        whole = [
            folded,
            _typed(batch.column("late"), self.arrow.field("late").type),
            batch.column("report"),
            _typed(batch.column("dead"), self.arrow.field("dead").type),
            pa.array(reasons, pa.string()),
        ]
        return pa.RecordBatch.from_arrays(whole, schema=self.arrow)


def _typed(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
