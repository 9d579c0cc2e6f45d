"""A product against the columns of its tables: what its documents look like, and what the kernel is told to keep.
Called by the loader, which wants the columns and what is wrong, and by the worker, which runs it. Knows no Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from weft.errors import WeftError
from weft.gate.coercion import NESTED, common
from weft.gate.expression import Checked
from weft.products.boundary import KEY, NEEDED, held_form
from weft.products.reading import Reading, ReadingError, TableColumns, cast
from weft.products.tree import Part, Path, Product, ProductError
from weft.schema.schema import Field, Schema, Type, literal, quoted
from weft.steps.compile import new_name, storable
from weft.windows.aggregate import checked_aggregate


@dataclass(frozen=True)
class Assembly:
    """A product that can run: the columns of its documents, their key, and the form in which the kernel gets it."""

    columns: Schema
    key: tuple[str, ...]
    tables: tuple[str, ...]
    nodes: tuple[Mapping[str, Any], ...]
    needs: Mapping[str, Mapping[str, Any]]
    """What is needed of each table: its key, its columns, and the expressions that may fail."""
    held: Mapping[str, Any] | None = None
    """What changes wait for, if only whole transactions are shown."""
    entry: ClassVar = "product.Assemble.attach"
    step: ClassVar = "product"

    def columns_of_rows(self, table: int) -> Sequence[str] | None:
        """What is read of a table whose rows are enough, whatever happened to them before.

        None where all changes count: they wait for their transactions, or one that fails leaves the row before it.
        """
        needs = self.needs.get(self.tables[table]) if self.held is None else None
        return None if needs is None or needs["may_fail"] else needs["columns"]

    def to_kernel(self) -> dict[str, Any]:
        """The form that `weft.kernel.product.Assemble` reads."""
        tables = [self.needs[name] for name in self.tables]
        if self.held is None:
            return {"tables": tables, "nodes": list(self.nodes)}
        ends = {"key": [quoted(KEY)], "columns": list(NEEDED), "may_fail": []}
        return {"tables": [*tables, ends], "nodes": list(self.nodes), "held": dict(self.held)}


def assemble(product: Product, tables: Mapping[str, TableColumns]) -> Assembly:
    """The product over these tables; refuses what does not fit them, with the path of the part that is wrong."""
    work = _Work(product, tables)
    work.node(product.root, parent=None, place=0, level=0, path=())
    root = tables[product.root.table]
    held = None
    if product.transactions is not None:
        topics = {name: tables[name].topic or "" for name in product.tables()}
        held = held_form(product.tables(), topics)
    return Assembly(
        columns=Schema(work.outputs[0]),
        key=root.key,
        tables=product.tables(),
        nodes=tuple(work.nodes),
        needs={name: work.needs[name].to_kernel() for name in product.tables()},
        held=held,
    )


class _Work:
    """The nodes in the making: each is numbered before its parts, whose fields it may take in."""

    def __init__(self, product: Product, tables: Mapping[str, TableColumns]) -> None:
        self._product = product
        self._tables = tables
        self.nodes: list[dict[str, Any]] = []
        self.outputs: list[tuple[Field, ...]] = []
        self.needs: dict[str, Reading] = {}

    def node(
        self, part: Part, *, parent: tuple[int, Part] | None, place: int, level: int, path: Path
    ) -> int:
        """Add a part and all below it; returns its number."""
        number = len(self.nodes)
        table = self._table(part, path)
        node: dict[str, Any] = {
            "table": self._product.tables().index(part.table),
            "parent": -1 if parent is None else parent[0],
            "place": place,
            "level": level,
            "many": part.many,
            "required": part.required,
            "takes_nulls": parent is None,
            "limit": part.limit,
            "filter": None,
            "order": [],
            "aggregates": [],
            "fields": [],
            "outputs": [],
        }
        self.nodes.append(node)
        self.outputs.append(())
        if part.filter is not None:
            checked = self._checked(part, part.filter, (*path, "filter"), boolean=True)
            node["filter"] = checked.sql
        node["link"] = (
            [quoted(name) for name in table.key]
            if parent is None
            else [self._link(part, parent[1], pair, (*path, "on"))[0] for pair in part.on]
        )
        own = (
            self._aggregated(part, node, path) if part.aggregate else self._shown(part, node, path)
        )
        parts = [
            self.node(
                below,
                parent=(number, part),
                place=at,
                level=level + 1,
                path=(*path, "parts", below.name),
            )
            for at, below in enumerate(part.parts)
        ]
        node["parts"] = parts
        node["part_links"] = [
            [
                self._link(below, part, pair, (*path, "parts", below.name, "on"))[1]
                for pair in below.on
            ]
            for below in part.parts
        ]
        self.outputs[number] = self._put_together(part, node, own, path)
        return number

    def _table(self, part: Part, path: Path) -> TableColumns:
        if part.table in self._tables:
            table = self._tables[part.table]
            self.needs.setdefault(part.table, Reading(part.table, table))
            return table
        raise self._wrong(f"reads {part.table!r}, and there is no such table", path)

    def _shown(self, part: Part, node: dict[str, Any], path: Path) -> list[Field]:
        """The fields of a row, and what it is ordered by; a document begins with its key."""
        table = self._tables[part.table]
        for text, falling in part.order:
            checked = self._checked(part, text, (*path, "order"))
            node["order"].append({"expr": checked.sql, "falling": falling})
        node["order"] += [{"expr": quoted(name), "falling": False} for name in table.key]
        plain = tuple((one.name, quoted(one.name)) for one in table.columns)
        fields = dict(plain if part.fields is None else part.fields)
        if not path:
            fields = self._with_key(table, fields)
        shown: list[Field] = []
        for name, text in fields.items():
            where = (*path, "fields", name)
            checked = self._checked(part, text, where)
            try:
                shown.append(Field(new_name(name), storable(name, checked.type)))
            except WeftError as error:
                raise self._at(error, where) from error
            node["fields"].append(checked.sql)
        return shown

    def _with_key(self, table: TableColumns, fields: Mapping[str, str]) -> dict[str, str]:
        known = {name.lower(): (name, text) for name, text in fields.items()}
        key: dict[str, str] = {}
        for name in table.key:
            given, text = known.pop(name.lower(), (name, quoted(name)))
            if text.strip("` ").lower() != name.lower():
                message = f"shows {text} as {given!r}, which is a column of its key"
                raise self._wrong(message, ("fields", given), "Give the field another name.")
            key[name] = quoted(name)
        return key | dict(known.values())

    def _aggregated(self, part: Part, node: dict[str, Any], path: Path) -> list[Field]:
        """The columns of an aggregate over the rows of a part."""
        columns = self._tables[part.table].columns
        made: list[Field] = []
        for name, text in part.aggregate:
            where = (*path, "aggregate", name)
            try:
                aggregate, kind = checked_aggregate(name, text, columns)
                made.append(Field(new_name(name), storable(name, kind)))
            except WeftError as error:
                raise self._at(error, where) from error
            for argument in aggregate.arguments:
                self._checked(part, argument, where)
            node["aggregates"].append(aggregate.to_kernel())
        return made

    def _put_together(
        self, part: Part, node: dict[str, Any], own: list[Field], path: Path
    ) -> tuple[Field, ...]:
        """The fields of the node's document: its own, then its parts or what they show."""
        found = list(own)
        if not part.aggregate:
            node["outputs"] = [
                {"name": one.name, "own": at, "part": -1, "field": None}
                for at, one in enumerate(own)
            ]
        for at, below in enumerate(part.parts):
            fields = self.outputs[node["parts"][at]]
            if below.inline:
                shown = [(one, one.name) for one in fields]
            else:
                kind = Type("struct", fields=fields)
                kind = Type("array", items=(kind,)) if below.is_list else kind
                shown = [(Field(below.name, kind), None)]
            for one, inside in shown:
                if any(one.name.lower() == other.name.lower() for other in found):
                    message = f"has {one.name!r} twice"
                    raise self._wrong(message, (*path, "parts", below.name), "Rename one of them.")
                found.append(one)
                node["outputs"].append({"name": one.name, "own": -1, "part": at, "field": inside})
        return tuple(found)

    def _link(self, part: Part, parent: Part, pair: tuple[str, str], path: Path) -> tuple[str, str]:
        """The two sides of a link as SQL of the same type."""
        sides = (
            self._column(part, pair[0], path),
            self._column(parent, pair[1], path),
        )
        kind = common(sides[0].type, sides[1].type)
        if kind is None or kind.name in NESTED:
            message = (
                f"links {sides[0].name}, a {sides[0].type}, to {sides[1].name}, a {sides[1].type}"
            )
            raise self._wrong(message, path, "Declare both columns with the same plain type.")
        own, other = (cast(one, kind) for one in sides)
        return own, other

    def _column(self, part: Part, name: str, path: Path) -> Field:
        self._table(part, path)
        try:
            return self.needs[part.table].column(name)
        except WeftError as error:
            raise self._at(error, path) from error

    def _checked(self, part: Part, text: str, path: Path, *, boolean: bool = False) -> Checked:
        try:
            return self.needs[part.table].checked(text, boolean=boolean, where=part.filter)
        except ReadingError as error:
            what = error.message.removeprefix("It ").rstrip(".")
            raise self._wrong(what, path, error.hint or "") from error
        except WeftError as error:
            raise self._at(error, path) from error

    def _wrong(self, what: str, path: Path, hint: str = "") -> ProductError:
        name = self._product.name
        return ProductError(f"Product {name!r} {what}.", hint=hint, product=name, path=path)

    def _at(self, error: WeftError, path: Path) -> ProductError:
        return ProductError(
            error.message, code=error.code, hint=error.hint, product=self._product.name, path=path
        )


def document_id(name: str, key: Sequence[str]) -> str:
    """SQL of a changed document's id: the product, the batch that changed it, its key."""
    columns = ", ".join(f"row.document.{quoted(one)}" for one in key)
    return f"concat_ws('/', {literal(name)}, row.batch, md5(to_json(struct({columns}))))"
