"""A product as one query of PostgreSQL, which gives each document as JSON: what the database itself says a document is.
Called by `weft product check`. Knows no connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from weft.products.tree import Part, Product, ProductError
from weft.sources.postgres.name import TableName


@dataclass(frozen=True)
class DatabaseTable:
    """A table as the database has it: its name with its schema, its columns, its key."""

    name: tuple[str, ...]
    columns: Mapping[str, str]
    key: tuple[str, ...]


def document_query(product: Product, tables: Mapping[str, DatabaseTable]) -> str:
    """The query of all documents, each as one column of type jsonb."""
    root = product.root
    query = _Query(tables)
    alias = query.alias()
    shown = query.document(root, alias, is_root=True)
    where = query.conditions(root, alias)
    return f"SELECT {shown} FROM {query.table(root)} AS {alias}" + (
        f" WHERE {where}" if where else ""
    )


class _Query:
    """Writes the query, with an alias of its own for each table."""

    def __init__(self, tables: Mapping[str, DatabaseTable]) -> None:
        self._tables = tables
        self._aliases = 0

    def alias(self) -> str:
        """A name that no other table of the query has."""
        self._aliases += 1
        return f"t{self._aliases}"

    def table(self, part: Part) -> str:
        """The table that a part reads."""
        return ".".join(_quoted(name) for name in self._tables[part.table].name)

    def document(self, part: Part, alias: str, *, is_root: bool = False) -> str:
        """SQL of the document of a row."""
        table = self._tables[part.table]
        fields = dict(part.fields if part.fields is not None else ((c, c) for c in table.columns))
        if is_root:
            fields = {**{name: name for name in table.key}, **fields}
        pairs = [f"{_text(name)}, {_sql(sql, alias)}" for name, sql in fields.items()]
        found = [f"jsonb_build_object({', '.join(pairs)})"]
        for below in part.parts:
            value = self.part(below, alias)
            named = f"jsonb_build_object({_text(below.name)}, {value})"
            found.append(f"coalesce({value}, '{{}}'::jsonb)" if below.inline else named)
        return " || ".join(found)

    def part(self, part: Part, parent: str) -> str:
        """SQL of what a row of the parent shows of a part."""
        alias = self.alias()
        where = self.linked(part, alias, parent)
        rows = f"FROM {self.table(part)} AS {alias} WHERE {where}"
        if part.aggregate:
            columns = self._tables[part.table].columns
            pairs = [f"{_text(name)}, {_sql(sql, alias, columns)}" for name, sql in part.aggregate]
            return f"(SELECT jsonb_build_object({', '.join(pairs)}) {rows})"
        shown = self.document(part, alias)
        order = f"ORDER BY {', '.join(self._order(part, alias))}"
        if not part.many:
            return f"(SELECT {shown} {rows} {order} LIMIT 1)"
        limit = f" LIMIT {part.limit}" if part.limit is not None else ""
        listed = (
            f"SELECT {shown} AS shown, row_number() OVER ({order}) AS place {rows} {order}{limit}"
        )
        return f"(SELECT coalesce(jsonb_agg(shown ORDER BY place), '[]'::jsonb) FROM ({listed}) AS listed)"

    def linked(self, part: Part, alias: str, parent: str) -> str:
        """SQL that is true of the rows of a part that belong to a row of its parent."""
        links = [f"{alias}.{_quoted(own)} = {parent}.{_quoted(other)}" for own, other in part.on]
        return " AND ".join([*links, *self._told(part, alias)])

    def conditions(self, part: Part, alias: str) -> str:
        """SQL that is true of the rows that are there."""
        return " AND ".join(self._told(part, alias))

    def _told(self, part: Part, alias: str) -> Iterator[str]:
        if part.filter is not None:
            yield f"({_sql(part.filter, alias)})"
        for below in part.parts:
            if below.required:
                inner = self.alias()
                where = self.linked(below, inner, alias)
                yield f"EXISTS (SELECT 1 FROM {self.table(below)} AS {inner} WHERE {where})"

    def _order(self, part: Part, alias: str) -> Iterator[str]:
        for sql, falling in part.order:
            yield f"{_sql(sql, alias)} {'DESC NULLS LAST' if falling else 'ASC NULLS FIRST'}"
        for name in self._tables[part.table].key:
            # Texts stand in the order of their bytes, as in documents.
            is_text = self._tables[part.table].columns.get(name) == "string"
            yield f"{alias}.{_quoted(name)}" + (' COLLATE "C"' if is_text else "")


def _sql(text: str, alias: str, columns: Mapping[str, str] | None = None) -> str:
    """An expression of Spark's SQL over the columns of a table, as PostgreSQL writes it.

    `columns` are those that an aggregate reads: PostgreSQL has no `max` of what is true or false.
    """
    try:
        tree = sqlglot.parse_one(text, read="spark")
        is_extreme = isinstance(tree, exp.Max | exp.Min) and isinstance(tree.this, exp.Column)
        kind = (columns or {}).get(tree.this.name) if is_extreme else None
        if kind == "boolean":
            tree = exp.func("bool_or" if isinstance(tree, exp.Max) else "bool_and", tree.this)
        for column in list(tree.find_all(exp.Column)):
            column.replace(exp.column(exp.to_identifier(column.name, quoted=True), table=alias))
        if isinstance(tree, exp.Column):
            tree = exp.column(exp.to_identifier(tree.name, quoted=True), table=alias)
        return tree.sql(dialect="postgres")
    except SqlglotError as error:
        raise ProductError(
            f"{text!r} cannot be written for PostgreSQL: {error}.",
            code="product.not-comparable",
            hint="Products with such an expression cannot be compared with the database.",
        ) from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def table_of(
    topic: str, columns: Mapping[str, str], key: Sequence[str], *, found: str = ""
) -> DatabaseTable:
    """The table behind a topic of Debezium's, `prefix.schema.table`, or the one that was `found` in the database;
    columns come with their types."""
    named = TableName.parse(found)
    if named is not None:
        return DatabaseTable((named.schema, named.name), dict(columns), tuple(key))
    parts = topic.split(".")
    name = tuple(parts[-2:]) if len(parts) > 1 else (topic,)
    return DatabaseTable(name, dict(columns), tuple(key))
