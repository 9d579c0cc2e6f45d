"""Python functions of a project on the rows of a batch: the price of Python is paid here and only here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from weft.weaving.function import FunctionVersion
from weft.weaving.weave import Call


def call(frame: DataFrame, stage: Call, function: FunctionVersion) -> DataFrame:
    """Call a function with every row that is alive; what it returns takes the row's place.

    A row function gets a dict and returns one, or None to filter the row; a row it raises for becomes a
    dead letter with the exception as its reason. A batch function gets and returns a RecordBatch of the
    user's columns with the same number of rows; if it raises, every row of that batch becomes a dead letter.
    """
    before = frame.schema
    columns = stage.columns
    after = _after(before, columns, function)
    apply = _rows if function.form == "row" else _batches
    bound = function.bind(stage.step.params)
    arrow = to_arrow_schema(after, timezone="UTC")
    shape = _Shape(
        columns, tuple(f.name for f in after), stage.dropped, stage.failed, stage.condition
    )

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        called = bound.load()
        for batch in batches:
            yield apply(batch, called, bound.parameters, shape, arrow)

    return frame.mapInArrow(run, after)


class _Shape:
    """Which columns go into the function, which come out, and what verdicts it may give."""

    def __init__(
        self,
        columns: tuple[str, ...],
        result: tuple[str, ...],
        dropped: int,
        failed: int,
        condition: str | None,
    ) -> None:
        self.columns = columns
        self.result = result
        self.dropped = dropped
        self.failed = failed
        self.condition = condition


def _after(before: StructType, columns: tuple[str, ...], function: FunctionVersion) -> StructType:
    from weft.weaving.schema import Schema

    user = StructType([field for field in before if field.name in columns])
    result = function.result(Schema.from_json(user.jsonValue()))
    made = StructType.fromJson(result.to_json())
    kept = [field for field in before if field.name not in columns]
    return StructType([*(StructField(f.name, f.dataType) for f in made), *kept])


def _rows(
    batch: pa.RecordBatch,
    called: Callable[..., Any],
    parameters: Mapping[str, Any],
    shape: _Shape,
    arrow: pa.Schema,
) -> pa.RecordBatch:
    rows = batch.to_pylist()
    for row in rows:
        if not _applies(row, shape):
            continue
        try:
            result = called({name: row[name] for name in shape.columns}, **parameters)
        except Exception as error:
            row["_weft_verdict"] = shape.failed
            row["_weft_reason"] = f"{type(error).__name__}: {error}"
            continue
        if result is None:
            row["_weft_verdict"] = shape.dropped
        else:
            row.update({name: result.get(name) for name in shape.columns})
            row.update({name: value for name, value in result.items() if name in shape.result})
    return pa.RecordBatch.from_pylist(rows, schema=arrow)


def _batches(
    batch: pa.RecordBatch,
    called: Callable[..., Any],
    parameters: Mapping[str, Any],
    shape: _Shape,
    arrow: pa.Schema,
) -> pa.RecordBatch:
    rows = batch.to_pylist()
    chosen = [row for row in rows if _applies(row, shape)]
    if chosen:
        given = batch.select(list(shape.columns)).take(
            pa.array([n for n, row in enumerate(rows) if _applies(row, shape)])
        )
        try:
            results = called(given, **parameters).to_pylist()
            if len(results) != len(chosen):
                raise ValueError(f"{len(chosen)} rows went in and {len(results)} came out")
        except Exception as error:
            for row in chosen:
                row["_weft_verdict"] = shape.failed
                row["_weft_reason"] = f"{type(error).__name__}: {error}"
        else:
            for row, result in zip(chosen, results, strict=True):
                row.update(result)
    return pa.RecordBatch.from_pylist(rows, schema=arrow)


def _applies(row: Mapping[str, Any], shape: _Shape) -> bool:
    return row["_weft_verdict"] is None and (shape.condition is None or bool(row[shape.condition]))
