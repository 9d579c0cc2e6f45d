"""What a result of a product or of an updating query was made of, and which results a row came into. Runs where the
data is: in a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructField, StructType

from weft import codec
from weft.products.tree import Part, Product
from weft.queries.traced import Lookup, Traced
from weft.runtime import session
from weft.runtime.causes import documents_of
from weft.runtime.changed_table import ChangedTable, changed_tables
from weft.runtime.collected import collected
from weft.runtime.find import counted, one_row, place_of, rows_between
from weft.schema.change import CHANGE, EMPTIED
from weft.schema.schema import quoted
from weft.schema.weft import WEFT
from weft.streams.current import Newest, Row, key_of
from weft.streams.table import EVERYTHING, Table

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

Tables = Mapping[str, ChangedTable]
NONE: dict[str, Any] = {"count": 0, "rows": []}


def find_newest(
    worker: Worker, *, stream: str, key: list[str], row: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The newest change of the key of a row, as JSON has it; None where there is no row of that key any more."""
    table = changed_tables(worker, {stream: key}, {stream: EVERYTHING})[stream]
    found = table.written(key, [row[name] for name in key])
    return place_of(found[0].row, stream) if found else None


def find_origins(
    worker: Worker,
    *,
    result: Mapping[str, Any],
    traced: Mapping[str, Any],
    upto: Mapping[str, int],
    limit: int,
) -> dict[str, Any]:
    """The rows that a result was made of, as they were at the last knots that it was made of."""
    how = codec.from_form(Traced, traced)
    tables = changed_tables(worker, how.keys, upto)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for lookup in how.lookups:
        for stream, row in _behind(result, lookup, how.product, tables):
            found.setdefault((stream, row[WEFT]["id"]), place_of(row, stream))
    return {"count": len(found), "rows": [*found.values()][:limit]}


def _behind(
    result: Mapping[str, Any], lookup: Lookup, product: Product | None, tables: Tables
) -> Iterator[tuple[str, Row]]:
    is_without = any(result[name] is None for name in lookup.given)
    if is_without or (lookup.unless and result[lookup.unless[0]] == lookup.unless[1]):
        return
    columns, texts = [ours for ours, _ in lookup.by], [result[theirs] for _, theirs in lookup.by]
    if product is None:
        found = tables[lookup.stream].written(columns, texts)
        yield from ((lookup.stream, one.row) for one in found)
        return
    root = product.root
    rows = tables[root.table].written(columns, texts, root.filter)
    for document in documents_of(root, rows, tables):
        yield from ((one.part.table, one.row) for one in document.walk())


def find_results(
    worker: Worker,
    *,
    record: Mapping[str, Any],
    target: str,
    knot: int,
    traced: Mapping[str, Any],
    upto: Mapping[str, int],
    limit: int,
) -> dict[str, Any]:
    """The results of a stream that a change came into, at the knot that took it: by the row that it left, and by the
    one that was there before, which others may have lost."""
    spark, how = session.fork(worker.spark), codec.from_form(Traced, traced)
    changes = one_row(spark, worker, record)
    table = Table(spark, worker.storage.table(target))
    results = rows_between(spark, table, knot - 1, knot)
    if changes is None or results is None:
        return NONE
    by = [one.by for one in how.lookups if how.product or one.stream == record["stream"]]
    if not {theirs for pairs in by for _, theirs in pairs} <= set(results.columns):
        return NONE
    [change] = collected(changes)
    if change[CHANGE]["op"] == EMPTIED:
        return counted(results, target, limit)
    rows = _around(worker, change, record["stream"], how)
    tables = changed_tables(worker, how.keys, upto)
    source = tables[record["stream"]]
    if how.product is not None:
        source = tables[how.product.root.table]
        ways = _ways(how.product.root, record["stream"])
        rows = [Newest(root) for way in ways for root in _climb(way, rows, tables)]
    met = [_meeting(results, pairs, rows, source) for pairs in by]
    once = reduce(DataFrame.unionByName, met).withColumn("_weft_id", f.col(f"{WEFT}.id"))
    return counted(once.dropDuplicates(["_weft_id"]).drop("_weft_id"), target, limit)


def find_filters(
    worker: Worker, *, record: Mapping[str, Any], traced: Mapping[str, Any]
) -> list[str]:
    """The filters of a product that leave a row of its tables out, each of which does wherever the table is read."""
    how = codec.from_form(Traced, traced)
    assert how.product is not None
    changes = one_row(session.fork(worker.spark), worker, record)
    if changes is None:
        return []
    [change] = collected(changes)
    stream, key = record["stream"], how.keys[record["stream"]]
    table = changed_tables(worker, {stream: key}, {stream: record["knot"]})[stream]
    rows = table.having(key, [tuple(change[name] for name in key)], table.types(key))
    filters = [part.filter for _, part in how.product.walk() if part.table == stream]
    failing = [one for one in filters if one is not None and not table.passing(rows, one)]
    return list(dict.fromkeys(failing)) if rows and len(failing) == len(filters) else []


def _around(worker: Worker, change: Row, stream: str, how: Traced) -> list[Newest]:
    """The row of a change's key as it was after the change's knot, and before it."""
    key = how.keys[stream]
    found = [Newest(change)]
    for upto in (change[WEFT]["knot"], change[WEFT]["knot"] - 1):
        table = changed_tables(worker, {stream: key}, {stream: upto})[stream]
        found += table.having(key, [tuple(change[name] for name in key)], table.types(key))
    return found


def _meeting(
    results: DataFrame,
    pairs: Sequence[tuple[str, str]],
    rows: Sequence[Newest],
    source: ChangedTable,
) -> DataFrame:
    """The results that have the values of one of some rows of a stream."""
    ours = [name for name, _ in pairs]
    values = {key_of(one.row, ours): tuple(one.row[name] for name in ours) for one in rows}
    named = [StructField(f"v{at}", kind) for at, kind in enumerate(source.types(ours))]
    wanted = results.sparkSession.createDataFrame([*values.values()], StructType(named))
    same = [
        f.col(quoted(theirs)).eqNullSafe(f.col(f"v{at}")) for at, (_, theirs) in enumerate(pairs)
    ]
    return results.join(f.broadcast(wanted), reduce(Column.__and__, same), "left_semi")


def _ways(root: Part, table: str) -> Iterator[tuple[Part, ...]]:
    """The parts from a root down to each that reads a table."""
    if root.table == table:
        yield (root,)
    for part in root.parts:
        yield from ((root, *way) for way in _ways(part, table))


def _climb(way: Sequence[Part], rows: list[Newest], tables: Tables) -> Iterator[Row]:
    """The rows of a root from which some rows of the last part on the way are found."""
    *above, part = way
    found = tables[part.table].passing(rows, part.filter)
    if not above:
        yield from (one.row for one in found)
        return
    ours, theirs = [name for name, _ in part.on], [name for _, name in part.on]
    links = [tuple(one.row[name] for name in ours) for one in found]
    given = [link for link in links if None not in link]
    types = tables[part.table].types(ours)
    yield from _climb(above, tables[above[-1].table].having(theirs, given, types), tables)
