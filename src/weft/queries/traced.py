"""Which rows of its streams a result of a changing pipeline is made of, said by columns that are equal. Pure: the
weaver says it, a worker looks for the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from weft import codec
from weft.products.reading import TableColumns
from weft.products.tree import Product
from weft.project.definition import PipelineSpec, Project
from weft.project.operator import Joining
from weft.queries.joined import SIDE, added

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Lookup:
    """The rows of one stream that a result is made of; the same way back are the results that a row came into."""

    stream: str
    by: Pairs
    """Column of the stream and column of the result; null is equal to null."""
    given: tuple[str, ...] = ()
    """Columns of the result that are null where it has no row of the stream."""
    unless: tuple[str, str] | None = None
    """Column and value of results that have no row of the stream."""


@dataclass(frozen=True)
class Traced:
    """How results of a pipeline and rows of its streams are found by one another."""

    lookups: tuple[Lookup, ...]
    """Those of a product are of its root: the rest is found along its tree."""
    keys: Mapping[str, tuple[str, ...]]
    """The keys of its streams."""
    product: Product | None = None
    taken: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Columns of results that have the values of a column as they are: that column, by the stream that it is of."""

    @property
    def columns(self) -> set[str]:
        """The columns of a result by which its rows are found."""
        named = {theirs for one in self.lookups for _, theirs in one.by}
        return named | {one.unless[0] for one in self.lookups if one.unless}


def traced(spec: PipelineSpec, project: Project) -> Traced:
    """How the results of a product or an updating query are found, as they are before its steps."""
    if spec.product is not None:
        return _assembled(codec.from_form(Product, spec.product), project)
    tables = {name: _table(project, name) for name in spec.inputs}
    keys = {name: table.key for name, table in tables.items()}
    if spec.join is not None:
        return _joined(codec.from_form(Joining, spec.join), tables, keys)
    [(stream, table)] = tables.items()
    if spec.group is None:
        names, shown = table.key, table.columns.names
    else:
        names = shown = tuple(_named(table, name) for name in spec.group["by"])
    lookup = Lookup(stream, tuple((name, name) for name in names))
    return Traced((lookup,), keys, taken={name: {stream: name} for name in shown})


def _table(project: Project, name: str) -> TableColumns:
    stream = project.stream(name)
    return TableColumns.of(stream.schema, stream.key)


def _named(table: TableColumns, name: str) -> str:
    """A column as its table calls it."""
    found = table.columns.find(name)
    return name if found is None else found.name


def _assembled(product: Product, project: Project) -> Traced:
    root = product.root
    table = _table(project, root.table)
    shown = [(name, name) for name in table.columns.names] if root.fields is None else root.fields
    plain = {
        name: {root.table: found.name}
        for name, sql in (*((name, name) for name in table.key), *shown)
        if (found := table.columns.find(sql.strip("`"))) is not None
    }
    lookup = Lookup(root.table, tuple((name, name) for name in table.key))
    keys = {name: project.stream(name).key for name in product.tables()}
    return Traced((lookup,), keys, product, plain)


def _joined(
    said: Joining, tables: Mapping[str, TableColumns], keys: Mapping[str, tuple[str, ...]]
) -> Traced:
    [(left, ours), (right, theirs)] = tables.items()
    on = tuple((_named(theirs, other), _named(ours, one)) for one, other in said.on)
    taken: dict[str, dict[str, str]] = {name: {left: name} for name in ours.columns.names}
    if said.type not in ("semi", "anti"):
        taken |= {one.name: {right: one.name} for one in added(theirs.columns, said.on)}
    if said.type in ("right", "full"):
        # Of a row without a partner on the left, what must be equal has the right one's values.
        for other, one in on:
            taken[one] = {right: other, **taken[one]}
    return Traced(tuple(_sides(said, left, right, on, keys)), keys, taken=taken)


def _sides(
    said: Joining, left: str, right: str, on: Pairs, keys: Mapping[str, tuple[str, ...]]
) -> Iterator[Lookup]:
    is_full = said.type == "full"
    given = tuple(ours for _, ours in on)
    yield Lookup(
        left,
        tuple((name, name) for name in keys[left]),
        unless=(SIDE.name, "right") if is_full else None,
    )
    if said.type in ("semi", "anti"):
        yield Lookup(right, on, given)
        return
    shared = dict(reversed(on))
    key = tuple((name, shared.get(name, name)) for name in keys[right])
    both = tuple(dict.fromkeys((*key, *on)))
    yield Lookup(right, both, given, unless=(SIDE.name, "left") if is_full else None)
