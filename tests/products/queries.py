"""Random SELECTs over a small shop with random rows, and what DuckDB answers to them."""

from __future__ import annotations

from random import Random
from typing import Any

import sqlglot

from tests.products import oracle
from tests.products.plain import Document
from tests.products.table import Key, Table

SHOP = {
    "users": Table(
        "users", ("id",), {"id": "int", "name": "string", "city": "string", "boss": "int"}
    ),
    "orders": Table(
        "orders", ("id",), {"id": "int", "user_id": "int", "total": "int", "status": "string"}
    ),
    "items": Table(
        "items",
        ("order_id", "no"),
        {"order_id": "int", "no": "int", "article": "int", "qty": "int"},
    ),
    "articles": Table("articles", ("id",), {"id": "int", "name": "string", "price": "int"}),
}
TO_ONE = {
    "users": (("users", "id", "boss"),),
    "orders": (("users", "id", "user_id"),),
    "items": (("articles", "id", "article"), ("orders", "id", "order_id")),
    "articles": (),
}
"""By table, which tables its rows have one row of: table, its column, own column."""
TO_MANY = {
    "users": (("orders", "user_id", "id"), ("users", "boss", "id")),
    "orders": (("items", "order_id", "id"),),
    "articles": (("items", "article", "id"),),
    "items": (),
}
NUMBERS = {"users": "boss", "orders": "total", "items": "qty", "articles": "price"}
TEXTS = {"users": "name", "orders": "status", "articles": "name"}
KEYED = "k"
"""The field of a struct in a list that no row has null, so that the null that SQL puts for no rows is told apart."""


def make_shop(rng: Random) -> dict[str, Table]:
    """The shop with random rows."""
    tables = {name: table.copy() for name, table in SHOP.items()}
    for table in tables.values():
        for _ in range(rng.choice((0, 2, 4, 6))):
            row: dict[str, Any] = {
                name: rng.choice(("a", "b", None) if kind == "string" else (1, 2, 3, 4, None))
                for name, kind in table.columns.items()
            }
            row |= {name: rng.randint(1, 5) for name in table.key}
            table.rows[table.key_of(row)] = row
    return tables


