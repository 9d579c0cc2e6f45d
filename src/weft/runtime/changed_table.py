"""The recorded changes of a table up to a knot, and the rows that they left, looked up by values of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import BinaryType, DataType, IntegerType, StructField, StructType

from weft.gate.spark import select
from weft.runtime import session
from weft.runtime.collected import collected
from weft.schema.change import CHANGE, EMPTIED
from weft.schema.schema import quoted
from weft.schema.weft import WEFT
from weft.sinks.rows import FilePart
from weft.streams.current import Newest, comparable, key_of, newest_of
from weft.streams.pieces import parts_of, read_parts
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from weft.runtime.worker import Worker

Values = tuple[Any, ...]
PLACE = "_weft_place"


def changed_tables(
    worker: Worker, keys: Mapping[str, Sequence[str]], upto: Mapping[str, int]
) -> dict[str, ChangedTable]:
    """Tables by name, each with its key, up to its last knot that counts."""
    forked = session.fork(worker.spark)
    opened = Tables(worker.spark, worker.storage)
    found = {}
    for name, key in keys.items():
        table = opened.open(name)
        knots = table.knots(to=upto.get(name, 0)) if table.exists() else []
        found[name] = ChangedTable(forked, parts_of(table.path, knots), tuple(key))
    return found


class ChangedTable:
    """Rows are found by the changes that they ever had such values in, and told as the newest change left them."""

    def __init__(
        self, spark: SparkSession, files: Sequence[FilePart], key: tuple[str, ...]
    ) -> None:
        self._spark = spark
        self._files = files
        self.key = key

    @cached_property
    def _frame(self) -> DataFrame:
        return read_parts(self._spark, self._files)

    def written(
        self, columns: Sequence[str], texts: Sequence[Any], filter: str | None = None
    ) -> list[Newest]:
        """The rows whose columns have values that are written as JSON has them; what cannot be such a value is none."""
        if not self._files:
            return []
        types = self.types(columns)
        cast = [_read(text, kind) for text, kind in zip(texts, types, strict=True)]
        named = [one.alias(f"v{at}") for at, one in enumerate(cast)]
        [found] = collected(self._spark.range(1).select(*named))
        values = tuple(found.values())
        if any(one is None and text is not None for one, text in zip(values, texts, strict=True)):
            return []
        return self.having(columns, [values], types, filter)

    def having(
        self,
        columns: Sequence[str],
        values: Iterable[Values],
        types: Sequence[DataType],
        filter: str | None = None,
    ) -> list[Newest]:
        """The rows whose columns have one of some tuples of values, which are of types that may be others than those of
        the columns, in the order of their keys; null equals null."""
        wanted = {comparable(one): one for one in values}
        if not self._files or not wanted:
            return []
        found = self._newest(self._among(columns, wanted.values(), types), filter)
        return [one for one in found if key_of(one.row, columns) in wanted]

    def passing(self, found: list[Newest], filter: str | None) -> list[Newest]:
        """Those of some rows for which a condition holds."""
        if filter is None or not found:
            return found
        judged = select(
            self._placed(found), [[(PLACE, PLACE), ("passes", f"weft_try(0L, ({filter})).v0")]]
        )
        passing = {row[PLACE] for row in judged.collect() if row["passes"]}
        return [one for place, one in enumerate(found) if place in passing]

    def in_order(self, found: list[Newest], order: Sequence[tuple[str, bool]]) -> list[Newest]:
        """Rows by expressions, each rising or falling, and then by their key."""
        if len(found) < 2:
            return found
        values = [(f"o{at}", f"weft_try(0L, ({sql})).v0") for at, (sql, _) in enumerate(order)]
        keys = [(f"k{at}", quoted(name)) for at, name in enumerate(self.key)]
        frame = select(self._placed(found), [[(PLACE, PLACE), *values, *keys]])
        by = [
            f.col(f"o{at}").desc_nulls_last() if falls else f.col(f"o{at}").asc_nulls_first()
            for at, (_, falls) in enumerate(order)
        ]
        by += [f.col(name).asc_nulls_first() for name, _ in keys]
        return [found[row[PLACE]] for row in frame.orderBy(*by).select(PLACE).collect()]

    def _placed(self, found: list[Newest]) -> DataFrame:
        """Rows as they are, with what older changes brought, each with its number."""
        fields = [field for field in self._frame.schema if field.name not in (WEFT, CHANGE)]
        kind = StructType([*fields, StructField(PLACE, IntegerType(), False)])
        rows = [
            (*(one.row[field.name] for field in fields), place) for place, one in enumerate(found)
        ]
        return self._spark.createDataFrame(rows, kind)

    def _newest(self, changed: DataFrame, filter: str | None) -> list[Newest]:
        """The rows as they are that some changes were of, whatever other changes there were of them."""
        named = changed.select(*(f.col(quoted(name)) for name in self.key))
        keys = [tuple(row.values()) for row in collected(named.distinct())]
        if not keys:
            return []
        of_keys = self._among(self.key, keys, self.types(self.key))
        is_emptied = f.col(f"{CHANGE}.op") == EMPTIED
        of_all = self._frame.where(is_emptied | f.col(f"{CHANGE}.snapshot").startswith("last"))
        changes = collected(of_keys.unionByName(of_all))
        wanted = set(map(comparable, keys))
        found = [one for one in newest_of(changes, self.key) if key_of(one.row, self.key) in wanted]
        by_key = sorted(found, key=lambda one: str([one.row[name] for name in self.key]))
        return self.passing(by_key, filter)

    def types(self, columns: Iterable[str]) -> list[DataType]:
        """The types of some columns; there are none of a table without changes."""
        return [self._frame.schema[name].dataType for name in columns] if self._files else []

    def _among(
        self, columns: Sequence[str], values: Iterable[Values], types: Sequence[DataType]
    ) -> DataFrame:
        """The changes in which columns have one of some tuples of values."""
        named = [StructField(f"v{at}", one, True) for at, one in enumerate(types)]
        wanted = self._spark.createDataFrame(list(values), StructType(named))
        pairs = [
            self._frame[quoted(name)].eqNullSafe(wanted[f"v{at}"])
            for at, name in enumerate(columns)
        ]
        return self._frame.join(f.broadcast(wanted), pairs, "left_semi")


def _read(text: Any, kind: DataType) -> Column:
    """A value of a type, null where that cannot be."""
    if isinstance(kind, BinaryType):
        return f.unbase64(f.lit(text))
    return f.lit(None if text is None else str(text)).try_cast(kind)
