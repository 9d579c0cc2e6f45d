"""SQL over one row, and aggregates over several, in plain Python: the few words that grown products use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any

from sqlglot import exp, parse_one

from tests.products.table import Row

STRICT: dict[type[exp.Expression], Callable[[Any, Any], Any]] = {
    exp.Add: add,
    exp.Sub: sub,
    exp.Mul: mul,
    exp.EQ: eq,
    exp.NEQ: ne,
    exp.GT: gt,
    exp.GTE: ge,
    exp.LT: lt,
    exp.LTE: le,
}
SINGLE: dict[type[exp.Expression], Callable[[Any], Any]] = {
    exp.Not: lambda value: not value,
    exp.Neg: lambda value: -value,
    exp.Upper: str.upper,
    exp.Length: len,
}
AVERAGED = Decimal("0.000001")
"""Spark's mean of a decimal(10,2) is a decimal(14,6)."""


@cache
def _parsed(text: str) -> exp.Expression:
    return parse_one(text, read="spark")


def value_of(text: str, row: Row) -> Any:
    """The value of an expression for a row."""
    return _value(_parsed(text), row)


def aggregated(text: str, rows: Sequence[Row]) -> Any:
    """The value of an aggregate over rows: a count of none is 0, all else of none is null."""
    call = _parsed(text)
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return len(rows)
    values = [value for row in rows if (value := _value(call.this, row)) is not None]
    if isinstance(call, exp.Count):
        return len(values)
    if not values:
        return None
    if isinstance(call, exp.Sum):
        return sum(values)
    if isinstance(call, exp.Avg):
        mean = sum(values) / len(values)
        return mean.quantize(AVERAGED, ROUND_HALF_UP) if isinstance(mean, Decimal) else mean
    return {exp.Min: min, exp.Max: max}[type(call)](values)


def _value(node: exp.Expression, row: Row) -> Any:
    kind = type(node)
    if kind in STRICT:
        left, right = _value(node.this, row), _value(node.expression, row)
        return None if left is None or right is None else STRICT[kind](left, right)
    if kind in SINGLE:
        value = _value(node.this, row)
        return None if value is None else SINGLE[kind](value)
    match node:
        case exp.Column():
            return row[node.name]
        case exp.Literal():
            if node.is_string:
                return node.this
            return Decimal(node.this) if "." in node.this else int(node.this)
        case exp.Boolean():
            return node.this
        case exp.Null():
            return None
        case exp.Paren():
            return _value(node.this, row)
        case exp.And():
            return _both(_value(node.this, row), _value(node.expression, row))
        case exp.Or():
            left, right = _value(node.this, row), _value(node.expression, row)
            return _not(_both(_not(left), _not(right)))
        case exp.Is():
            return _value(node.this, row) is _value(node.expression, row)
        case exp.Between():
            value = _value(node.this, row)
            low, high = _value(node.args["low"], row), _value(node.args["high"], row)
            return None if value is None else low <= value <= high
        case exp.In():
            value = _value(node.this, row)
            return (
                None if value is None else value in [_value(one, row) for one in node.expressions]
            )
        case exp.Coalesce():
            values = [_value(one, row) for one in (node.this, *node.expressions)]
            return next((one for one in values if one is not None), None)
        case exp.Cast():
            return datetime.fromisoformat(node.this.name).replace(tzinfo=UTC)
    raise ValueError(f"the model does not compute {node!r}")


def _both(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value
