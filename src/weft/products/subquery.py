"""A subquery in a select list to a part: an aggregate, a list, or a value of one row of a table that its WHERE links to
one around it. Called by `sql`."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from weft.products.gathered import (
    Gathered,
    aggregate_of,
    check_default,
    gathered,
    make_part,
    order_of,
    shown_by,
)
from weft.products.joining import join_all, link_of, narrow_all, parent_of
from weft.products.query import bare, check_clauses, conjuncts, unsupported
from weft.products.scope import Aliased, Scope
from weft.products.tree import Part

SUBQUERIES = "Use a subquery for each: (SELECT count(*) FROM x WHERE x.a = r.a) AS n."
"""What to do where joins would repeat rows."""


def subquery_part(
    outer: Scope, name: str, written: exp.Expression, default: exp.Expression | None
) -> tuple[Aliased, Part]:
    """The part that a subquery makes, and the table around it under which it hangs."""
    query = written.this if isinstance(written, exp.Subquery) else written
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        raise unsupported("this subquery", "it is a SELECT of one value", SUBQUERIES)
    check_clauses(query, ("joins", "where", "order", "limit"))
    scope = Scope(outer.keys, outer.columns, outer)
    node = join_all(scope, query)
    parent = _correlate(scope, node, query)
    if any(one.repeats for one in scope.nodes.values()):
        hint = "Join tables in it by their key only."
        raise unsupported("a join in a subquery", "it repeats rows of its first table", hint)
    item = query.expressions[0]
    value = bare(item.this) if isinstance(item, exp.Alias) else bare(item)
    found = gathered(value)
    if found is not None:
        check_clauses(query, ("joins", "where"))
        check_default(found, default, parent)
        return parent, _several(scope, node, name, found)
    if default is not None:
        raise unsupported("coalesce around a subquery", "a missing row is null", "Leave it out.")
    return parent, _single(scope, node, name, query, value)


def _correlate(scope: Scope, node: Aliased, query: exp.Select) -> Aliased:
    """Link a subquery's first table to a table around it, and narrow its tables; the table around it."""
    where = query.args.get("where")
    links, others = [], []
    for condition in conjuncts(where.this) if where else ():
        link = link_of(scope, node, condition)
        if link is not None and link[0] not in scope.nodes.values():
            links.append(link)
        else:
            others.append(condition)
    narrow_all(scope, others)
    parent, on = parent_of(links, "the WHERE of a subquery")
    node.on = list(dict.fromkeys(on))
    if parent.repeats:
        raise unsupported(
            "this subquery", f"{parent.alias!r} has several rows", "Link it to another table."
        )
    return parent


def _several(scope: Scope, node: Aliased, name: str, found: Gathered) -> Part:
    """A subquery's list, or its aggregate as an inline field."""
    if found.filter is not None:
        narrow_all(scope, list(conjuncts(found.filter)))
    if found.is_list:
        part = make_part(node, name, shown_by(scope, node, found.argument), {})
        return replace(part, many=True, inline=False, order=order_of(scope, node, found.order))
    part = Part(node.table, node.alias, True, tuple(node.on), filter=node.filter, inline=True)
    return replace(part, aggregate=((name, aggregate_of(scope, node, found)),))


def _single(
    scope: Scope, node: Aliased, name: str, query: exp.Select, value: exp.Expression
) -> Part:
    """A subquery's value of its one row, or of the first by its order."""
    limit, order = query.args.get("limit"), query.args.get("order")
    if limit is not None and limit.sql("spark").strip() != "LIMIT 1":
        raise unsupported("this LIMIT", "the subquery is one value", "Write LIMIT 1.")
    if node.is_many and limit is None:
        raise unsupported(
            "a subquery of a plain value",
            f"{node.alias!r} can have several rows, since the WHERE does not name its key",
            "Add ORDER BY … LIMIT 1, or aggregate it.",
        )
    if scope.reads(value) != [node]:
        raise unsupported(
            "a subquery of a plain value", "it is of its first table", "Select its columns."
        )
    part = make_part(node, node.alias, {node: [(name, scope.text(value))]}, {})
    directed = order_of(scope, node, tuple(order.expressions)) if order else ()
    return replace(part, inline=True, order=directed)
