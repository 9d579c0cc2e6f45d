"""An item of a select list that is over many rows: an aggregate, or a list of structs. Told apart from plain values
here, and made into what a part shows. Called by `sql`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from weft.errors import WeftError
from weft.products.limit import AGGREGATES
from weft.products.query import bare, called, unsupported
from weft.products.scope import GATHERING, LISTS, STRUCTS, Aliased, Scope
from weft.products.strict import is_null_without
from weft.products.tree import Pairs, Part, ProductError, column
from weft.steps.compile import new_name
from weft.windows.aggregate import OTHER_NAMES

Shown = Mapping[Aliased, list[tuple[str, str]]]


@dataclass(frozen=True)
class Gathered:
    """A function over many rows: what of each, in which order, and of which rows."""

    function: str
    argument: exp.Expression
    order: tuple[exp.Expression, ...] = ()
    filter: exp.Expression | None = None

    @property
    def is_list(self) -> bool:
        """Whether it collects rows."""
        return self.function in LISTS


def gathered(item: exp.Expression) -> Gathered | None:
    """What an item gathers; None where it is a plain value."""
    where = None
    if isinstance(item, exp.Filter):
        where = bare(item.expression.this)
        item = bare(item.this)
    function = called(item)
    if function not in GATHERING:
        return None
    if function not in LISTS:
        function = OTHER_NAMES.get(function, function)
    if function not in (*AGGREGATES, *LISTS) or len(item.expressions) != 1:
        raise unsupported(
            f"{called(item)} here",
            f"a product has the aggregates {', '.join(AGGREGATES)} of one value, and lists of structs",
            "Use one of them, or array_agg(struct(…)).",
        )
    [argument] = item.expressions
    order: tuple[exp.Expression, ...] = ()
    if isinstance(argument, exp.Order):
        order, argument = tuple(argument.expressions), argument.this
    if isinstance(argument, exp.Distinct):
        raise unsupported(
            f"DISTINCT in {function}",
            "every row counts once",
            "Leave it out, or count where documents are read.",
        )
    return Gathered(function, bare(argument), order, where)


def aggregate_of(scope: Scope, node: Aliased, found: Gathered) -> str:
    """The aggregate over the rows of a table, as a part has it."""
    argument = found.argument
    if found.order:
        raise unsupported(f"ORDER BY in {found.function}", "it changes nothing", "Leave it out.")
    if any(child.is_inner for child in node.children):
        raise unsupported(
            f"{found.function} over {node.alias!r}",
            "its rows depend on another table that is joined to it",
            "Declare a list with parts, and count where documents are read.",
        )
    is_row = (
        isinstance(argument, exp.Column) and argument.is_star and scope.find(argument.table) is node
    )
    if isinstance(argument, exp.Star | exp.Literal) or is_row:
        if found.function != "count":
            raise unsupported(f"{found.function}(*)", "it is of one value", "Name a column.")
        if not is_row and not node.is_sure:
            raise unsupported(
                "count(*) over a LEFT JOIN",
                f"SQL counts 1 where {node.alias!r} has no row",
                f"Write count({node.alias}.{column(node.key[0])}).",
            )
        return "count(*)"
    if scope.reads(argument) != [node]:
        raise unsupported(
            f"{found.function} over several tables",
            f"an aggregate is over the columns of {node.alias!r}",
            "Aggregate columns of one table.",
        )
    sql = scope.text(argument)
    if not node.is_sure and not is_null_without(argument):
        raise missing(sql, node)
    return f"{found.function}({sql})"


def shown_by(scope: Scope, node: Aliased, argument: exp.Expression) -> Shown | None:
    """The fields that a list shows of a table, and of those joined to it; None for its whole rows."""
    if isinstance(argument, exp.Column) and _is_whole(scope, node, argument):
        return None
    if called(argument) not in STRUCTS:
        raise unsupported(
            "a list of plain values",
            "a part is a list of structs",
            "Write array_agg(struct(x.a, x.b)), or json_agg(json_build_object('a', x.a)).",
        )
    found: dict[Aliased, list[tuple[str, str]]] = {node: []}
    names: set[str] = set()
    for name, value in _fields(scope, argument):
        check_name(name, names)
        reads = scope.reads(value) or [node]
        if len(reads) > 1 or not _is_below(reads[0], node):
            raise unsupported(
                f"the field {name!r}",
                f"it reads {', '.join(one.alias for one in reads)}, and the list is of {node.alias!r}",
                f"Show columns of {node.alias!r}, or of one table that is joined to it.",
            )
        sql = scope.text(value)
        if not _is_sure(reads[0], node) and not is_null_without(value):
            raise missing(sql, reads[0])
        found.setdefault(reads[0], []).append((name, sql))
    return found


def order_of(
    scope: Scope, node: Aliased, order: tuple[exp.Expression, ...]
) -> tuple[tuple[str, bool], ...]:
    """The order of a table's rows, as a part has it."""
    found = []
    for one in order:
        falls = bool(one.args.get("desc"))
        if (
            not isinstance(one, exp.Ordered)
            or bool(one.args.get("nulls_first")) is falls
            or one.args.get("with_fill")
        ):
            raise unsupported(
                "NULLS in ORDER BY",
                "nulls are first where an order rises, and last where it falls",
                "Leave it out, or order by coalesce(x, …).",
            )
        if scope.reads(one.this) != [node]:
            raise unsupported(
                "ORDER BY another table",
                f"the list is of {node.alias!r}",
                "Order it by its own columns.",
            )
        found.append((scope.text(one.this), falls))
    return tuple(found)


