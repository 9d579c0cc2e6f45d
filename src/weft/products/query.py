"""A text to one SELECT whose clauses a product can have; everything else is refused by name. Called by `sql`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from weft.gate.grammar import ExpressionError, Grammar, tokens_of
from weft.products.tree import ProductError

CLAUSES: Mapping[str, tuple[str, str]] = {
    "with_": ("WITH", "Write its tables into the FROM and the joins."),
    "distinct": (
        "DISTINCT",
        "Leave it out: there is one document for each row of the first table.",
    ),
    "having": (
        "HAVING",
        "Keep or drop rows by WHERE; documents can be filtered where they are read.",
    ),
    "limit": ("LIMIT", "Leave it out: a product has all documents."),
    "offset": ("OFFSET", "Leave it out: a product has all documents."),
    "order": (
        "ORDER BY",
        "Leave it out: documents have no order. Lists take one: array_agg(… ORDER BY x).",
    ),
    "windows": ("WINDOW", "Aggregate in a subquery, or declare the product by its parts."),
    "qualify": ("QUALIFY", "Declare the product by its parts: they have `order` and `limit`."),
    "laterals": (
        "LATERAL",
        "Use a subquery in the select list, as in (SELECT count(*) FROM x WHERE x.a = r.a).",
    ),
    "group": ("GROUP BY", "Leave it out: a subquery of a product is one group."),
    "joins": ("JOIN", "Leave it out here."),
    "where": ("WHERE", "Leave it out here."),
}
"""The clauses of a SELECT that can be told by name, and what to do without each."""
DEEPEST = 60


def unsupported(construct: str, reason: str, hint: str) -> ProductError:
    """The error for a construct that has no place in a tree: its name, why, and what to do."""
    return ProductError(
        f"{construct} cannot be part of a product: {reason}.",
        code="product.sql-unsupported",
        hint=hint,
        construct=construct,
    )


def parse_query(text: str) -> exp.Select:
    """The one SELECT that a text says."""
    try:
        tokens = _checked(tokens_of(text), text)
        found = [one for one in Grammar().parser().parse(tokens, text) if one is not None]
    except ExpressionError as error:
        told = error.message.replace("The expression", "The query")
        hint = "Write it shorter, or declare the product by its parts."
        raise ProductError(told, code="product.sql-syntax", hint=hint) from error
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError) as error:
        # The parser raises the last three for some texts that it did not expect.
        raise _syntax(_told(error)) from error
    if len(found) != 1:
        raise _syntax(f"it has {len(found)} statements")
    [query] = found
    while isinstance(query, exp.Subquery) and not _said(query, {"this"}):
        query = query.this
    if isinstance(query, exp.SetOperation):
        word = type(query).__name__.upper()
        raise unsupported(
            word, "a document comes from one row of one table", "Write a product for each SELECT."
        )
    if not isinstance(query, exp.Select):
        raise _syntax("it is no SELECT")
    return query


def check_clauses(query: exp.Select, allowed: Collection[str]) -> None:
    """Refuse a query that says more than some clauses, or that reads no table."""
    for clause in _said(query, {"expressions", "from_", *allowed}):
        word, hint = CLAUSES.get(clause, (clause.strip("_").upper(), "Leave it out."))
        raise unsupported(word, "it has no place in a tree of rows", hint)
    if query.args.get("from_") is None:
        raise _syntax("it has no FROM")


def conjuncts(condition: exp.Expression) -> Iterator[exp.Expression]:
    """The conditions that AND holds together, without their parentheses."""
    condition = bare(condition)
    if isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    else:
        yield condition


def bare(node: exp.Expression) -> exp.Expression:
    """An expression without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def called(node: exp.Expression) -> str:
    """The name of the function that an expression calls, in lower case; empty where it calls none."""
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else ""


def _said(node: exp.Expression, allowed: Collection[str]) -> list[str]:
    return [name for name, value in node.args.items() if value and name not in allowed]


def _checked(tokens: list[Token], text: str) -> list[Token]:
    """Refuse what the parser would take for something else, or could not get to the end of."""
    depth = 0
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth > DEEPEST:
            raise _syntax(f"it is nested deeper than {DEEPEST} levels")
        if token.token_type is TokenType.STRING and text[token.start : token.start + 1] == '"':
            raise ProductError(
                f'"{token.text[:60]}" stands in double quotes, which hold texts in Spark and names elsewhere.',
                code="product.sql-syntax",
                hint="Write names in backticks and texts in single quotes.",
            )
    return tokens


def _syntax(reason: str) -> ProductError:
    return ProductError(
        f"The query cannot be read: {reason}.",
        code="product.sql-syntax",
        hint="Write one SELECT in Spark's SQL, such as SELECT u.name, c.city FROM users u LEFT JOIN …",
    )


def _told(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    details: list[dict[str, Any]] = getattr(error, "errors", None) or [{}]
    reason = str(details[0].get("description") or "it is no SQL that is known here").rstrip(".")
    place = details[0].get("highlight")
    return f"{reason}, near {place[:60]!r}" if place else reason
