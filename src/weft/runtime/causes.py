"""Which changes made a document what it is: its tree is walked over the recorded changes of its tables, up to the knots
that the document was made of. Runs where the data is: in a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructField, StructType

from weft import codec
from weft.gate.spark import select
from weft.products.cause import Cause
from weft.products.tree import Part, Product
from weft.runtime import session
from weft.runtime.trial import plain
from weft.schema.change import CHANGE, EMPTIED
from weft.schema.schema import quoted
from weft.schema.weft import WEFT
from weft.sinks.rows import FilePart
from weft.streams.current import Newest, newest_of
from weft.streams.pieces import parts_of, read_parts
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from weft.runtime.worker import Worker

Row = Mapping[str, Any]


def find_causes(
    worker: Worker, *, product: str, key: list[str], upto: Mapping[str, int]
) -> list[Cause]:
    """The rows that the document of a key is made of, its root's first; `upto` is the last knot of each table."""
    assert worker.project is not None
    spec = worker.project.pipeline(product)
    made_of = codec.from_form(Product, spec.product)
    root = made_of.root
    forked = session.fork(worker.spark)
    opened = Tables(worker.spark, worker.storage)
    tables: dict[str, _Table] = {}
    for name in made_of.tables():
        table = opened.open(name)
        knots = table.knots(to=upto.get(name, 0)) if table.exists() else []
        tables[name] = _Table(forked, parts_of(table.path, knots), worker.project.stream(name).key)
    found = [_Found("", root, row) for row in tables[root.table].of_key(key, root.filter)]
    _grow(found, tables)
    return [one.cause(tables) for one in found]


@dataclass
class _Found:
    """A row in its place, with those found by it."""

    path: str
    part: Part
    newest: Newest
    parts: list[_Found] = field(default_factory=list)

    @property
    def row(self) -> Row:
        return self.newest.row

    def cause(self, tables: Mapping[str, _Table]) -> Cause:
        change, mark = self.row[CHANGE], self.row[WEFT]
        return Cause(
            part=self.path,
            table=self.part.table,
            key=plain({name: self.row[name] for name in tables[self.part.table].key}),
            id=mark["id"],
            knot=mark["knot"],
            op=change["op"],
            position=change["position"],
            at=None if change["at"] is None else change["at"].isoformat(),
            transaction=change["transaction"],
            kept={name: row[WEFT]["id"] for name, row in self.newest.brought.items()},
            parts=tuple(part.cause(tables) for part in self.parts),
        )


def _grow(parents: list[_Found], tables: Mapping[str, _Table]) -> None:
    """Find the rows of the parts of some rows of one part, all at once, and theirs."""
    if not parents:
        return
    above, table = parents[0].part, tables[parents[0].part.table]
    for part in above.parts:
        path = ".".join(filter(None, (parents[0].path, part.name)))
        looked = [tuple(parent.row[theirs] for _, theirs in part.on) for parent in parents]
        links = {link for link in looked if None not in link}
        columns = [ours for ours, _ in part.on]
        types = [table.frame.schema[theirs] for _, theirs in part.on]
        below = []
        if links:
            found: dict[tuple[Any, ...], list[Newest]] = {}
            for one in tables[part.table].linked(columns, types, links, part.filter):
                found.setdefault(tuple(one.row[column] for column in columns), []).append(one)
            for parent, link in zip(parents, looked, strict=True):
                made = [_Found(path, part, one) for one in found.get(link, [])]
                parent.parts += made
                below += made
        _grow(below, tables)


class _Table:
    """The recorded changes of a table, and the rows that they left."""

    def __init__(
        self, spark: SparkSession, files: Sequence[FilePart], key: tuple[str, ...]
    ) -> None:
        self._spark = spark
        self._files = files
        self.key = key

    @cached_property
    def frame(self) -> DataFrame:
        return read_parts(self._spark, self._files)

    def of_key(self, key: Sequence[str], filter: str | None) -> list[Newest]:
        """The row of a key that is written as text."""
        if not self._files:
            return []
        changed = self.frame
        for name, text in zip(self.key, key, strict=True):
            value = f.lit(text).cast(self.frame.schema[name].dataType)
            changed = changed.where(f.col(quoted(name)) == value)
        return self._newest(changed, filter)

    def linked(
        self,
        columns: Sequence[str],
        types: Sequence[StructField],
        links: set[tuple[Any, ...]],
        filter: str | None,
    ) -> list[Newest]:
        """The rows whose columns are one of some links, in the order of their keys."""
        if not self._files:
            return []
        found = self._newest(self._among(columns, types, links), filter)
        return [one for one in found if tuple(one.row[column] for column in columns) in links]

    def _newest(self, changed: DataFrame, filter: str | None) -> list[Newest]:
        """The rows as they are that some changes were of, whatever other changes there were of them."""
        keys = changed.select(*(f.col(quoted(name)) for name in self.key)).distinct()
        wanted = {tuple(row) for row in keys.collect()}
        if not wanted:
            return []
        types = [self.frame.schema[name] for name in self.key]
        of_keys = self._among(self.key, types, wanted)
        is_emptied = f.col(f"{CHANGE}.op") == EMPTIED
        of_all = self.frame.where(is_emptied | f.col(f"{CHANGE}.snapshot").startswith("last"))
        changes = [row.asDict(recursive=True) for row in of_keys.unionByName(of_all).collect()]
        found = [
            one
            for one in newest_of(changes, self.key)
            if tuple(one.row[name] for name in self.key) in wanted
        ]
        in_order = sorted(found, key=lambda one: str([one.row[name] for name in self.key]))
        return self._passing(in_order, filter)

    def _among(
        self, columns: Sequence[str], types: Sequence[StructField], values: set[tuple[Any, ...]]
    ) -> DataFrame:
        """The changes in which columns have one of some tuples of values."""
        named = [StructField(f"v{at}", one.dataType, True) for at, one in enumerate(types)]
        wanted = self._spark.createDataFrame(list(values), StructType(named))
        pairs = [
            self.frame[quoted(name)].eqNullSafe(wanted[f"v{at}"]) for at, name in enumerate(columns)
        ]
        return self.frame.join(f.broadcast(wanted), pairs, "left_semi")

    def _passing(self, found: list[Newest], filter: str | None) -> list[Newest]:
        if filter is None or not found:
            return found
        changes = self.frame.where(f.col(f"{WEFT}.id").isin([one.row[WEFT]["id"] for one in found]))
        judged = select(
            changes, [[("id", f"{WEFT}.id"), ("passes", f"weft_try(0L, ({filter})).v0")]]
        )
        passing = {row["id"] for row in judged.collect() if row["passes"]}
        return [one for one in found if one.row[WEFT]["id"] in passing]
