"""A random product over tables. Every name that it makes up is new, so that no two meet in one document."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from random import Random

from tests.products.table import Table, family
from weft.products.tree import Pairs, Part, Product

NUMBERS = ("int", "bigint", "double", "decimal(10,2)")
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "int": ("{} > 2", "{} <> 1", "{} is not null", "{} between 1 and 3", "{} in (0, 2, 4)"),
    "bigint": ("{} >= 1", "{} is null"),
    "string": ("{} <> 'b'", "{} = 'a' or {} = 'c'", "not {} = ''", "{} is not null"),
    "double": ("{} > 0.5", "{} <= 2"),
    "decimal(10,2)": ("{} >= 1.50", "{} < 3"),
    "boolean": ("{}", "not {}", "{} is not true"),
    "timestamp": ("{} > timestamp '2024-02-01 12:30:00'",),
}
VALUES: Mapping[str, tuple[str, ...]] = {
    "int": ("{} * 2", "{} + 1", "coalesce({}, -7)"),
    "bigint": ("{} - 1", "-{}"),
    "string": ("upper({})", "coalesce({}, '-')", "length({})"),
    "double": ("{} * 2",),
    "decimal(10,2)": ("coalesce({}, 0.25)",),
    "boolean": ("not {}",),
    "timestamp": ("{}",),
}


class Grower:
    """Grows one tree."""

    def __init__(self, rng: Random, tables: Mapping[str, Table]) -> None:
        self.rng = rng
        self.tables = tables
        self.numbers = count()
        self.budget = rng.randint(2, 8)
        self.depth = rng.choice((1, 2, 3, 3, 4, 4))

    def product(self) -> Product:
        """A root with parts below it."""
        table = self.rng.choice(list(self.tables.values()))
        fields = self._fields(table, inline=False)
        where, parts = self._filter(table), self._parts(table, 1)
        return Product("grown", Part(table.name, fields=fields, filter=where, parts=parts))

    def _parts(self, parent: Table, level: int) -> tuple[Part, ...]:
        if level >= self.depth:
            return ()
        found = []
        for _ in range(self.rng.choice((1, 2, 3, 3) if level == 1 else (0, 1, 2, 2))):
            if self.budget > 0:
                self.budget -= 1
                found.append(self._part(parent, level))
        return tuple(found)

    def _part(self, parent: Table, level: int) -> Part:
        child = self.rng.choice(list(self.tables.values()))
        many = self.rng.random() < 0.6
        on = self._links(child, parent, many=many)
        if not on:
            child, on = parent, self._links(parent, parent, many=many)
        name = self._new("p")
        said = {
            "filter": self._filter(child),
            "required": self.rng.random() < 0.2,
        }
        if many and self.rng.random() < 0.35:
            inline = self.rng.random() < 0.5
            aggregate = self._aggregates(child)
            return Part(child.name, name, True, on, inline=inline, aggregate=aggregate, **said)
        inline = not many and self.rng.random() < 0.35
        fields = self._fields(child, inline=inline)
        return Part(
            child.name,
            name,
            many,
            on,
            fields,
            order=self._order(child),
            limit=self.rng.randint(1, 3) if many and self.rng.random() < 0.4 else None,
            inline=inline,
            parts=self._parts(child, level + 1),
            **said,
        )

    def _links(self, child: Table, parent: Table, *, many: bool) -> Pairs:
        """Pairs of columns that can be equal: by the child's key, the parent's, or any.

        Where many rows are wanted, columns come first that many rows can have alike.
        """
        pairs = [
            (one, other)
            for one, kind in child.columns.items()
            for other, kind_there in parent.columns.items()
            if family(kind) == family(kind_there)
        ]
        self.rng.shuffle(pairs)
        if many:
            pairs.sort(key=lambda pair: pair[0] in child.key)
        way = self.rng.choice(("parent" if many else "child", "any"))
        keyed = child.key if way == "child" else parent.key
        found: dict[str, str] = {}
        if way != "any":
            for column in keyed:
                at = 0 if way == "child" else 1
                fits = [pair for pair in pairs if pair[at] == column and pair[0] not in found]
                if fits:
                    found[fits[0][0]] = fits[0][1]
        if len(found) < len(keyed) or way == "any":
            found = dict(pairs[: self.rng.choice((1, 1, 1, 1, 2))])
        return tuple(found.items())

    def _fields(self, table: Table, *, inline: bool) -> Pairs | None:
        """Some columns, some under new names, some computed; None, for all, where no name can meet another."""
        if not inline and self.rng.random() < 0.3:
            return None
        most = min(4, len(table.columns))
        chosen = self.rng.sample(list(table.columns), self.rng.randint(0 if inline else 1, most))
        found = []
        for column in chosen:
            if not inline and self.rng.random() < 0.5:
                found.append((column, column))
                continue
            forms = (*VALUES[table.columns[column]], "{}")
            found.append((self._new("f"), self.rng.choice(forms).replace("{}", column)))
        return tuple(found)

    def _filter(self, table: Table) -> str | None:
        if self.rng.random() >= 0.25:
            return None
        found = [self._condition(table) for _ in range(self.rng.choice((1, 1, 2)))]
        return f" {self.rng.choice(('and', 'or'))} ".join(f"({one})" for one in found)

    def _condition(self, table: Table) -> str:
        column, kind = self.rng.choice(list(table.columns.items()))
        return self.rng.choice(CONDITIONS[kind]).replace("{}", column)

    def _order(self, table: Table) -> tuple[tuple[str, bool], ...]:
        found = []
        for column in self.rng.sample(list(table.columns), self.rng.choice((0, 1, 1, 2))):
            forms = (*VALUES[table.columns[column]], "{}", "{}", "{}")
            sql = self.rng.choice(forms).replace("{}", column)
            found.append((sql, self.rng.random() < 0.5))
        return tuple(found)

    def _aggregates(self, table: Table) -> Pairs:
        found = [(self._new("a"), "count(*)")] if self.rng.random() < 0.6 else []
        for _ in range(self.rng.randint(0 if found else 1, 3)):
            column, kind = self.rng.choice(list(table.columns.items()))
            functions = ("count", "min", "max", *(("sum", "avg") if kind in NUMBERS else ()))
            function = self.rng.choice(functions)
            plain = function == "avg" or self.rng.random() < 0.7
            sql = "{}" if plain else self.rng.choice(VALUES[kind])
            if function == "sum" and kind not in ("int", "bigint"):
                sql = "{}"
            found.append((self._new("a"), f"{function}({sql.replace('{}', column)})"))
        return tuple(found)

    def _new(self, letter: str) -> str:
        return f"{letter}{next(self.numbers)}"
