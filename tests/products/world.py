"""A whole world from one seed: tables, a product over them, and everything that happens to the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from tests.products.envelope import Envelope, deliveries, envelopes
from tests.products.grow import Grower
from tests.products.history import Change, Writer, apply
from tests.products.table import Table, make_table
from weft.products.tree import Product


@dataclass(frozen=True)
class World:
    """What a product is made of, and how it came about."""

    seed: int
    product: Product
    empty: Mapping[str, Table]
    """The tables before they have rows: names, columns with types, keys."""
    snapshot: list[Change]
    transactions: list[list[Change]]

    @property
    def changes(self) -> list[Change]:
        """Everything that happened, in the order of the log; first the rows that were there."""
        return [*self.snapshot, *(change for one in self.transactions for change in one)]

    @property
    def tables(self) -> dict[str, Table]:
        """The tables as they are in the end."""
        return self.tables_after(len(self.transactions))

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of each table."""
        return {name: table.key for name, table in self.empty.items()}

    @property
    def schemas(self) -> dict[str, dict[str, str]]:
        """The columns of each table with their types as Spark writes them."""
        return {name: dict(table.columns) for name, table in self.empty.items()}

    def tables_after(self, number: int) -> dict[str, Table]:
        """The tables behind the first so many transactions; 0 is before all of them."""
        tables = {name: table.copy() for name, table in self.empty.items()}
        for changes in [self.snapshot, *self.transactions[:number]]:
            apply(changes, tables)
        return tables

    def events(self) -> dict[str, list[Envelope]]:
        """Debezium's envelopes by table, each in the order of the log."""
        return envelopes(self.changes, self.empty)

    def deliveries(self, rng: Random, *, disorder: bool = False) -> list[dict[str, list[Envelope]]]:
        """The envelopes in batches as they arrive, by table: see `envelope.deliveries`."""
        return deliveries(self.events(), self.keys, rng, disorder=disorder)


def make_world(seed: int, *, transactions: int | None = None) -> World:
    """The world of a seed, the same at every call; `transactions` makes it longer or shorter."""
    rng = Random(seed)
    names = [f"t{number}" for number in range(rng.randint(2, 6))]
    empty = {name: make_table(rng, name) for name in names}
    product = Grower(rng, empty).product()
    writer = Writer(rng, {name: table.copy() for name, table in empty.items()})
    snapshot = writer.snapshot()
    length = rng.randint(0, 30) if transactions is None else transactions
    done = [writer.transaction() for _ in range(length)]
    return World(seed, product, empty, snapshot, [changes for changes in done if changes])
