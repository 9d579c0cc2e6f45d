"""A world in a storm: while its changes arrive, products are added and changed, rules come and go, tables and products
are rolled back, the connector starts over with a new snapshot, and the worker dies. Played by `tests/spark` and by
`bench.products`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.products.document import normalised
from tests.products.envelope import Envelope, deliveries, envelope
from tests.products.grow import Grower
from tests.products.history import Change
from tests.products.plain import documents
from tests.products.played import POINTS
from tests.products.table import Key, Table
from tests.products.world import World
from weft.errors import WeftError
from weft.products.tree import Product
from weft.products.write import write_product
from weft.testing import Play

LONGEST_WAIT_S = 60.0
MARK = "!"


@dataclass
class Storm:
    """What a world goes through, and what its documents have to be in the end."""

    world: World
    rng: Random
    products: dict[str, Product] = field(default_factory=dict)
    """The products that are deployed."""
    marked: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Of each table whose texts a rule marks, from its first change on: the column, and the rule."""
    done: list[str] = field(default_factory=list)

    def project(self) -> dict[str, Any]:
        """The project with the products as they are now."""
        return {
            "app_name": "storm",
            "tables": {
                name: {"topic": name, "key": list(table.key), "columns": dict(table.columns)}
                for name, table in self.world.empty.items()
            },
            "products": {
                name: {**write_product(one), "parallelism": 1 + self.world.seed % 2}
                for name, one in self.products.items()
            },
        }

    def play(self, run: Play) -> None:
        """Deliver everything that happens in the world, with one act after another beside it."""
        acts: list[Callable[[Play], None]] = [self._add, self._change, self._mark, self._passing]
        acts += [self._roll_back, self._roll_back]
        self.rng.shuffle(acts)
        if not self.products:
            acts.insert(0, self._add)
        told = restarted(self.world, self.rng)
        disorder = self.world.seed % 2 == 1
        for batch in deliveries(told, self.world.keys, self.rng, disorder=disorder):
            for table, events in batch.items():
                run.append(table, events)
            if acts:
                self._beside(run, acts.pop(0))
        for act in acts:
            self._beside(run, act)
        run.settle()

    def wanted(self, run: Play) -> dict[str, dict[Key, Any]]:
        """The documents of each product, as the final tables make them, and the rules that no rollback has retired."""
        tables = self.world.tables
        active = {rule["id"] for rule in run.api.get("/rules", params={"active": True}).json()}
        for name, (column, rule) in self.marked.items():
            for row in tables[name].rows.values() if rule in active else ():
                row[column] = None if row[column] is None else row[column] + MARK
        return {name: normalised(documents(one, tables)) for name, one in self.products.items()}

    def found(self, run: Play) -> dict[str, dict[Key, Any]]:
        """The documents that each product has."""
        made: dict[str, dict[Key, Any]] = {}
        for name, product in self.products.items():
            key = self.world.keys[product.root.table]
            rows = [normalised(one) for one in run.documents(name)]
            made[name] = {tuple(row[column] for column in key): row for row in rows}
        return made

    def _beside(self, run: Play, act: Callable[[Play], None]) -> None:
        """Do something while batches run; now and then the worker dies on the way."""
        self.done.append(act.__name__.strip("_"))
        with ThreadPoolExecutor(1) as beside:
            doing = beside.submit(act, run)
            if self.rng.random() < 0.3:
                self.done.append("crash")
                run.crash(at=self.rng.choice(POINTS))
                run.settle()
                run.resume()
            doing.result(LONGEST_WAIT_S)

    def _add(self, run: Play) -> None:
        """Two products at once; they read tables that are being loaded."""
        number = len(self.products)
        grower = Random(self.world.seed + number)
        self.products |= {
            f"p{number}": self.world.product,
            f"p{number + 1}": Grower(grower, self.world.empty).product(),
        }
        self._deploy(run)

    def _change(self, run: Play) -> None:
        """Each product loses its last part, and is made again."""
        for name, product in self.products.items():
            parts = product.root.parts[:-1]
            self.products[name] = replace(product, root=replace(product.root, parts=parts))
        self._deploy(run)

    def _mark(self, run: Play) -> None:
        """A rule from the first change of a table on, for good: recorded changes pass it too."""
        found = self._text()
        if found is not None and found[0] not in self.marked:
            table, column = found
            rule = self._attach(run, table, f"concat({column}, '{MARK}')", column, start=0)
            self.marked[table] = column, rule

    def _passing(self, run: Play) -> None:
        """A rule on a table that is taken back again, with all that it did."""
        found = self._text()
        if found is None:
            return
        table, column = found
        before = max((knot.number for knot in run.knots(table)), default=0)
        rule = self._attach(run, table, "'wrong'", column)
        _until(lambda: max((one.number for one in run.knots(table)), default=0) > before, 1.0)
        run.retire(rule)
        self._back(run, table, before)

    def _roll_back(self, run: Play) -> None:
        """A table or a product back to any of its knots; what was behind it is read again."""
        names = [
            *self.world.empty,
            *(name for name in self.products if name in run.project.streams),
        ]
        stream = self.rng.choice(names)
        knots = [knot.number for knot in run.knots(stream)]
        if knots:
            self._back(run, stream, self.rng.choice(knots))

    def _back(self, run: Play, stream: str, to: int) -> None:
        """Roll back, if there is something behind that knot."""
        try:
            self._ask(lambda: run.post("/rollbacks", {"stream": stream, "to": to}))
        except WeftError as error:
            if error.code != "rollback.nothing":
                raise

    def _attach(self, run: Play, table: str, sql: str, column: str, **options: Any) -> str:
        steps = [{"set": {column: sql}}]
        rule = self._ask(lambda: run.attach(stream=table, steps=steps, **options))
        return str(rule.id)

    def _deploy(self, run: Play) -> None:
        self._ask(lambda: run.apply(self.project(), recompute=True))

    def _text(self) -> tuple[str, str] | None:
        """A table with a column of texts that is not in its key."""
        tables = list(self.world.empty.values())
        texts = [(one.name, name) for one in tables for name in one.of_type("string")]
        free = [(table, name) for table, name in texts if name in self.world.empty[table].others]
        return self.rng.choice(free) if free else None

    def _ask(self, ask: Callable[[], Any]) -> Any:
        """Ask until nothing else is under way with the same pipelines."""
        deadline = time.monotonic() + LONGEST_WAIT_S
        while True:
            try:
                return ask()
            except WeftError as error:
                if error.code != "operation.busy" or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def restarted(world: World, rng: Random) -> dict[str, list[Envelope]]:
    """The events of a world whose connector was away for some transactions and then read every table anew.

    A table without rows at that moment goes on as it was: of an empty table a snapshot tells nothing.
    """
    told = {name: list(events) for name, events in world.events().items()}
    for events in told.values():
        for event in events:
            event["source"]["lsn"] *= 2
    if not world.transactions:
        return told
    ends = rng.randint(1, len(world.transactions))
    begins = rng.randint(0, ends - 1)
    last = world.transactions[ends - 1][-1]
    missed = range(world.transactions[begins][0].transaction, last.transaction + 1)
    for name, table in world.tables_after(ends).items():
        if table.rows:
            before = [one for one in told[name] if one["source"]["txId"] < missed.start]
            after = [one for one in told[name] if one["source"]["txId"] >= missed.stop]
            told[name] = [*before, *_snapshot(table, last), *after]
    return told


def _snapshot(table: Table, last: Change) -> list[Envelope]:
    """All rows of a table at one position, behind a change and before all that come after it."""
    rows: Mapping[Key, Any] = table.rows
    found = []
    for number, (key, row) in enumerate(rows.items(), start=1):
        read = Change(table.name, "r", last.position, last.transaction, key, None, dict(row))
        event = envelope(read, table, last=number == len(rows))
        event["source"]["lsn"] = 2 * last.position + 1
        found.append(event)
    return found


def _until(is_so: Callable[[], bool], seconds: float) -> None:
    """Wait until something is so, but no longer than that."""
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
