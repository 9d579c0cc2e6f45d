"""One judged piece of an expression: its SQL, its type, and what is known of its value. Made and
combined by the checker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from weft.weaving.coercion import DATETIMES, NULL, common, is_open
from weft.weaving.grammar import ExpressionError
from weft.weaving.schema import Type, literal

# How often a record may grow by one expression, in characters or elements for each one it had.
MAX_GROWTH = 1_000_000


@dataclass(frozen=True)
class Term:
    """A piece of an expression.

    `total`: it can never raise. `value`: a literal's own value. `bound`: the highest value that a
    whole number can have, where that is known. `growth`: how many times larger than the record it
    can be. `group`: the operators that `sql` is an open chain of, which may go on without brackets.
    """

    sql: str
    type: Type
    total: bool = True
    literal: bool = False
    value: Any = None
    bound: int | None = None
    growth: int = 1
    group: str = ""

    @property
    def closed(self) -> str:
        """The SQL in brackets where it needs them."""
        return f"({self.sql})" if self.group else self.sql

    @property
    def is_text(self) -> bool:
        """Whether it is a literal text."""
        return self.literal and isinstance(self.value, str)

    def grown(self, growth: int) -> Term:
        """The same piece, that much larger; refuses what would not fit into memory."""
        if growth > MAX_GROWTH:
            raise ExpressionError(
                f"{shorten(self.sql)} can make a value {growth} times as large as it was.",
                code="expression.size",
                hint=f"Stay under {MAX_GROWTH} in all.",
            )
        return replace(self, growth=growth)


def text_literal(value: str) -> Term:
    """A text as a literal of Spark's SQL."""
    return Term(literal(value), Type("string"), literal=True, value=value)


def shorten(sql: str) -> str:
    """A piece of SQL as a message shows it."""
    return sql if len(sql) <= 80 else sql[:77] + "..."


def mismatch(message: str, hint: str) -> ExpressionError:
    """The error for types that do not fit."""
    return ExpressionError(message, code="expression.type", hint=hint)


def require_boolean(term: Term, where: str) -> None:
    """Refuse a condition that is not one."""
    if term.type.name != "boolean" and not is_open(term.type):
        raise ExpressionError(
            f"{where} needs a condition, and {shorten(term.sql)} is of type {term.type}.",
            code="expression.not-boolean",
            hint="Compare it with something, such as total > 0 or email is not null.",
        )


def require_comparable(one: Term, two: Term) -> None:
    """Refuse to compare values that have no order or equality in common."""
    if "map" in (one.type.name, two.type.name):
        raise mismatch(
            f"{shorten(one.sql)} and {shorten(two.sql)} cannot be compared: maps have no equality.",
            "Compare map_keys() or single values.",
        )
    unify([one, two], "Comparing")


def unify(terms: list[Term], what: str) -> Type:
    """The common type of several pieces; a literal date or time in quotes counts as one."""
    together = NULL
    seen = terms[0]
    times = [term for term in terms if term.type.name in DATETIMES]
    for term in terms:
        kind = term.type
        if times and term.is_text and is_moment(term.value):
            kind = times[0].type
        found = common(together, kind)
        if found is None:
            raise mismatch(
                f"{what} {shorten(seen.sql)} ({together}) with {shorten(term.sql)} ({kind}) is not "
                f"possible.",
                _advice(together, kind),
            )
        together, seen = found, term
    return together


def counted(term: Term, other: Term) -> Type:
    """The type of an operand; a whole number beside a decimal has just the digits written."""
    if term.literal and type(term.value) is int and other.type.name == "decimal":
        return Type("decimal", precision=len(str(abs(term.value))))
    return term.type


def _advice(one: Type, two: Type) -> str:
    if "string" in (one.name, two.name):
        other = two if one.name == "string" else one
        return f"Cast one, such as try_cast(x as {other}), or write the literal without quotes."
    return "Cast one of them to the type of the other."


def is_moment(text: str) -> bool:
    """Whether a text reads as a date or a time."""
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True
