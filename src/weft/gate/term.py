"""One judged piece of an expression: its SQL, its type, and what is known of its value. Made and
combined by the checker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from weft.gate.coercion import DATETIMES, NULL, cast_raises, common, is_open
from weft.gate.grammar import ExpressionError
from weft.gate.temporal import is_moment
from weft.schema.schema import Type, literal

# Spark writes some calls out with an argument several times over, and nested calls multiply that.
MAX_WEIGHT = 5_000


@dataclass(frozen=True)
class Term:
    """A piece of an expression.

    `total`: it can never raise, nor grow. `value`: a literal's own value. `plain`: a column, a part
    of one, or a literal. `weight`: how many nodes Spark makes of it. `group`: the operators that
    `sql` is an open chain of, which may go on without brackets.
    """

    sql: str
    type: Type
    total: bool = True
    literal: bool = False
    value: Any = None
    plain: bool = False
    weight: int = 1
    group: str = ""

    @property
    def closed(self) -> str:
        """The SQL in brackets where it needs them."""
        return f"({self.sql})" if self.group else self.sql

    @property
    def is_text(self) -> bool:
        """Whether it is a literal text."""
        return self.literal and isinstance(self.value, str)

    def made_of(self, parts: Iterable[Term], *, copies: int = 1) -> Term:
        """The same piece with the weight of its parts, each of which Spark writes out so often."""
        weight = self.weight + copies * sum(part.weight for part in parts)
        if weight > MAX_WEIGHT:
            raise ExpressionError(
                f"{shorten(self.sql)} becomes more than {MAX_WEIGHT} parts when it is written out.",
                code="expression.too-large",
                hint="Split it over several `set` steps.",
            )
        return replace(self, weight=weight)


def text_literal(value: str) -> Term:
    """A text as a literal of Spark's SQL."""
    return Term(literal(value), Type("string"), literal=True, value=value, plain=True)


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


def require_comparable(one: Term, two: Term) -> bool:
    """Refuse to compare values that have nothing in common; the answer is whether comparing never raises."""
    if "map" in (one.type.name, two.type.name):
        raise mismatch(
            f"{shorten(one.sql)} and {shorten(two.sql)} cannot be compared: maps have no equality.",
            "Compare map_keys() or single values.",
        )
    return converts([one, two], unify([one, two], "Comparing"))


def converts(terms: Iterable[Term], together: Type) -> bool:
    """Whether pieces become their common type without ever raising."""
    return all(
        not cast_raises(term.type, together) or (term.is_text and is_moment(term.value))
        for term in terms
    )


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
