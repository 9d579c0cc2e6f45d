"""What a database's catalogue knows of a table: its number, columns, types and what names its rows in the log.
Called by `changes` before anything is read, and by the project's check where no columns are declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.schema.schema import Field, Schema
from weft.schema.type import Type
from weft.sources.postgres.address import Address, PostgresError
from weft.sources.postgres.event import Encoded, TableEvents
from weft.sources.postgres.name import TableName, quoted
from weft.sources.postgres.value import PgType, converter

if TYPE_CHECKING:
    from psycopg import Connection

MOST_DIGITS = 38
_TABLE = """
select c.oid, c.relkind::text, c.relreplident::text, has_table_privilege(c.oid, 'select'),
  (select i.indexrelid from pg_index i where i.indrelid = c.oid and
     case c.relreplident when 'i' then i.indisreplident else i.indisprimary end limit 1)
from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = %s and c.relname = %s
"""
_COLUMNS = """
select a.attname, a.atttypid, a.atttypmod,
  exists (select from pg_index i where i.indexrelid = %s and a.attnum = any (i.indkey::smallint[]))
from pg_attribute a where a.attrelid = %s and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
order by a.attnum
"""
_TYPES = """
with recursive t as (
  select oid as first, oid, typbasetype, typelem, typcategory, typname, typdelim, typtypmod
  from pg_type where oid = any (%s)
  union all
  select t.first, b.oid, b.typbasetype, b.typelem, b.typcategory, b.typname, b.typdelim, t.typtypmod
  from t join pg_type b on b.oid = t.typbasetype
)
select first, oid, case when typcategory = 'A' then typelem else 0 end, typname, typdelim, typtypmod
from t where typbasetype = 0
"""
_PLAIN: Mapping[int, str] = {
    16: "boolean",
    17: "binary",
    20: "bigint",
    21: "smallint",
    23: "int",
    26: "bigint",
    700: "float",
    701: "double",
    1082: "date",
    1114: "timestamp",
    1184: "timestamp",
}
_NUMERIC = 1700
_INTEGRAL = frozenset({"tinyint", "smallint", "int", "bigint"})
_NUMBERS = _INTEGRAL | {"float", "double", "decimal"}
_TIMES = frozenset({"timestamp", "timestamp_ntz", "date"})
_TAKEN: Mapping[int, frozenset[str]] = {
    16: frozenset({"boolean"}),
    17: frozenset({"binary"}),
    **dict.fromkeys((20, 21, 23, 26), _NUMBERS | {"boolean"}),
    **dict.fromkeys((700, 701, _NUMERIC), _NUMBERS),
    **dict.fromkeys((1082, 1114, 1184), _TIMES),
}
"""The declared types that values of a type may become; all others are texts, which may be anything."""


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: its name, its type, the digits that the type is cut to, and whether the log has its old
    value."""

    name: str
    type: PgType
    modifier: int = -1
    is_logged: bool = False


@dataclass(frozen=True)
class CatalogueTable:
    """A table as the catalogue has it."""

    name: TableName
    number: int
    columns: tuple[TableColumn, ...]
    identity: str
    """What names a row in the log: `d` its primary key, `i` an index, `f` all of it, `n` nothing."""
    is_root: bool = False
    """Whether it is divided into partitions."""
    may_read: bool = True

    def schema(self) -> Schema:
        """The columns as a project would declare them."""
        return Schema(
            tuple(Field(one.name, column_type(one.type, one.modifier)) for one in self.columns)
        )

    def events(self, declared: Schema, key: Sequence[str]) -> TableEvents:
        """What makes events of rows with all columns of the table; refuses it where a declared column is not there."""
        named = encoded([(one.name, one.type) for one in self.columns], declared, self.name)
        return TableEvents(named, key)

    def check(self, key: Sequence[str], stream: str | None) -> None:
        """Refuse a table whose deletions would not say which row is gone, or that may not be read."""
        if not self.may_read:
            raise PostgresError(
                f"Table {self.name} may not be read by this user.",
                code="source.privilege",
                hint=f"GRANT SELECT ON {self.name.sql} TO …",
                stream=stream,
            )
        logged = [one.name for one in self.columns if one.is_logged or self.identity == "f"]
        lowered = {name.lower() for name in logged}
        if self.identity == "n" or not {name.lower() for name in key} <= lowered:
            raise no_identity(self.name, logged if self.identity != "n" else (), key, stream)


def no_identity(
    name: TableName, logged: Sequence[str], key: Sequence[str], stream: str | None
) -> PostgresError:
    """A table whose deletions do not say which row is gone."""
    return PostgresError(
        f"The log of table {name} names changed and deleted rows by {', '.join(logged) or 'nothing'}; "
        f"it should be by {', '.join(key)}.",
        code="source.identity",
        domain="user",
        hint="Let `key` be its primary key, or give it one; or "
        f"ALTER TABLE {name.sql} REPLICA IDENTITY FULL, if `key` is unique.",
        stream=stream,
    )


