"""The documents of a product by DuckDB: one nested query with a correlated subquery for each part."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb

from tests.products.table import Key, Table
from weft.products.tree import Part, Product

Document = dict[str, Any]
TYPES = {"string": "varchar"}
"""DuckDB's words for Spark's types, where they differ."""


def documents(product: Product, tables: Mapping[str, Table]) -> dict[Key, Document]:
    """Each document of a product under the key of its root."""
    base = filled({name: tables[name] for name in product.tables()})
    query = Query(tables)
    table = tables[product.root.table]
    keys = ", ".join(f't."{name}"' for name in table.key)
    shown, where = query.document(product.root, "t"), query.there(product.root, "t")
    text = f"select {keys}, {shown} from {table.name} t where {where}"
    found = {}
    for *key, document in base.execute(text).fetchall():
        keyed = dict(zip(table.key, key, strict=True))
        found[tuple(key)] = {**keyed, **query.flat(product.root, document)}
    return found


def filled(tables: Mapping[str, Table]) -> duckdb.DuckDBPyConnection:
    """A database that holds some tables."""
    base = _database()
    for table in tables.values():
        _fill(base, table)
    return base


class Query:
    """Writes the query of a product; each part reads its table under a name of its own."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables

    def document(self, part: Part, at: str) -> str:
        """The struct of one row; inline parts are in it under their names."""
        fields = [("_", "1"), *self._fields(part)]
        below = [(one.name, self._below(one, at, f"{at}_{n}")) for n, one in enumerate(part.parts)]
        pairs = (f'"{name}" := {sql}' for name, sql in (*fields, *below))
        return f"struct_pack({', '.join(pairs)})"

    def there(self, part: Part, at: str) -> str:
        """Whether a row passes the filter of its part and has all that is required below it."""
        found = [f"({part.filter})" if part.filter else "true"]
        for number, one in enumerate(part.parts):
            if one.required:
                name = f"{at}_{number}"
                found.append(f"exists (select 1 {self._from(one, at, name)})")
        return " and ".join(found)

    def flat(self, part: Part, document: Document | None) -> Document:
        """A struct with the fields of inline parts in it, and with times in UTC; a missing one is all null."""
        given = document or {}
        found = {name: _plain(given.get(name)) for name, _ in self._fields(part)}
        for one in part.parts:
            value = given.get(one.name)
            if one.inline:
                found |= self.flat(one, value)
            elif value is None:
                found[one.name] = None
            elif one.is_list:
                found[one.name] = [self.flat(one, item) for item in value]
            else:
                found[one.name] = self.flat(one, value)
        return found

    def _below(self, part: Part, parent: str, at: str) -> str:
        rows = self._from(part, parent, at)
        if part.aggregate:
            pairs = (f'"{name}" := {sql}' for name, sql in self._fields(part))
            return f"(select struct_pack({', '.join(pairs)}) {rows})"
        key = self.tables[part.table].key
        order = [f"{sql} {_direction(falls)}" for sql, falls in part.order]
        order += [f'{at}."{name}"' for name in key]
        listed = f"list({self.document(part, at)} order by {', '.join(order)})"
        if not part.many:
            listed = f"{listed}[1]"
        elif part.limit is not None:
            listed = f"{listed}[1:{part.limit}]"
        return f"(select {f'coalesce({listed}, [])' if part.many else listed} {rows})"

    def _from(self, part: Part, parent: str, at: str) -> str:
        links = " and ".join(f'{at}."{own}" = {parent}."{other}"' for own, other in part.on)
        return f"from {part.table} {at} where {links} and {self.there(part, at)}"

    def _fields(self, part: Part) -> list[tuple[str, str]]:
        columns = self.tables[part.table].columns
        if not part.aggregate:
            return (
                [(name, f'"{name}"') for name in columns]
                if part.fields is None
                else list(part.fields)
            )
        return [(name, _aggregate(sql, columns)) for name, sql in part.aggregate]


def _aggregate(sql: str, columns: Mapping[str, str]) -> str:
    """An aggregate as DuckDB has it; its own mean of decimals is a double, Spark's a decimal(14,6)."""
    argument = sql[4:-1]
    if sql.startswith("avg(") and columns.get(argument) == "decimal(10,2)":
        return f"cast(avg({argument}) as decimal(14,6))"
    return sql


def _direction(falls: bool) -> str:
    return "desc nulls last" if falls else "asc nulls first"


def _fill(base: duckdb.DuckDBPyConnection, table: Table) -> None:
    columns = ", ".join(f'"{name}" {TYPES.get(kind, kind)}' for name, kind in table.columns.items())
    base.execute(f"create or replace temp table {table.name} ({columns})")
    if table.rows:
        rows = (", ".join(map(_literal, row.values())) for row in table.rows.values())
        base.execute(f"insert into {table.name} values {', '.join(f'({row})' for row in rows)}")


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, datetime):
        return f"timestamp '{value.astimezone(UTC).replace(tzinfo=None)}'"
    return str(value) if isinstance(value, bool | int | Decimal) else repr(value)


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


@cache
def _database() -> duckdb.DuckDBPyConnection:
    base = duckdb.connect()
    base.execute("set threads = 1")
    return base
