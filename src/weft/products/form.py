"""The keys of a product and of its parts in a project file. Read by `read`; the reference and the schema for editors
are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from weft.declared.key import Key
from weft.declared.limit import FLAG, TEXT, Fault, Limit, shape, whole
from weft.declared.read import faults, made
from weft.products.limit import AGGREGATE_ALL, FIELDS, ON, ORDER, SQL, named
from weft.products.tree import Pairs

MAX_DEPTH = 16
"""Parts below one another; each is one more link to follow for a change."""
MOST_ROWS = 1_000_000

_ONE = {"one": "customers", "on": {"id": "customer"}}
_MANY = {"many": "lines", "on": {"order_id": "id"}}
PART_SCHEMA = {"$ref": "#/$defs/part"}
"""How a part stands below another in the schema for editors; its definition is `schema_of(PartKeys)`."""


class Parts(Limit):
    """Parts by name, which may have parts in turn."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """Everything that is wrong below, to the deepest part."""
        if not isinstance(value, Mapping):
            yield Fault("wrong-type", self.expected)
        elif _is_deep(value):
            yield Fault("out-of-range", f"at most {MAX_DEPTH} parts below one another")
        else:
            yield from named(value, _PART)

    def take(self, value: Any) -> Mapping[str, PartKeys]:
        """What is said of each part, by its name."""
        return {name: made(PartKeys, one) for name, one in value.items()}


class Below(Limit):
    """One part of a product."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """Everything that is wrong with it and below it."""
        return faults(PartKeys, value)


_PART = Below("a part", lambda value: None, PART_SCHEMA)
PARTS = Parts(
    "a mapping of name to part",
    lambda value: None,
    {"type": "object", "additionalProperties": PART_SCHEMA},
)


@dataclass(frozen=True)
class PartKeys:
    """Rows of a table that belong to a row of its parent: `one` of them, or `many`."""

    one: Annotated[
        str | None,
        Key(
            TEXT,
            "The table of which it is one row: the first by `order`, then by the table's key.",
            "customers",
            unsaid="it says `many`",
            beside={"on": {"id": "customer"}},
        ),
    ] = None
    many: Annotated[
        str | None,
        Key(
            TEXT,
            "The table of which it is a list of rows, or an aggregate over them.",
            "lines",
            unsaid="it says `one`",
            beside={"on": {"order_id": "id"}},
        ),
    ] = None
    on: Annotated[
        Pairs,
        Key(
            ON,
            "The columns that must be equal, the part's before its parent's. Null equals nothing.",
            {"order_id": "id"},
            unsaid="must be written",
            beside={"many": "lines"},
        ),
    ] = ()
    fields: Annotated[
        Pairs | None,
        Key(
            FIELDS,
            "What it shows of a row: columns, or names with SQL over the columns of its table.",
            {"repo": "lower(repo_name)"},
            unsaid="all columns of its table",
            beside=_MANY,
        ),
    ] = None
    filter: Annotated[
        str | None,
        Key(
            SQL,
            "Rows for which it is not true are not there.",
            "quantity > 0",
            unsaid="all rows",
            beside=_MANY,
        ),
    ] = None
    required: Annotated[
        bool,
        Key(FLAG, "Whether a parent without a row of it is left out.", True, beside=_ONE),
    ] = False
    order: Annotated[
        tuple[tuple[str, bool], ...],
        Key(
            ORDER,
            "The order of its rows. Nulls are first where it rises; rows that are equal go by their key.",
            ["placed_at desc"],
            unsaid="by the table's key",
            beside=_MANY,
        ),
    ] = ()
    limit: Annotated[
        int | None,
        Key(
            whole(1, MOST_ROWS),
            "How many rows it keeps, the first by `order`.",
            100,
            unsaid="all",
            beside=_MANY,
        ),
    ] = None
    inline: Annotated[
        bool,
        Key(
            FLAG,
            "Whether its fields stand in its parent itself; they are null where there is no row.",
            True,
            beside={**_ONE, "fields": ["name"]},
        ),
    ] = False
    aggregate: Annotated[
        Pairs,
        Key(
            AGGREGATE_ALL,
            "One struct over all its rows in place of the rows. Of no rows, a count is 0 and all else null.",
            {"lines": "count(*)", "total": "sum(price)"},
            unsaid="the rows themselves",
            beside=_MANY,
        ),
    ] = ()
    parts: Annotated[
        Mapping[str, PartKeys],
        Key(
            PARTS,
            "The parts below each of its rows, whose parent it is.",
            {"article": {"one": "articles", "on": {"id": "article_id"}}},
            unsaid="none",
            beside=_MANY,
        ),
    ] = field(default_factory=dict)

    @staticmethod
    def together(written: Mapping[str, Any]) -> Fault | None:
        """What its keys cannot mean together."""
        if ("one" in written) == ("many" in written):
            hint = "Write `one: customers` for one row, or `many: lines` for a list."
            needs = "the table that it reads, or `many`, and not both"
            return Fault("missing-key", needs, ("one",), hint=hint)
        if "on" not in written:
            return Fault("missing-key", ON.expected, ("on",), hint="Add `on: {order_id: id}`.")
        return _aggregated(written) or _listed(written) or clash(written)


@dataclass(frozen=True)
class ProductKeys:
    """A document for each row of a table, with rows of other tables in it."""

    root: Annotated[
        str,
        Key(
            TEXT,
            "The table that has a document for each row; its key is the document's.",
            "orders",
            unsaid="it says `sql`",
        ),
    ] = ""
    sql: Annotated[
        str,
        Key(
            TEXT,
            "The whole product as a SELECT, in place of `root`, `fields`, `filter` and `parts`.",
            "SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer",
            unsaid="it says `root`",
        ),
    ] = ""
    fields: Annotated[
        Pairs | None,
        Key(
            FIELDS,
            "What it shows of a row besides its key: columns, or names with SQL over columns.",
            ["customer", "placed_at"],
            unsaid="all columns of its table",
        ),
    ] = None
    filter: Annotated[
        str | None,
        Key(
            SQL,
            "Rows for which it is not true have no document.",
            "not deleted",
            unsaid="all rows",
        ),
    ] = None
    parts: Annotated[
        Mapping[str, PartKeys],
        Key(PARTS, "The parts of a document.", {"lines": _MANY}, unsaid="none"),
    ] = field(default_factory=dict)
    parallelism: Annotated[
        int,
        Key(
            whole(1, 1_000),
            "How many tasks put its documents together. One is quickest for all that one core can keep up with.",
            4,
        ),
    ] = 1
    transactions: Annotated[
        str | None,
        Key(
            TEXT,
            "The table of transactions, one that says `transactions`: only whole ones become visible.",
            "commits",
            unsaid="each change as it comes",
        ),
    ] = None
    sinks: Annotated[
        Any,
        Key(
            shape("a list of sinks", {}),
            "Where its documents go besides their stream: [sinks](#sinks).",
            [{"console": {}}],
            unsaid="none",
        ),
    ] = None

    @staticmethod
    def together(written: Mapping[str, Any]) -> Fault | None:
        """What its keys cannot mean together."""
        if ("root" in written) == ("sql" in written):
            hint = "Write `root: orders`, or `sql: SELECT …`."
            needs = "the table that has a document for each row, or `sql`, and not both"
            return Fault("missing-key", needs, ("root",), hint=hint)
        if "sql" in written:
            beside = next((key for key in ("fields", "filter", "parts") if key in written), None)
            if beside is not None:
                return Fault("unknown-value", "left out beside `sql`, which says it all", (beside,))
        if "transactions" in written and written.get("parallelism", 1) != 1:
            wanted = "1, or left out, beside `transactions`: one task sees all of one"
            return Fault("unknown-value", wanted, ("parallelism",))
        return clash(written)


def _aggregated(written: Mapping[str, Any]) -> Fault | None:
    """What cannot stand beside an aggregate, which is over all rows and shows none of them."""
    if "aggregate" not in written:
        return None
    if "one" in written:
        return Fault("unknown-value", "left out beside `one`: it is over many rows", ("aggregate",))
    for key in ("fields", "order", "limit", "parts"):
        if key in written:
            return Fault("unknown-value", "left out beside `aggregate`", (key,))
    return None


def _listed(written: Mapping[str, Any]) -> Fault | None:
    """What cannot be said of a list, or of one row."""
    if written.get("inline") and "many" in written and "aggregate" not in written:
        wanted = "left out beside `many`, unless there is `aggregate`: a list has a name"
        return Fault("unknown-value", wanted, ("inline",))
    if "limit" in written and "one" in written:
        return Fault("unknown-value", "left out beside `one`, which is one row", ("limit",))
    shows = written.get("fields", True) or written.get("parts") or written.get("inline")
    return None if shows else Fault("unknown-value", "at least one field", ("fields",))


def clash(written: Mapping[str, Any]) -> Fault | None:
    """The first name that would stand twice in one document, as far as its fields are written out."""
    taken = set(_fields(written))
    for name, part in (written.get("parts") or {}).items():
        for shown in _shown(name, part):
            if shown in taken:
                hint = "Names are the same in lower and upper case. Give one of them another name."
                wanted = f"without {shown!r}, which its parent has already"
                return Fault("unknown-value", wanted, ("parts", name), hint=hint)
            taken.add(shown)
    return None


def _shown(name: str, part: Mapping[str, Any]) -> Iterator[str]:
    """The names that a part brings into its parent's document."""
    if not part.get("inline"):
        yield name.lower()
        return
    yield from _fields(part)
    for below, one in (part.get("parts") or {}).items():
        yield from _shown(below, one)


def _fields(written: Mapping[str, Any]) -> list[str]:
    named = written.get("aggregate") or written.get("fields") or ()
    return [name.lower() for name in named]


def _is_deep(parts: Mapping[Any, Any]) -> bool:
    """Whether parts are nested too deep, or within themselves."""
    level: list[Any] = [parts]
    for _ in range(MAX_DEPTH):
        level = [
            part["parts"]
            for parts in level
            if isinstance(parts, Mapping)
            for part in parts.values()
            if isinstance(part, Mapping) and part.get("parts")
        ]
        if not level:
            return False
    return True
