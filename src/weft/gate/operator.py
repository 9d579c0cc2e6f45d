"""Operators between two values, and numbers as they are written: their SQL, type, and whether
they can raise."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sqlglot import exp

from weft.gate import coercion
from weft.gate.coercion import BIGINT, BOOLEAN, DOUBLE, INT
from weft.gate.conversion import concatenated
from weft.gate.grammar import ExpressionError
from weft.gate.term import (
    Term,
    counted,
    mismatch,
    require_boolean,
    require_comparable,
    shorten,
    unify,
)
from weft.schema.schema import Type

# Operators of one group follow each other from the left without brackets.
_ARITHMETIC: Mapping[type[exp.Expression], tuple[str, str]] = {
    exp.Add: ("+", "sum"),
    exp.Sub: ("-", "sum"),
    exp.Mul: ("*", "product"),
    exp.Div: ("/", "product"),
    exp.Mod: ("%", "product"),
    exp.IntDiv: ("div", "product"),
}
_COMPARISON: Mapping[type[exp.Expression], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.NullSafeEQ: "<=>",
}
_BITS: Mapping[type[exp.Expression], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}
_LOGIC: Mapping[type[exp.Expression], str] = {exp.And: "and", exp.Or: "or"}
BINARY: tuple[type[exp.Expression], ...] = (
    *_ARITHMETIC,
    *_COMPARISON,
    *_BITS,
    *_LOGIC,
    exp.NullSafeNEQ,
    exp.DPipe,
)


def combined(node: exp.Expression, left: Term, right: Term) -> Term:
    """Two judged values with the operator between them."""
    kind = type(node)
    total = left.total and right.total
    if kind in _ARITHMETIC:
        sign, group = _ARITHMETIC[kind]
        result, raises = _arithmetic(sign, left, right)
        return _joined(left, sign, right, result, total and not raises, group)
    if kind in _LOGIC:
        word = _LOGIC[kind]
        for side in (left, right):
            require_boolean(side, f"`{word}`")
        return _joined(left, word, right, BOOLEAN, total, word)
    if kind is exp.DPipe:
        return _joined(left, "||", right, concatenated([left, right]), False, "||")
    if kind in _BITS:
        return _bits(node, left, right, total)
    total = require_comparable(left, right) and total
    if kind is exp.NullSafeNEQ:
        unequal = Term(f"not ({left.closed} <=> {right.closed})", BOOLEAN, total, group="not")
        return unequal.made_of([left, right])
    sql = f"{left.closed} {_COMPARISON[kind]} {right.closed}"
    return Term(sql, BOOLEAN, total, group="compare").made_of([left, right])


def _bits(node: exp.Expression, left: Term, right: Term, total: bool) -> Term:
    sign = _BITS[type(node)]
    if not (is_whole(left) and is_whole(right)):
        raise mismatch(f"`{sign}` needs whole numbers.", "Cast both sides to long or int.")
    # Spark binds these in an order of their own, which few know.
    if any(
        type(side) in _BITS and type(side) is not type(node)
        for side in (node.this, node.expression)
    ):
        raise ExpressionError(
            f"`{sign}` beside another of &, ^ and | can be read in two ways.",
            code="expression.syntax",
            hint="Put brackets around what belongs together.",
        )
    return _joined(left, sign, right, unify([left, right], "Combining"), total, sign)


def _joined(left: Term, sign: str, right: Term, kind: Type, total: bool, group: str) -> Term:
    first = left.sql if left.group == group else left.closed
    return Term(f"{first} {sign} {right.closed}", kind, total, group=group).made_of([left, right])


def _arithmetic(sign: str, left: Term, right: Term) -> tuple[Type, bool]:
    found = coercion.arithmetic(sign, counted(left, right), counted(right, left))
    if found is None:
        raise mismatch(
            f"{shorten(left.sql)} ({left.type}) {sign} {shorten(right.sql)} ({right.type}) is not "
            f"possible.",
            "Join texts with ||, or cast to a number with try_cast(x as double).",
        )
    kind, raises = found
    if sign == "/" and kind.name == "double" and right.literal and right.value:
        raises = False
    return kind, raises


def is_whole(term: Term) -> bool:
    """Whether a value is a whole number, or may be one."""
    return term.type.name in coercion.INTEGRALS or coercion.is_open(term.type)


def number(text: str) -> Term:
    """A number as written: whole, decimal or (with an exponent) double, as Spark reads it."""
    digits = text.lstrip("-")
    try:
        size = float(text)
    except ValueError:
        raise mismatch(
            f"{shorten(text)} is not a number.", "Write it as 1000, 1.5 or 1e3."
        ) from None
    if "e" in digits.lower():
        if not math.isfinite(size):
            raise mismatch(f"{text} is more than a double can hold.", "Write a smaller number.")
        return Term(text, DOUBLE, literal=True, value=size, plain=True)
    whole, point, fraction = digits.partition(".")
    places = len((whole + fraction).lstrip("0")) or 1
    if places > 38 or len(fraction) > 38:
        raise mismatch(f"{shorten(text)} has more than 38 digits.", "Write a smaller number.")
    if point:
        precision = max(len(whole.lstrip("0")) + len(fraction), 1)
        kind = Type("decimal", precision=precision, scale=len(fraction))
        return Term(text, kind, literal=True, value=size, plain=True)
    value = int(text)
    if -(2**31) <= value < 2**31:
        return Term(text, INT, literal=True, value=value, plain=True)
    if -(2**63) <= value < 2**63:
        return Term(text, BIGINT, literal=True, value=value, plain=True)
    return Term(text, Type("decimal", precision=places), literal=True, value=value, plain=True)