def make_part(
    node: Aliased, name: str, shown: Shown | None, extra: Mapping[Aliased, list[Part]]
) -> Part:
    """The part of a table with the tables joined to it; `extra` are parts that hang under it otherwise."""
    below = list(extra.get(node, ()))
    for child in node.children:
        part = make_part(child, child.alias, shown or {}, extra)
        if not child.is_many and (child.is_inner or part.fields or part.parts):
            below.append(part)
    used: set[str] = {part.name.lower() for part in below if not part.inline}
    fields: Pairs | None = None if shown is None else tuple(shown.get(node, ()))
    return Part(
        node.table,
        name,
        on=tuple(node.on),
        fields=fields,
        filter=node.filter,
        required=node.is_inner,
        inline=node.parent is not None,
        parts=tuple(_renamed(part, used) for part in below),
    )


def check_name(name: str, taken: set[str]) -> None:
    """Refuse a name that no column can have, or that another has; note it otherwise."""
    try:
        new_name(name)
    except WeftError as error:
        raise ProductError(error.message, code="product.sql-name", hint=error.hint) from error
    if name.lower() in taken:
        raise ProductError(
            f"Two fields of one document are called {name!r}.",
            code="product.sql-name",
            hint="Give each a name of its own with AS.",
            name=name,
        )
    taken.add(name.lower())


def check_default(found: Gathered, default: exp.Expression | None, parent: Aliased) -> None:
    """Refuse a coalesce that says something else than what a part without rows is."""
    if default is not None:
        plain = default.this if isinstance(default, exp.Cast) else default
        is_empty = (called(plain) == "array" and not plain.expressions) or plain.name == "[]"
        is_zero = isinstance(plain, exp.Literal) and plain.name == "0"
        if not (is_empty if found.is_list else is_zero and found.function == "count"):
            raise unsupported(
                "this coalesce",
                "of no rows a list is empty, a count is 0, and all else null",
                "Leave it out.",
            )
    if not parent.is_sure and (found.function == "count" or default is not None):
        raise unsupported(
            f"{found.function} under a LEFT JOIN",
            f"where {parent.alias!r} is missing, so is what hangs under it, and a count is null",
            f"Join {parent.alias!r} with INNER JOIN, or link to the first table.",
        )


def missing(sql: str, node: Aliased) -> ProductError:
    """The error for a value that SQL computes of nulls where a row is missing."""
    return unsupported(
        f"`{sql[:60]}`",
        f"it can have a value where {node.alias!r} has no row, and a part that is missing has none",
        f"Show the columns themselves, or join {node.alias!r} with INNER JOIN.",
    )


def _fields(scope: Scope, made: exp.Expression) -> Iterator[tuple[str, exp.Expression]]:
    """Names and values of a struct, whichever function makes it."""
    given = made.expressions
    if called(made) == "struct":
        for value in given:
            if isinstance(value, exp.Alias):
                yield value.alias, value.this
            elif isinstance(value, exp.Column) and not value.is_star:
                yield scope.resolve(value)[1], value
            else:
                raise unsupported(
                    "a field without a name", "a document names its fields", "Add AS name."
                )
        return
    if len(given) % 2:
        raise unsupported(
            called(made), "it takes a name for each value", "Write 'a', x.a, 'b', x.b."
        )
    for name, value in zip(given[::2], given[1::2], strict=True):
        if not (isinstance(name, exp.Literal) and name.is_string):
            raise unsupported(called(made), "its names are texts", "Write 'a', x.a, 'b', x.b.")
        yield name.name, value


def _is_whole(scope: Scope, node: Aliased, read: exp.Column) -> bool:
    if read.is_star:
        return bool(read.table) and scope.find(read.table) is node
    is_column = any(one.lower() == read.name.lower() for one in node.columns)
    return not read.table and scope.find(read.name) is node and not is_column


def _is_below(node: Aliased | None, top: Aliased) -> bool:
    while node is not None and node is not top:
        node = node.parent
    return node is top


def _is_sure(node: Aliased | None, top: Aliased) -> bool:
    """Whether every row of a table that is left has one of a table joined to it."""
    while node is not None and node is not top:
        if not node.is_inner:
            return False
        node = node.parent
    return True


def _renamed(part: Part, used: set[str]) -> Part:
    """An inline part under a name that none beside it has; its name is not shown."""
    if not part.inline:
        return part
    name = part.name
    while name.lower() in used:
        name += "_"
    used.add(name.lower())
    return replace(part, name=name)