class Writing:
    """Writes one random query."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.items: list[str] = []
        self.joins: list[str] = []
        self.conditions: list[str] = []
        self.count = 0

    def query(self) -> str:
        """A query of which some parts may have no place in a product."""
        rng = self.rng
        self.root = rng.choice(("users", "orders", "items", "articles"))
        key = [f"r.{name}" for name in SHOP[self.root].key]
        nodes = [("r", self.root)]
        self.items += [self._value("r", self.root) for _ in range(rng.randint(0, 2))]
        for _ in range(rng.randint(0, 3)):
            self._one(nodes)
        group = rng.random() < 0.5 and self._many(rng.choice(nodes))
        for _ in range(rng.choice((0, 0, 1, 2))):
            self._subquery(rng.choice(nodes))
        for _ in range(rng.choice((0, 0, 1, 2))):
            self.conditions.append(self._condition(*rng.choice(nodes)))
        shown = ", ".join([*key, *self.items])
        text = f"SELECT {shown} FROM {self.root} r {' '.join(self.joins)}"
        if self.conditions:
            text += f" WHERE {' AND '.join(self.conditions)}"
        if group:
            # DuckDB wants every plain value in it, also those that follow from the key.
            plain = [f"{alias}.{name}" for alias, table in nodes for name in SHOP[table].columns]
            text += f" GROUP BY {', '.join(dict.fromkeys([*key, *plain]))}"
        return text

    def _one(self, nodes: list[tuple[str, str]]) -> None:
        alias, table = self.rng.choice(nodes)
        if not TO_ONE[table]:
            return
        other, column, own = self.rng.choice(TO_ONE[table])
        new = self._new()
        self._join(new, other, f"{new}.{column} = {alias}.{own}")
        nodes.append((new, other))
        self.items += [self._value(new, other) for _ in range(self.rng.randint(0, 2))]

    def _many(self, node: tuple[str, str]) -> bool:
        alias, table = node
        if not TO_MANY[table]:
            return False
        other, column, own = self.rng.choice(TO_MANY[table])
        new = self._new()
        self._join(new, other, f"{alias}.{own} = {new}.{column}")
        below = self._below(new, other)
        for _ in range(self.rng.randint(0, 3)):
            self.items.append(f"{self._gathered(new, other, below)} AS {self._new()}")
        if self.rng.random() < 0.3:
            self.conditions.append(self._condition(new, other))
        return True

    def _below(self, alias: str, table: str) -> str | None:
        """A table that is joined to the one of many rows, and shown in lists."""
        if not TO_ONE[table] or self.rng.random() < 0.6:
            return None
        other, column, own = self.rng.choice(TO_ONE[table])
        new = self._new()
        self._join(new, other, f"{new}.{column} = {alias}.{own}")
        form = self.rng.choice(("{}", "{} + 1", "coalesce({}, 0)"))
        return f"{form.format(f'{new}.{NUMBERS[other]}')} AS {self._new()}"

    def _join(self, new: str, table: str, on: str) -> None:
        word = self.rng.choice(("LEFT JOIN", "LEFT OUTER JOIN", "JOIN", "INNER JOIN"))
        more = f" AND {self._condition(new, table)}" if self.rng.random() < 0.2 else ""
        self.joins.append(f"{word} {table} {new} ON {on}{more}")

    def _subquery(self, node: tuple[str, str]) -> None:
        alias, table = node
        new = self._new()
        if TO_MANY[table] and self.rng.random() < 0.7:
            other, column, own = self.rng.choice(TO_MANY[table])
            value = self._gathered(new, other, None)
        elif TO_ONE[table]:
            other, column, own = self.rng.choice(TO_ONE[table])
            value = f"{new}.{NUMBERS[other]}"
        else:
            return
        more = f" AND {self._condition(new, other)}" if self.rng.random() < 0.3 else ""
        text = f"(SELECT {value} FROM {other} {new} WHERE {new}.{column} = {alias}.{own}{more})"
        self.items.append(f"{text} AS {self._new()}")

    def _gathered(self, alias: str, table: str, below: str | None) -> str:
        number = f"{alias}.{NUMBERS[table]}"
        if self.rng.random() < 0.4:
            fields = [
                f"{alias}.{SHOP[table].key[-1]} AS {KEYED}",
                f"{number} AS v",
                *([below] if below else []),
            ]
            order = f"{number}{self.rng.choice((' DESC', ''))}"
            keys = ", ".join(f"{alias}.{name}" for name in SHOP[table].key)
            return f"array_agg(struct({', '.join(fields)}) ORDER BY {order}, {keys})"
        form = self.rng.choice(
            (
                "count({0})",
                "sum({0})",
                "max({0})",
                "min({0} * 2)",
                "count(*)",
                "sum(coalesce({0}, 1))",
            )
        )
        return form.format(number)

    def _value(self, alias: str, table: str) -> str:
        column = f"{alias}.{self.rng.choice(list(SHOP[table].columns))}"
        number = f"{alias}.{NUMBERS[table]}"
        forms = (column, column, f"{number} + 1", f"coalesce({number}, 0)", f"- {number}")
        return f"{self.rng.choice(forms)} AS {self._new()}"

    def _condition(self, alias: str, table: str) -> str:
        number = f"{alias}.{NUMBERS[table]}"
        forms = [
            "{0} > 1",
            "{0} <> 2",
            "{0} IS NULL",
            "{0} IS NOT NULL",
            "NOT ({0} = 3)",
            "({0} = 1 OR {0} > 2)",
        ]
        forms += [
            "coalesce({0}, 2) = 2",
            "{0} BETWEEN 1 AND 3",
            "{0} IN (1, 2)",
            "({0} IS NULL OR {0} = 1)",
        ]
        if table in TEXTS:
            forms.append(f"{alias}.{TEXTS[table]} = 'a'")
        return self.rng.choice(forms).format(number)

    def _new(self) -> str:
        self.count += 1
        return f"x{self.count}"


def rows_of(text: str, tables: dict[str, Table], root: str) -> dict[Key, list[Document]]:
    """What DuckDB answers to a query, by the key of its first table; several rows where SQL repeats it."""
    [query] = sqlglot.transpile(text, read="spark", write="duckdb")
    base = oracle.filled(tables)
    answer = base.execute(query)
    names = [one[0] for one in answer.description]
    found: dict[Key, list[Document]] = {}
    for row in answer.fetchall():
        document = dict(zip(names, row, strict=True))
        key = tuple(document[name] for name in SHOP[root].key)
        found.setdefault(key, []).append(document)
    return found


def like_sql(document: Document, said: Document) -> Document:
    """What SQL said, with lists as documents have them.

    Where there are no rows, SQL says null or a list of one null; a document has an empty list, or null where the part
    is missing under which the list would hang.
    """
    found = dict(said)
    for name, value in said.items():
        if isinstance(value, list) or isinstance(document.get(name), list):
            rows = [one for one in value or [] if one[KEYED] is not None]
            found[name] = None if not rows and document.get(name) is None else rows
    return found
