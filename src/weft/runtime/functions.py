"""Python functions of a project on the rows of a batch: the price of Python is paid here and only here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from weft.reason import reason_of, shown
from weft.schema.arrow import Columns, Reasons, ResultError, to_records
from weft.schema.schema import Schema
from weft.sinks.document import documents, to_json
from weft.steps.function import FunctionVersion
from weft.weaving.weave import Call

VERDICT, REASON, RECORD = "_weft_verdict", "_weft_reason", "_weft_record"


def call(frame: DataFrame, stage: Call, function: FunctionVersion) -> DataFrame:
    """Call a function with every row that is alive; what it returns takes the row's place.

    A row function gets a dict and returns one, or None to filter the row; a row it raises for, or returns
    something for that the columns cannot hold, becomes a dead letter with the reason. A batch function gets
    and returns a RecordBatch of the user's columns with the same number of rows; if it raises or returns
    something else, every row of that batch becomes a dead letter. A dead letter holds the record as the function
    was given it: later steps may drop what it failed for.
    """
    user = StructType([field for field in frame.schema if field.name in stage.columns])
    made = function.result(Schema.from_json(user.jsonValue()))
    after = _after(frame.schema, stage.columns, made)
    caller = _Caller(
        function=function.bind(stage.step.params),
        stage=stage,
        made=made,
        arrow=to_arrow_schema(after, timezone="UTC"),
    )
    return frame.mapInArrow(caller.run, after)


def _after(before: StructType, columns: tuple[str, ...], made: Schema) -> StructType:
    kept = [field for field in before if field.name not in columns]
    result = StructType.fromJson(made.to_json())
    return StructType([*(StructField(f.name, f.dataType) for f in result), *kept])


@dataclass
class _Made:
    """What a function made of rows: columns of those that go on, and how the others ended."""

    rows: list[int]
    columns: list[pa.Array]
    dropped: list[int]
    failed: Reasons


@dataclass(frozen=True)
class _Caller:
    """Calls one function with the rows of Arrow batches, in a Python worker."""

    function: FunctionVersion
    stage: Call
    made: Schema
    arrow: pa.Schema

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What Spark calls for each partition."""
        called = partial(self.function.load(), **self.function.parameters)
        for batch in batches:
            alive = self._alive(batch)
            if alive:
                given = batch.select(list(self.stage.columns))
                if len(alive) < batch.num_rows:
                    given = given.take(pa.array(alive))
                work = self._rows if self.function.form == "row" else self._batch
                made = work(given, called, alive)
            else:
                made = _Made([], [pa.nulls(0, one.type) for one in self._result()], [], {})
            yield self._woven(batch, made)

    def _alive(self, batch: pa.RecordBatch) -> list[int]:
        """The rows for which the function is called."""
        verdicts = batch.column(VERDICT).to_pylist()
        if self.stage.condition is None:
            return [number for number, verdict in enumerate(verdicts) if verdict is None]
        chosen = batch.column(self.stage.condition).to_pylist()
        return [n for n, verdict in enumerate(verdicts) if verdict is None and chosen[n]]

    def _result(self) -> list[pa.Field]:
        return [self.arrow.field(name) for name in self.made.names]

    def _rows(self, given: pa.RecordBatch, called: Callable[..., Any], alive: list[int]) -> _Made:
        records, unread = to_records(given)
        columns = Columns(self.made, [one.type for one in self._result()])
        done = _Made([], [], [], {alive[place]: reason for place, reason in unread.items()})
        for number, record in zip(alive, records, strict=True):
            if record is None:
                continue
            try:
                result = called(record)
                if result is None:
                    done.dropped.append(number)
                else:
                    columns.add(result)
                    done.rows.append(number)
            # All of it: a function that calls sys.exit must not end the worker that Spark lent it.
            except BaseException as error:
                done.failed[number] = reason_of(error)
        done.columns, misfits = columns.finish()
        done.failed |= {done.rows[place]: reason for place, reason in misfits.items()}
        done.rows = [row for place, row in enumerate(done.rows) if place not in misfits]
        return done

    def _batch(self, given: pa.RecordBatch, called: Callable[..., Any], alive: list[int]) -> _Made:
        try:
            return _Made(alive, self._columns(called(given), len(alive)), [], {})
        except BaseException as error:
            empty = [pa.nulls(0, one.type) for one in self._result()]
            return _Made([], empty, [], dict.fromkeys(alive, reason_of(error)))

    def _columns(self, result: Any, rows: int) -> list[pa.Array]:
        """The columns of what a batch function returned, each of the type it should be."""
        if not isinstance(result, pa.RecordBatch | pa.Table):
            raise ResultError(f"it returned {shown(result)}, and should return a RecordBatch")
        if result.num_rows != rows:
            raise ResultError(f"{rows} rows went in and {result.num_rows} came out")
        found: list[pa.Array] = []
        for field, wanted in zip(self.made, self._result(), strict=True):
            if result.schema.names.count(field.name) != 1:
                names = ", ".join(result.schema.names)
                raise ResultError(f"it returned the columns {names}, without one '{field.name}'")
            column = result.column(field.name)
            try:
                column = column if column.type == wanted.type else column.cast(wanted.type)
            except pa.ArrowException as error:
                raise ResultError(
                    f"column '{field.name}': expected {field.type}, found {column.type}: {error}"
                ) from error
            found.append(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
        return found

    def _woven(self, batch: pa.RecordBatch, made: _Made) -> pa.RecordBatch:
        """The batch with what was made in its rows; rows that ended keep the columns that they had."""
        place = list(range(batch.num_rows))
        for position, row in enumerate(made.rows):
            place[row] = batch.num_rows + position
        order = pa.array(place)
        results = dict(zip(self.made.names, made.columns, strict=True))
        columns = []
        for field in self.arrow:
            if field.name in results:
                columns.append(_merged(batch, field, results[field.name], order))
            elif field.name == VERDICT and (made.dropped or made.failed):
                verdicts = batch.column(VERDICT).to_pylist()
                for row in made.dropped:
                    verdicts[row] = self.stage.dropped
                for row in made.failed:
                    verdicts[row] = self.stage.failed
                columns.append(pa.array(verdicts, field.type))
            elif field.name == REASON and made.failed:
                reasons = batch.column(REASON).to_pylist()
                for row, reason in made.failed.items():
                    reasons[row] = reason
                columns.append(pa.array(reasons, field.type))
            elif field.name == RECORD and made.failed:
                records = batch.column(RECORD).to_pylist()
                given = batch.select(list(self.stage.columns)).take(pa.array(list(made.failed)))
                for row, record in zip(made.failed, documents(given), strict=True):
                    records[row] = to_json(record).decode()
                columns.append(pa.array(records, field.type))
            else:
                columns.append(_typed(batch.column(field.name), field.type))
        return pa.RecordBatch.from_arrays(columns, schema=self.arrow)


def _merged(batch: pa.RecordBatch, field: pa.Field, made: pa.Array, order: pa.Array) -> pa.Array:
    if len(made) == batch.num_rows:
        return made
    kept = pa.nulls(batch.num_rows, field.type)
    if field.name in batch.schema.names:
        # The function may give the column another type, and this row never got there.
        with suppress(pa.ArrowException):
            kept = _typed(batch.column(field.name), field.type)
    return pa.concat_arrays([kept, made]).take(order)


def _typed(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