def find_table(connection: Connection, name: TableName, address: Address) -> CatalogueTable:
    """The table of a name; refuses one that is not there."""
    found = connection.execute(_TABLE, (name.schema, name.name)).fetchone()
    if found is None or found[1] not in ("r", "p"):
        what = "is not there" if found is None else "is no table"
        raise PostgresError(
            f"Table {name} {what} in database {address.place}.",
            code="source.no-table",
            domain="missing",
            hint="Names are taken as they are written: `app.Users` is another one than `app.users`. "
            "One with dots in it stands in double quotes.",
            stream=address.stream,
        )
    number, kind, identity, may_read, index = found
    rows = connection.execute(_COLUMNS, (index, number)).fetchall()
    types = find_types(connection, [row[1] for row in rows])
    columns = tuple(
        TableColumn(column, types[kind], modifier, is_logged)
        for column, kind, modifier, is_logged in rows
    )
    return CatalogueTable(name, number, columns, identity, kind == "p", may_read)


def find_types(connection: Connection, numbers: Iterable[int]) -> dict[int, PgType]:
    """Types by their numbers: domains as what they are made of, arrays with their elements."""
    wanted = list(set(numbers))
    rows = connection.execute(_TYPES, (wanted,)).fetchall()
    elements = {row[2] for row in rows if row[2]}
    inner = find_types(connection, elements) if elements else {}
    found = {
        first: PgType(base, name, inner.get(element), separator, modifier)
        for first, base, element, name, separator, modifier in rows
    }
    return {number: found.get(number, PgType(number, "unknown")) for number in wanted}


def column_names(connection: Connection, table: int) -> list[str]:
    """The columns that the table of a number has now."""
    return [row[0] for row in connection.execute(_COLUMNS, (None, table)).fetchall()]


def encoded(
    columns: Sequence[tuple[str, PgType]],
    declared: Schema,
    name: TableName,
    *,
    later: Sequence[str] = (),
) -> list[Encoded]:
    """The declared columns among those of a table; refuses one that is not there, nor `later`, or has a type that does
    not fit."""
    exact = {column: (place, kind) for place, (column, kind) in enumerate(columns)}
    lowered = {column.lower(): found for column, found in exact.items()}
    made = []
    for field in declared:
        found = exact.get(field.name) or lowered.get(field.name.lower())
        if found is None and field.name.lower() in {one.lower() for one in later}:
            continue
        if found is None:
            near = ", ".join(column for column, _ in columns)
            raise changed(
                name, f"it has no column {field.name!r}. Its columns are {near}", field.name
            )
        place, kind = found
        if not fits(kind, field.type):
            why = f"column {field.name!r} is {kind.name} and is declared as {field.type}"
            raise changed(name, why, field.name)
        made.append(Encoded(field.name, place, converter(kind)))
    return made


def changed(name: TableName, why: str, column: str) -> PostgresError:
    """A table that is not as the project declares it."""
    return PostgresError(
        f"Table {name} is not as it is declared: {why}.",
        code="source.table-changed",
        domain="user",
        hint="Take the column out of `columns` and `weft apply`, which goes on from here; for another type, "
        "declare the table under another name.",
        column=column,
    )


def fits(kind: PgType, declared: Type) -> bool:
    """Whether values of a type may become the declared one; of texts each is tried by itself."""
    if declared.name == "string":
        return True
    if kind.element is not None:
        return declared.name == "array" and fits(kind.element, declared.items[0])
    taken = _TAKEN.get(kind.number)
    return taken is None or declared.name in taken


def column_type(kind: PgType, modifier: int) -> Type:
    """The type that a column has where none is declared; a string, which holds all of them, where there is no other."""
    if kind.element is not None:
        return Type("array", items=(column_type(kind.element, modifier),))
    if kind.number == _NUMERIC:
        return _decimal(modifier if modifier >= 0 else kind.modifier)
    return Type(_PLAIN.get(kind.number, "string"))


def _decimal(modifier: int) -> Type:
    """A decimal by the digits that a column is cut to; a text where they are not said, or are too many."""
    if modifier < 4:
        return Type("string")
    precision = (modifier - 4) >> 16 & 0xFFFF
    scale = ((modifier - 4) & 0x7FF ^ 1024) - 1024
    # A scale below zero means zeros before the point; one above the precision, zeros behind it.
    precision = max(precision - min(scale, 0), scale, 1)
    if precision > MOST_DIGITS:
        return Type("string")
    return Type("decimal", precision=precision, scale=max(scale, 0))


def select_of(table: CatalogueTable) -> str:
    """SQL of all rows of a table with all its columns, in their order."""
    columns: list[Any] = [quoted(one.name) for one in table.columns]
    return f"SELECT {', '.join(columns)} FROM {table.name.sql}"
