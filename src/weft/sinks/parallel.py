"""A sink of the user's own on the executors: the files of a knot are shared out to tasks, and each task makes an object
of the class, gives it the records of its files one file after the other, and closes it. Called by the Python sink."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pyspark.sql import SparkSession

from weft.reason import reason_of
from weft.schema.weft import WEFT
from weft.sinks.rows import ParquetRows, RowFile, Rows
from weft.steps.function import FunctionVersion


def user_records(rows: Rows) -> list[dict[str, Any]]:
    """The records as a user's class gets them: without what is ours."""
    return [
        {name: value for name, value in record.items() if name != WEFT} for record in rows.records()
    ]


@dataclass(frozen=True)
class FileTask:
    """What a task does with its files: `write`, with as much as that takes of the records, their knot and the number of
    the file in it; or `retract`. The class comes with the task if it is one of the project's."""

    reference: str
    code: FunctionVersion | None
    arguments: Mapping[str, Any]
    columns: tuple[str, ...]
    method: Literal["write", "retract"]
    takes: int

    def __call__(self, files: Iterator[RowFile]) -> Iterator[str]:
        """Why it failed, if it did."""
        try:
            self._run(files)
        # All of it: what a class raises must not end the process that Spark lent it, nor be tried again by Spark.
        except BaseException as error:
            yield reason_of(error)

    def whole(self, rows: Rows, knot: int) -> Iterator[str]:
        """The same for rows that are in no files of their own, as one file would have them."""
        try:
            self._hand([(rows, knot, 0)])
        except BaseException as error:
            yield reason_of(error)

    def _run(self, files: Iterator[RowFile]) -> None:
        self._hand((ParquetRows([file], self.columns), file.knot, file.place) for file in files)

    def _hand(self, given: Iterable[tuple[Rows, int, int]]) -> None:
        sink = self._class()(**self.arguments)
        try:
            for rows, knot, place in given:
                handed = (user_records(rows), knot, place)
                if handed[0]:
                    getattr(sink, self.method)(*handed[: self.takes])
        finally:
            sink.close()

    def _class(self) -> Any:
        if self.code is not None:
            return self.code.load()
        module, _, name = self.reference.partition(":")
        return getattr(importlib.import_module(module), name)


def run(spark: SparkSession, task: FileTask, files: Sequence[RowFile]) -> list[str]:
    """Run a task over files on the executors, and hear why it failed, where it did.

    One core is left to others: what a class waits for, the pipelines beside it should not.
    """
    context = spark.sparkContext
    tasks = max(1, min(len(files), context.defaultParallelism - 1))
    shares = [list(files[number::tasks]) for number in range(tasks)]
    told = context.parallelize(shares, tasks).flatMap(lambda share: task(iter(share)))
    return list(told.collect())
