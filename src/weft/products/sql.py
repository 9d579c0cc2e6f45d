"""A SELECT to the tree of a product, or the first thing in it that a tree cannot say. Called where a product is
declared by SQL.

The query is Spark's SQL. The first table of FROM is the root. A joined table hangs under the one that its ON names: as
inline fields where its key is among the columns of the ON, else as lists and aggregates. Where SQL has a list of one
null, or null for a list, a document has an empty list.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from sqlglot import exp

from weft.products.gathered import (
    Gathered,
    aggregate_of,
    check_default,
    check_name,
    gathered,
    make_part,
    missing,
    order_of,
    shown_by,
)
from weft.products.joining import join_all, narrow_all, told
from weft.products.query import bare, called, check_clauses, conjuncts, parse_query, unsupported
from weft.products.scope import Aliased, Names, Scope, check_scalar, unknown
from weft.products.strict import is_null_without
from weft.products.subquery import SUBQUERIES, subquery_part
from weft.products.tree import Part, Product, ProductError, column


def from_sql(name: str, text: str, keys: Names, columns: Names) -> Product:
    """The product that a SELECT says; `keys` and `columns` are those of each stream that it may read."""
    try:
        return Compiler(keys, columns).product(name, parse_query(text))
    except RecursionError as error:
        hint = "Declare the product by its parts."
        raise unsupported("so deep a query", "it cannot be followed", hint) from error
    except ProductError as error:
        error.ids.setdefault("product", name)
        raise


def tables_of(text: str) -> tuple[str, ...]:
    """The names of the tables that a SELECT reads, as it writes them."""
    found = parse_query(text).find_all(exp.Table)
    return tuple(dict.fromkeys(table.name for table in found))


class Compiler:
    """Compiles one query: tables first, then each item of its select list."""

    def __init__(self, keys: Names, columns: Names) -> None:
        self.scope = Scope(keys, columns)
        self.shown: defaultdict[Aliased, list[tuple[str, str]]] = defaultdict(list)
        self.extra: defaultdict[Aliased, list[Part]] = defaultdict(list)
        self.sums: defaultdict[str | None, list[tuple[str, str]]] = defaultdict(list)
        self.names: set[str] = set()
        self.is_listed = False

    def product(self, name: str, query: exp.Select) -> Product:
        """The whole tree."""
        check_clauses(query, ("joins", "where", "group"))
        self.root = join_all(self.scope, query)
        where = query.args.get("where")
        narrow_all(self.scope, list(conjuncts(where.this)) if where else [])
        self.many = self._many()
        self.is_grouped = self._grouped(query.args.get("group"))
        for item in query.expressions:
            self._item(item)
        self._finish()
        return Product(name, make_part(self.root, "", self.shown, self.extra))

    def _many(self) -> Aliased | None:
        """The one joined table that can have several rows."""
        found = [node for node in self.scope.nodes.values() if node.parent and node.is_many]
        if len(found) > 1:
            names = " and ".join(repr(node.alias) for node in found)
            raise ProductError(
                f"{names} can both have several rows for a row of {self.root.alias!r}, so that SQL repeats the rows "
                "of each for every row of the other: counts, sums and lists would hold them several times.",
                code="product.sql-multiplied",
                hint=SUBQUERIES,
            )
        return found[0] if found else None

    def _grouped(self, group: exp.Expression | None) -> bool:
        """Whether rows are grouped by the root's key; all else that they are grouped by must follow from it."""
        key = ", ".join(f"{self.root.alias}.{column(one)}" for one in self.root.key)
        hint = f"Write GROUP BY {key}."
        if group is None:
            if self.many is not None:
                raise ProductError(
                    f"{self.many.alias!r} can have several rows for a row of {self.root.alias!r}, since its ON does "
                    f"not name its key ({', '.join(self.many.key)}): SQL repeats the document for each.",
                    code="product.sql-multiplied",
                    hint=f"Aggregate it or collect it, and {hint[0].lower()}{hint[1:]}",
                )
            return False
        reads = group.expressions
        plain = [one for one in map(bare, reads) if isinstance(one, exp.Column) and not one.is_star]
        if len(plain) < len(reads) or any(
            value for name, value in group.args.items() if name != "expressions"
        ):
            raise unsupported("this GROUP BY", "a document is a row of the first table", hint)
        found = [self.scope.resolve(one) for one in plain]
        repeated = [node for node, _ in found if node.repeats]
        if repeated or not {name for node, name in found if node is self.root} >= set(
            self.root.key
        ):
            raise unsupported(
                "this GROUP BY", "it does not say one group for each row of the first table", hint
            )
        return True

    def _item(self, item: exp.Expression) -> None:
        value = bare(item.this) if isinstance(item, exp.Alias) else bare(item)
        if isinstance(value, exp.Star) or (isinstance(value, exp.Column) and value.is_star):
            self._star(value)
            return
        inner, default = _peeled(value)
        is_query = isinstance(inner, exp.Subquery | exp.Query)
        found = None if is_query else gathered(inner)
        if not isinstance(item, exp.Alias) and not isinstance(value, exp.Column):
            raise unsupported(
                f"`{told(value)}` without a name", "a document names its fields", "Add AS name."
            )
        name = item.alias if isinstance(item, exp.Alias) else self.scope.resolve(value)[1]  # type: ignore[arg-type]
        if is_query:
            self._name(name)
            parent, part = subquery_part(self.scope, name, inner, default)
            self.extra[parent].append(part)
        elif found is not None:
            self._gathered(name, found, default)
        else:
            self._field(name, value)

    def _star(self, star: exp.Expression) -> None:
        """All columns of a table, each as a field."""
        all_columns = star.this if isinstance(star, exp.Column) else star
        if any(all_columns.args.values()) or star.args.get("db"):
            raise unsupported("what stands beside `*`", "it names all columns", "Name the columns.")
        if star is all_columns and len(self.scope.nodes) > 1:
            hint = f"Write {self.root.alias}.* and the columns of the others."
            raise unsupported("`*` over several tables", "names would meet", hint)
        node = self.root if star is all_columns else self.scope.find(star.text("table"))
        if node is None:
            raise unknown(
                "table", star.text("table"), [one.alias for one in self.scope.nodes.values()]
            )
        table = exp.to_identifier(node.alias)
        for name in node.columns:
            self._field(name, exp.column(exp.to_identifier(name), table=table))

    def _field(self, name: str, value: exp.Expression) -> None:
        check_scalar(value)
        reads = self.scope.reads(value) or [self.root]
        if len(reads) > 1:
            tables = " and ".join(repr(node.alias) for node in reads)
            raise unsupported(
                f"`{told(value)}`",
                f"it is computed of {tables}, and a part knows its own columns alone",
                "Show the columns, and compute with them where documents are read.",
            )
        [node] = reads
        sql = self.scope.text(value)
        if node.repeats:
            raise unsupported(
                f"`{told(value)}` outside of an aggregate",
                f"{node.alias!r} has several values of it for one document",
                f"Collect it, as in array_agg(struct({told(value)})), or aggregate it.",
            )
        if not node.is_sure and not is_null_without(value):
            raise missing(sql, node)
        self._name(name, is_key=node is self.root and sql == column(name))
        self.shown[node].append((name, sql))

    def _name(self, name: str, *, is_key: bool = False) -> None:
        """Take a name in the document; the names of the root's key are for the key."""
        if not is_key and name.lower() in {one.lower() for one in self.root.key}:
            raise ProductError(
                f"{name!r} is the name of a key column of {self.root.table!r}, which every document has.",
                code="product.sql-name",
                hint="Give it another name with AS.",
                name=name,
            )
        check_name(name, self.names)

    def _gathered(self, name: str, found: Gathered, default: exp.Expression | None) -> None:
        """An aggregate or a list over the joined table that has several rows."""
        node = self.many
        if node is None or node.parent is None or not self.is_grouped:
            raise unsupported(
                f"{found.function} without a table of several rows",
                "each document is one row of the first table",
                f"{SUBQUERIES[:-1]}, or join the table and group by the first table's key.",
            )
        self._name(name)
        check_default(found, default, node.parent)
        condition = self._only(node, found)
        if found.is_list:
            shown = shown_by(self.scope, node, found.argument)
            part = make_part(node, name, shown, {})
            order = order_of(self.scope, node, found.order)
            listed = replace(part, many=True, inline=False, order=order, filter=condition)
            self.extra[node.parent].append(listed)
            self.is_listed = True
        else:
            self.sums[condition].append((name, aggregate_of(self.scope, node, found)))

    def _only(self, node: Aliased, found: Gathered) -> str | None:
        """The filter of a part over a joined table, with what FILTER adds to it."""
        more = (
            [one for one in conjuncts(found.filter) if not self._is_there(node, one)]
            if found.filter
            else []
        )
        if not more:
            return node.filter
        if node.is_inner or self.scope.reads(*more) != [node]:
            raise unsupported(
                "FILTER",
                f"it is not about {node.alias!r} alone, or the join leaves out rows by other conditions",
                SUBQUERIES,
            )
        return replace(node, conditions=[*node.conditions, *map(self.scope.text, more)]).filter

    def _is_there(self, node: Aliased, condition: exp.Expression) -> bool:
        """Whether a condition says that there is a row: IS NOT NULL of a column that no row has null."""
        inner = bare(condition.this) if isinstance(condition, exp.Not) else None
        if not isinstance(inner, exp.Is) or not isinstance(inner.expression, exp.Null):
            return False
        if not isinstance(bare(inner.this), exp.Column):
            return False
        found, name = self.scope.resolve(bare(inner.this))  # type: ignore[arg-type]
        return found is node and name in (*node.key, *(own for own, _ in node.on))

    def _finish(self) -> None:
        """The aggregates over the joined table as parts; where nothing is shown of it, that it is there."""
        node = self.many
        if node is None or node.parent is None:
            return
        part = make_part(node, node.alias, {}, {})
        for condition, sums in self.sums.items():
            aggregated = replace(
                part, many=True, filter=condition, aggregate=tuple(sums), fields=None, parts=()
            )
            self.extra[node.parent].append(aggregated)
        if not self.sums and not self.is_listed and node.is_inner:
            self.extra[node.parent].append(part)


def _peeled(value: exp.Expression) -> tuple[exp.Expression, exp.Expression | None]:
    """A value without the coalesce around a list or a count, and what stands in its place where it is null."""
    if called(value) == "coalesce" and len(value.expressions) == 2:
        inner, default = map(bare, value.expressions)
        if isinstance(inner, exp.Subquery | exp.Filter) or gathered(inner) is not None:
            return inner, default
    return value, None
