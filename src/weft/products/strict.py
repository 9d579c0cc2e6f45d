"""What an expression is where the row that it reads is missing. Called for tables that are joined with LEFT JOIN: SQL
goes on with nulls in their place, a tree without the part."""

from __future__ import annotations

from sqlglot import exp

from weft.products.query import bare, called

FUNCTIONS = frozenset(
    [
        "abs",
        "ceil",
        "ceiling",
        "char_length",
        "concat",
        "date_add",
        "date_format",
        "date_sub",
        "date_trunc",
        "datediff",
        "day",
        "dayofmonth",
        "dayofweek",
        "dayofyear",
        "element_at",
        "floor",
        "hour",
        "initcap",
        "last_day",
        "left",
        "length",
        "like",
        "lower",
        "lpad",
        "ltrim",
        "minute",
        "month",
        "quarter",
        "regexp_extract",
        "regexp_replace",
        "replace",
        "reverse",
        "right",
        "round",
        "rpad",
        "rtrim",
        "second",
        "sqrt",
        "substr",
        "substring",
        "to_date",
        "to_timestamp",
        "translate",
        "trim",
        "unix_timestamp",
        "upper",
        "weekofyear",
        "year",
    ]
)
"""Functions that are null where any argument is, of those that are common."""
_STRICT = (exp.Binary, exp.Not, exp.Neg, exp.Cast, exp.Paren, exp.Between, exp.In, exp.Extract)
_LOOSE = (exp.And, exp.Or, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Dot)


def is_null_without(node: exp.Expression) -> bool:
    """Whether an expression is surely null where all columns are."""
    if isinstance(node, exp.Column | exp.Null):
        return True
    if isinstance(node, exp.And | exp.Or):
        return is_null_without(node.this) and is_null_without(node.expression)
    if isinstance(node, _LOOSE):
        return False
    if isinstance(node, exp.In | exp.Between):
        return is_null_without(node.this)
    if isinstance(node, exp.Binary):
        return is_null_without(node.this) or is_null_without(node.expression)
    if isinstance(node, _STRICT):
        return isinstance(node.this, exp.Expression) and is_null_without(node.this)
    return called(node) in FUNCTIONS and any(is_null_without(one) for one in node.expressions)


def drops_missing(condition: exp.Expression) -> bool:
    """Whether a condition is surely not true where all columns are null."""
    condition = bare(condition)
    if isinstance(condition, exp.And):
        return drops_missing(condition.this) or drops_missing(condition.expression)
    if isinstance(condition, exp.Or):
        return drops_missing(condition.this) and drops_missing(condition.expression)
    if isinstance(condition, exp.Is):
        # Of something null, every IS but IS NULL is false.
        return is_null_without(condition.this) and not isinstance(condition.expression, exp.Null)
    if isinstance(condition, exp.Not) and isinstance(bare(condition.this), exp.Is):
        inner = bare(condition.this)
        return is_null_without(inner.this) and isinstance(inner.expression, exp.Null)
    return is_null_without(condition)
