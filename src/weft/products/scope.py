"""The tables of a query by their aliases, as nodes of a tree; what each column and each expression reads. Made by
`joining`, asked by `sql` and `gathered`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from weft.errors import WeftError
from weft.gate.grammar import Grammar, parse
from weft.products.query import called, unsupported
from weft.products.tree import Pairs, ProductError, column
from weft.schema.schema import nearest
from weft.windows.aggregate import FUNCTIONS, OTHER_NAMES

LISTS = ("array_agg", "collect_list", "json_agg", "jsonb_agg")
STRUCTS = ("struct", "named_struct", "json_build_object", "jsonb_build_object")
GATHERING = frozenset(
    (*FUNCTIONS, *OTHER_NAMES, *LISTS, "string_agg", "listagg", "every", "any_value")
)
Names = Mapping[str, tuple[str, ...]]


@dataclass(eq=False)
class Aliased:
    """A table under its alias: how it hangs under another, and whether SQL leaves out what lacks it."""

    alias: str
    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    parent: Aliased | None = None
    on: list[tuple[str, str]] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    fixed: set[str] = field(default_factory=set)
    """Columns that a condition holds to one value."""
    is_inner: bool = False
    children: list[Aliased] = field(default_factory=list)

    @property
    def is_many(self) -> bool:
        """Whether a row of its parent can have several rows of it."""
        return not {own for own, _ in self.on} | self.fixed >= set(self.key)

    @property
    def is_sure(self) -> bool:
        """Whether SQL leaves out every row of the first table that lacks it."""
        return self.parent is None or (self.is_inner and self.parent.is_sure)

    @property
    def repeats(self) -> bool:
        """Whether it, or a table on the way to it, can have several rows."""
        return self.parent is not None and (self.is_many or self.parent.repeats)

    @property
    def filter(self) -> str | None:
        """All its conditions as one."""
        if len(self.conditions) < 2:
            return self.conditions[0] if self.conditions else None
        return " AND ".join(f"({one})" for one in self.conditions)

    def link(self, parent: Aliased, on: Pairs) -> None:
        """Hang it under a table."""
        self.parent = parent
        self.on = list(dict.fromkeys(on))
        parent.children.append(self)

    def require(self) -> None:
        """Leave out what lacks it, and with it what lacks the tables on the way to it."""
        node: Aliased | None = self
        while node is not None and node.parent is not None:
            node.is_inner = True
            node = node.parent


class Scope:
    """The tables that a query can name; those of a subquery come before those around it."""

    def __init__(self, keys: Names, columns: Names, outer: Scope | None = None) -> None:
        self.keys = keys
        self.columns = columns
        self.outer = outer
        self.nodes: dict[str, Aliased] = {}

    def add(self, read: exp.Expression) -> Aliased:
        """A table of FROM or JOIN under its alias."""
        if not isinstance(read, exp.Table) or not isinstance(read.this, exp.Identifier):
            raise unsupported(
                "a subquery or function in FROM",
                "a part reads one table",
                "Join the tables themselves, or use a subquery in the select list.",
            )
        said = [
            name for name, value in read.args.items() if value and name not in ("this", "alias")
        ]
        alias = read.args.get("alias")
        if said or (alias is not None and alias.args.get("columns")):
            word = "a name with dots" if "db" in said else "what stands behind a table's name"
            raise unsupported(
                word, "a part reads one stream", "Name the stream alone, with an alias."
            )
        table = _found(read.name, self.keys)
        if table is None or table not in self.columns:
            raise unknown("stream", read.name, self.keys)
        if not self.keys[table]:
            raise unsupported(f"stream {table!r}", "it has no key", "Declare its `key`.")
        node = Aliased(read.alias or table, table, self.keys[table], self.columns[table])
        if node.alias.lower() in self.nodes:
            hint = "Give each an alias of its own: FROM users a JOIN users b ON …"
            raise ProductError(
                f"Two tables are called {node.alias!r}.", code="product.sql-ambiguous", hint=hint
            )
        self.nodes[node.alias.lower()] = node
        return node

    def find(self, alias: str) -> Aliased | None:
        """The table of an alias, here or around."""
        if alias.lower() in self.nodes:
            return self.nodes[alias.lower()]
        return self.outer.find(alias) if self.outer else None

    def resolve(self, read: exp.Column) -> tuple[Aliased, str]:
        """The table that a column is of, and its name there."""
        if read.args.get("db") or not isinstance(read.this, exp.Identifier):
            raise unsupported(
                f"`{read.sql(Grammar, comments=False)[:60]}`",
                "columns are named as table.column",
                "Name a column; fields of a struct are taken in a product that is declared by its parts.",
            )
        if read.table:
            node = self.find(read.table)
            if node is None:
                raise unknown("table", read.table, [one.alias for one in self._all()])
            name = _found(read.name, node.columns)
            if name is None:
                raise unknown(f"column of {node.alias!r}", read.name, node.columns)
            return node, name
        having = [
            (node, name)
            for node in self.nodes.values()
            if (name := _found(read.name, node.columns))
        ]
        if len(having) > 1:
            raise ProductError(
                f"Column {read.name!r} is of several tables: {', '.join(node.alias for node, _ in having)}.",
                code="product.sql-ambiguous",
                hint=f"Write its table before it: {having[0][0].alias}.{read.name}.",
            )
        if having:
            return having[0]
        if self.outer is not None:
            return self.outer.resolve(read)
        raise unknown("column", read.name, [name for node in self._all() for name in node.columns])

    def reads(self, *expressions: exp.Expression) -> list[Aliased]:
        """The tables that expressions read, each once."""
        found = [self.resolve(one)[0] for each in expressions for one in each.find_all(exp.Column)]
        return list(dict.fromkeys(found))

    def text(self, expression: exp.Expression) -> str:
        """The SQL of an expression without table names; refuses what cannot be said of one row."""
        check_scalar(expression)
        plain = expression.copy()
        for read in list(plain.find_all(exp.Column)):
            name = self.resolve(read)[1]
            fresh = exp.column(exp.to_identifier(name, quoted=column(name) != name))
            if read is plain:
                plain = fresh
            else:
                read.replace(fresh)
        sql = plain.sql(Grammar, comments=False, normalize_functions=False)
        try:
            parse(sql)
        except WeftError as error:
            raise ProductError(error.message, code="product.sql-syntax", hint=error.hint) from error
        return sql

    def _all(self) -> list[Aliased]:
        return [*self.nodes.values(), *(self.outer._all() if self.outer else [])]


def check_scalar(expression: exp.Expression) -> None:
    """Refuse an expression that is over more than one row, or makes a struct."""
    for node in expression.find_all(exp.Expression):
        if isinstance(node, exp.Query | exp.Exists):
            raise unsupported(
                "a subquery inside an expression",
                "it would be computed of several rows",
                "Let it stand alone in the select list, as (SELECT count(*) FROM x WHERE x.a = r.a) AS n.",
            )
        if isinstance(node, exp.Window):
            raise unsupported(
                "a window function",
                "it sees other documents",
                "Declare a part with `order` and `limit`.",
            )
        if isinstance(node, exp.Star):
            raise unsupported("`*` inside an expression", "it is no value", "Name the columns.")
        name = called(node)
        if name in GATHERING or isinstance(node, exp.Filter | exp.Distinct | exp.Order):
            raise unsupported(
                f"{name or type(node).__name__.upper()} at this place",
                "an aggregate stands alone in the select list, and over all values",
                "Select the aggregate by itself, and compute with it where documents are read.",
            )
        if name in STRUCTS:
            raise unsupported(
                f"{name} at this place",
                "a struct is made of the rows of a list only",
                "Collect it, as in array_agg(struct(…)), or declare the product by its parts.",
            )


def unknown(noun: str, name: str, known: object) -> ProductError:
    """The error for a name that nothing has."""
    words = list(dict.fromkeys(known)) if isinstance(known, list | tuple | Mapping) else []
    near = nearest(name, words)
    listed = ", ".join(words) or "none"
    return ProductError(
        f"There is no {noun} {name!r}.",
        code="product.sql-unknown",
        hint=f"Did you mean {near!r}?" if near else f"There is {listed}.",
        name=name,
    )


def _found(name: str, names: Names | tuple[str, ...]) -> str | None:
    """A name as it is spelled where it is known; as in SQL, case does not count."""
    if name in names:
        return name
    return next((one for one in names if one.lower() == name.lower()), None)
