"""Which changes made a document what it is: its tree is walked over the recorded changes of its tables, up to the knots
that the document was made of. Runs where the data is: in a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weft import codec
from weft.products.cause import Cause
from weft.products.tree import Part, Product
from weft.runtime.changed_table import ChangedTable, Values, changed_tables
from weft.runtime.collected import plain
from weft.schema.change import CHANGE
from weft.schema.weft import WEFT
from weft.streams.current import Newest, Row, key_of

if TYPE_CHECKING:
    from weft.runtime.worker import Worker


def find_causes(
    worker: Worker, *, product: str, key: list[str], upto: Mapping[str, int]
) -> list[Cause]:
    """The rows that the document of a key is made of, its root's first; `upto` is the last knot of each table."""
    assert worker.project is not None
    spec = worker.project.pipeline(product)
    made_of = codec.from_form(Product, spec.product)
    keys = {name: worker.project.stream(name).key for name in made_of.tables()}
    tables = changed_tables(worker, keys, upto)
    root = made_of.root
    found = documents_of(
        root, tables[root.table].written(keys[root.table], key, root.filter), tables
    )
    return [one.cause(tables) for one in found]


def documents_of(
    root: Part, rows: list[Newest], tables: Mapping[str, ChangedTable]
) -> list[FoundRow]:
    """Rows of a product's root with all rows that their documents are made of."""
    found = [FoundRow("", root, row) for row in rows]
    _grow(found, tables)
    return [one for one in found if one.is_whole]


@dataclass
class FoundRow:
    """A row in its place, with those found by it."""

    path: str
    part: Part
    newest: Newest
    parts: list[FoundRow] = field(default_factory=list)

    @property
    def row(self) -> Row:
        return self.newest.row

    @property
    def is_whole(self) -> bool:
        """Whether it has all parts that it cannot be without."""
        required = {part.name for part in self.part.parts if part.required}
        return required <= {one.part.name for one in self.parts}

    def walk(self) -> Iterator[FoundRow]:
        """This row and all below it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def cause(self, tables: Mapping[str, ChangedTable]) -> Cause:
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


def _grow(parents: list[FoundRow], tables: Mapping[str, ChangedTable]) -> None:
    """Find the rows of the parts of some rows of one part, all at once, and theirs."""
    if not parents:
        return
    above, table = parents[0].part, tables[parents[0].part.table]
    for part in above.parts:
        path = ".".join(filter(None, (parents[0].path, part.name)))
        columns, theirs = [ours for ours, _ in part.on], [name for _, name in part.on]
        looked = [tuple(parent.row[name] for name in theirs) for parent in parents]
        links = [link for link in looked if None not in link]
        looked_up = tables[part.table]
        rows = looked_up.having(columns, links, table.types(theirs), part.filter)
        most = None if part.aggregate else part.limit if part.many else 1
        if most is not None:
            rows = looked_up.in_order(rows, part.order)
        below = [FoundRow(path, part, one) for one in rows]
        _grow(below, tables)
        found: dict[Values, list[FoundRow]] = {}
        for one in below:
            if one.is_whole:
                found.setdefault(key_of(one.row, columns), []).append(one)
        for parent in parents:
            parent.parts += found.get(key_of(parent.row, theirs), [])[:most]
