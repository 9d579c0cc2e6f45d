"""FROM, JOIN and WHERE to a scope: each table hangs under the one that its ON names, and conditions under the table
that they read. Called by `sql` for the query and for its subqueries."""

from __future__ import annotations

from sqlglot import exp

from weft.products.query import bare, conjuncts, unsupported
from weft.products.scope import Aliased, Scope, check_scalar
from weft.products.strict import drops_missing
from weft.products.tree import Pairs

_JOINS = {
    ("", ""): True,
    ("", "INNER"): True,
    ("LEFT", ""): False,
    ("LEFT", "OUTER"): False,
}
"""Side and kind of a join, and whether it is inner."""


def join_all(scope: Scope, query: exp.Select) -> Aliased:
    """Put the tables of FROM and JOIN into a scope; the first of them."""
    first = scope.add(query.args["from_"].this)
    for join in query.args.get("joins") or ():
        _join(scope, join)
    return first


def _join(scope: Scope, join: exp.Join) -> None:
    side, kind = (str(join.args.get(name) or "").upper() for name in ("side", "kind"))
    method = str(join.args.get("method") or "").upper()
    if (side, kind) not in _JOINS or method:
        word = " ".join(part for part in (method, side, kind, "JOIN") if part)
        raise unsupported(
            word,
            "it can have rows without a row of the first table, or no condition",
            "Use LEFT JOIN or INNER JOIN with ON a.x = b.y, from the table of which each row is a document.",
        )
    if join.args.get("using") or join.args.get("on") is None:
        word = "USING" if join.args.get("using") else "a join without ON"
        raise unsupported(word, "a part says which columns are equal", "Write ON a.x = b.y.")
    node = scope.add(join.this)
    links: list[tuple[Aliased, str, str]] = []
    for condition in conjuncts(join.args["on"]):
        link = link_of(scope, node, condition)
        if link is None:
            _narrow(scope, node, condition)
        else:
            links.append(link)
    parent, on = parent_of(links, f"the ON of {node.alias!r}")
    if parent not in scope.nodes.values():
        raise unsupported(
            f"the ON of {node.alias!r}",
            f"{parent.alias!r} is outside of its query",
            "Link the first table of the subquery to the tables around it, in its WHERE.",
        )
    node.link(parent, on)
    if _JOINS[side, kind]:
        node.require()


def parent_of(links: list[tuple[Aliased, str, str]], place: str) -> tuple[Aliased, Pairs]:
    """The one table that links name, and the pairs of columns."""
    parents = list(dict.fromkeys(parent for parent, _, _ in links))
    if len(parents) != 1:
        reason = "it names none" if not parents else f"it names {len(parents)}"
        raise unsupported(
            place,
            f"a part is linked to one other table by equal columns, and {reason}",
            "Write x.a = y.b AND x.c = y.d, with columns of one other table.",
        )
    return parents[0], tuple((own, other) for _, own, other in links)


def link_of(
    scope: Scope, node: Aliased, condition: exp.Expression
) -> tuple[Aliased, str, str] | None:
    """The other table with both columns, where a condition says that one of a table's equals one of another."""
    if not isinstance(condition, exp.EQ):
        return None
    sides = bare(condition.this), bare(condition.expression)
    if not all(isinstance(one, exp.Column) and not one.is_star for one in sides):
        return None
    [(left, one), (right, other)] = [scope.resolve(side) for side in sides]  # type: ignore[arg-type]
    if left is right or node not in (left, right):
        return None
    return (right, one, other) if left is node else (left, other, one)


def _narrow(scope: Scope, node: Aliased, condition: exp.Expression) -> None:
    """A condition of an ON that is about the joined table alone: what does not fulfil it is not there."""
    check_scalar(condition)
    if scope.reads(condition) != [node]:
        raise unsupported(
            f"the condition `{told(condition)}` in ON",
            "tables are linked by equal columns, held together by AND",
            "Write equalities between columns of two tables, and conditions on the joined table alone.",
        )
    _add(scope, node, condition)


def _add(scope: Scope, node: Aliased, condition: exp.Expression) -> None:
    """A condition for a table, and which column it holds to one value.

    A text is one value of every type; a number is not, where the column holds texts.
    """
    node.conditions.append(scope.text(condition))
    if isinstance(condition, exp.EQ):
        sides = bare(condition.this), bare(condition.expression)
        for one, other in (sides, sides[::-1]):
            if isinstance(one, exp.Column) and isinstance(other, exp.Literal) and other.is_string:
                node.fixed.add(scope.resolve(one)[1])


def narrow_all(scope: Scope, conditions: list[exp.Expression]) -> None:
    """The conditions of a WHERE, each of which is about one table.

    One that is not true of nulls makes an inner join of a left one. Others are refused for tables that may be missing:
    SQL would ask them of nulls.
    """
    for condition in sorted(conditions, key=drops_missing, reverse=True):
        check_scalar(condition)
        reads = scope.reads(condition)
        if len(reads) != 1 or reads[0] not in scope.nodes.values():
            raise unsupported(
                f"the condition `{told(condition)}` in WHERE",
                f"it reads {len(reads)} tables, and a part is filtered by its own columns"
                if len(reads) != 1
                else "it is about a table outside of its query",
                "Write a condition for each table, held together by AND.",
            )
        [node] = reads
        if not node.is_sure and not drops_missing(condition):
            raise unsupported(
                f"the condition `{told(condition)}` in WHERE",
                f"it can be true where {node.alias!r} is missing",
                f"Put it into the ON of {node.alias!r}, or join it with INNER JOIN.",
            )
        _add(scope, node, condition)
        node.require()


def told(node: exp.Expression) -> str:
    """An expression as a message shows it."""
    text = " ".join(node.sql("spark", comments=False, normalize_functions=False).split())
    return text if len(text) <= 60 else text[:57] + "..."
