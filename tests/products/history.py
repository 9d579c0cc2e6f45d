"""Random changes of tables, in transactions. Made by `world`; told by `envelope`; applied to tables here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from tests.products.table import Key, Row, Table, make_key, make_row, make_value

Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Change:
    """One row of one table as it changed: op `r` (was there at first), `c`, `u`, `d`, or `t` for all rows gone.

    `position` rises from change to change; the two halves of a changed key share one. `unsaid` are columns that the
    database does not tell again, since they stayed as they were.
    """

    table: str
    op: str
    position: int
    transaction: int
    key: Key = ()
    before: Row | None = None
    after: Row | None = None
    unsaid: tuple[str, ...] = ()


class Writer:
    """Writes random transactions into tables, and notes what changed."""

    def __init__(self, rng: Random, tables: dict[str, Table]) -> None:
        self.rng = rng
        self.tables = tables
        self.position = 1_000
        self.transactions = 500

    def snapshot(self) -> list[Change]:
        """Fill the tables; all first rows have one position, as the database read them at one moment."""
        found = []
        for table in self.tables.values():
            for _ in range(self.rng.choice((0, 4, 6, 8, 10, 14))):
                key = make_key(self.rng, table)
                if key is not None:
                    table.rows[key] = make_row(self.rng, table, key)
            found += [
                Change(table.name, "r", self.position, self.transactions, key, None, dict(row))
                for key, row in table.rows.items()
            ]
        return found

    def transaction(self) -> list[Change]:
        """One to four acts; they often meet the same row."""
        self.transactions += 1
        found: list[Change] = []
        table = self.rng.choice(list(self.tables.values()))
        key: Key | None = None
        for _ in range(self.rng.choice((1, 1, 2, 3, 4))):
            if key is None or key not in table.rows or self.rng.random() < 0.6:
                if self.rng.random() < 0.6:
                    table = self.rng.choice(list(self.tables.values()))
                key = self.rng.choice(list(table.rows)) if table.rows else None
            found += self._act(table, key)
        return found

    def _act(self, table: Table, key: Key | None) -> Iterator[Change]:
        chance = self.rng.random()
        if key is None or chance < 0.33:
            yield from self._insert(table)
        elif chance < 0.66:
            yield self._update(table, key)
        elif chance < 0.75:
            yield from self._rekey(table, key)
        elif chance < 0.87:
            yield self._delete(table, key)
        elif chance < 0.997:
            yield self._delete(table, key)
            yield self._put(table, key, make_row(self.rng, table, key), "c")
        else:
            table.rows.clear()
            yield self._change(table, "t")

    def _insert(self, table: Table) -> Iterator[Change]:
        key = make_key(self.rng, table)
        if key is not None:
            yield self._put(table, key, make_row(self.rng, table, key), "c")

    def _update(self, table: Table, key: Key) -> Change:
        before = table.rows[key]
        after = dict(before)
        for name in self.rng.sample(table.others, self.rng.randint(0, min(3, len(table.others)))):
            after[name] = make_value(self.rng, table.columns[name])
        kept = [
            name
            for name in table.others
            if table.columns[name] == "string" and after[name] == before[name] is not None
        ]
        unsaid = [name for name in kept if not table.full and self.rng.random() < 0.25]
        return self._put(table, key, after, "u", before=before, unsaid=tuple(unsaid))

    def _rekey(self, table: Table, key: Key) -> Iterator[Change]:
        """A changed key is told as a delete and a create at one position."""
        new = make_key(self.rng, table)
        if new is None:
            return
        row = {**table.rows[key], **dict(zip(table.key, new, strict=True))}
        gone = self._delete(table, key)
        yield gone
        self.position = gone.position - 1
        yield self._put(table, new, row, "c")

    def _delete(self, table: Table, key: Key) -> Change:
        return self._change(table, "d", key, before=table.rows.pop(key))

    def _put(
        self,
        table: Table,
        key: Key,
        row: Row,
        op: str,
        *,
        before: Row | None = None,
        unsaid: tuple[str, ...] = (),
    ) -> Change:
        table.rows[key] = row
        return self._change(table, op, key, before=before, after=row, unsaid=unsaid)

    def _change(
        self,
        table: Table,
        op: str,
        key: Key = (),
        *,
        before: Row | None = None,
        after: Row | None = None,
        unsaid: tuple[str, ...] = (),
    ) -> Change:
        self.position += 1
        return Change(table.name, op, self.position, self.transactions, key, before, after, unsaid)


def apply(changes: list[Change], tables: Tables) -> None:
    """Make tables as they are behind some changes."""
    for change in changes:
        rows = tables[change.table].rows
        if change.op == "t":
            rows.clear()
        elif change.after is None:
            rows.pop(change.key)
        else:
            rows[change.key] = dict(change.after)
