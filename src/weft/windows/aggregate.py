"""Aggregates as their author writes them, `sum(total)`, parsed and checked.

Knows no Spark: the kernel runs them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from sqlglot import parse_one
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from weft.errors import WeftError
from weft.gate.expression import check
from weft.schema.schema import Schema, Type, parse_type
from weft.schema.weft import WEFT


@dataclass(frozen=True)
class Over:
    """A function over the records of a window: how many arguments it takes, what it gives, and an example."""

    fewest: int
    most: int
    meaning: str
    example: str


FUNCTIONS: Mapping[str, Over] = {
    "count": Over(1, 1, "How many records there are, or have a value.", "count(*)"),
    "sum": Over(1, 1, "All values added up.", "sum(total)"),
    "avg": Over(1, 1, "Their mean.", "avg(total)"),
    "min": Over(1, 1, "The least value.", "min(total)"),
    "max": Over(1, 1, "The greatest value.", "max(total)"),
    "first": Over(
        1, 2, "The value of the earliest record; with `true`, nulls are skipped.", "first(email)"
    ),
    "last": Over(
        1, 2, "The value of the latest record; with `true`, nulls are skipped.", "last(email, true)"
    ),
    "stddev": Over(1, 1, "The standard deviation of a sample.", "stddev(total)"),
    "stddev_pop": Over(1, 1, "The standard deviation of all.", "stddev_pop(total)"),
    "variance": Over(1, 1, "The variance of a sample.", "variance(total)"),
    "var_pop": Over(1, 1, "The variance of all.", "var_pop(total)"),
    "approx_count_distinct": Over(
        1, 2, "About how many different values there are.", "approx_count_distinct(email)"
    ),
    "approx_percentile": Over(
        2,
        3,
        "About which value a share of the values is below; several with `array(0.5, 0.95)`.",
        "approx_percentile(total, 0.95)",
    ),
    "collect_list": Over(1, 1, "All values, in the order of the records.", "collect_list(email)"),
    "collect_set": Over(1, 1, "All different values.", "collect_set(country)"),
    "max_by": Over(2, 2, "The first where the second is greatest.", "max_by(email, total)"),
    "min_by": Over(2, 2, "The first where the second is least.", "min_by(email, total)"),
}
OTHER_NAMES: Mapping[str, str] = {
    "mean": "avg",
    "first_value": "first",
    "last_value": "last",
    "stddev_samp": "stddev",
    "std": "stddev",
    "var_samp": "variance",
    "percentile_approx": "approx_percentile",
    "array_agg": "collect_list",
}
NUMBERS = ("byte", "tinyint", "short", "smallint", "int", "integer", "long", "bigint")
FRACTIONS = ("float", "real", "double")
RESERVED = ("window", WEFT)


class AggregateError(WeftError):
    """An aggregate cannot be computed as written."""

    code = "aggregate.invalid"
    domain = "user"


@dataclass(frozen=True)
class Aggregate:
    """One column of a pane: a function over SQL expressions of the stream's columns."""

    name: str
    function: str
    arguments: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    is_many: bool = False
    skips_nulls: bool = False
    total: bool = False
    """Whether its expressions never raise and never grow, so that they need no trying."""

    def to_kernel(self) -> dict[str, Any]:
        """This aggregate as the kernel's window operator reads it."""
        return {
            "name": self.name,
            "function": self.function,
            "args": list(self.arguments),
            "shares": list(self.shares),
            "many": self.is_many,
            "skips_nulls": self.skips_nulls,
            "total": self.total,
        }

    def result_type(self, types: Sequence[str]) -> str:
        """The type of the column, given those of the arguments, both as Spark writes them in a
        schema.
        """
        kind = types[0].lower() if types else ""
        decimal = re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", kind)
        is_number = bool(decimal) or kind in NUMBERS or kind in FRACTIONS
        if (
            self.function in ("sum", "avg", "stddev", "stddev_pop", "variance", "var_pop")
            and not is_number
        ):
            raise _wrong_type(self, kind, "a number")
        if self.function == "approx_percentile":
            if not is_number and kind not in ("date", "timestamp"):
                raise _wrong_type(self, kind, "a number, a date or a timestamp")
            return f"array<{kind}>" if self.is_many else kind
        if self.function in ("count", "approx_count_distinct"):
            return "bigint"
        if self.function in ("sum", "avg") and decimal:
            precision, scale = int(decimal[1]), int(decimal[2])
            if self.function == "sum":
                return f"decimal({min(38, precision + 10)},{scale})"
            return f"decimal({min(38, precision + 4)},{min(38, scale + 4)})"
        if self.function == "sum":
            return "double" if kind in FRACTIONS else "bigint"
        if self.function in ("avg", "stddev", "stddev_pop", "variance", "var_pop"):
            return "double"
        return f"array<{kind}>" if self.function.startswith("collect") else kind


def parse_aggregates(written: Mapping[str, str]) -> tuple[Aggregate, ...]:
    """The aggregates of a window, in the order in which they are written."""
    return tuple(parse_aggregate(name, text) for name, text in written.items())


def parse_aggregate(name: str, text: str) -> Aggregate:
    """The aggregate that a text such as `sum(total * rate)` says, or the first thing wrong with
    it.
    """
    if name.lower() in RESERVED:
        raise AggregateError(
            f"An aggregate cannot be named {name!r}: every pane has a column of that name.",
            code="aggregate.name",
            hint="Choose another name.",
            aggregate=name,
        )
    if not isinstance(text, str):
        raise _unreadable(name, text, "it is not text")
    try:
        parse_one(f"SELECT {text}", read="spark")
        tokens = _tokens(text)
    except SqlglotError as error:
        raise _unreadable(name, text, str(error).splitlines()[0]) from error
    function, arguments = _split(name, text, tokens)
    if function == "count" and arguments == ["*"]:
        return Aggregate(name, "count")
    if any(re.match(r"distinct\b", argument, re.IGNORECASE) for argument in arguments):
        raise AggregateError(
            f"Aggregate {name!r}: {function} over distinct values would keep every value.",
            code="aggregate.distinct",
            hint="Use approx_count_distinct(x), or size(collect_set(x)) afterwards.",
            aggregate=name,
        )
    fewest, most = FUNCTIONS[function].fewest, FUNCTIONS[function].most
    if not fewest <= len(arguments) <= most:
        takes = str(fewest) if fewest == most else f"{fewest} or {most}"
        raise AggregateError(
            f"Aggregate {name!r}: {function} takes {takes} arguments and has {len(arguments)}.",
            code="aggregate.arguments",
            hint=f"Write it as {FUNCTIONS[function].example}.",
            aggregate=name,
        )
    if function == "approx_percentile":
        shares, is_many = _shares(name, arguments[1])
        return Aggregate(name, function, (arguments[0],), shares, is_many)
    if function in ("first", "last"):
        return Aggregate(
            name, function, (arguments[0],), skips_nulls=_skips_nulls(name, arguments[1:])
        )
    if function == "approx_count_distinct":
        arguments = arguments[:1]
    return Aggregate(name, function, tuple(arguments))


def checked_aggregate(name: str, text: str, schema: Schema) -> tuple[Aggregate, Type]:
    """An aggregate with its expressions checked, and the type of its column."""
    aggregate = parse_aggregate(name, text)
    arguments = [check(argument, schema) for argument in aggregate.arguments]
    pinned = [call for argument in arguments for call in argument.pinned]
    if pinned:
        raise AggregateError(
            f"Aggregate {name!r} calls {pinned[0]}(), which has no value of its own for each record.",
            code="aggregate.pinned",
            hint="Set a column to it in a step, and aggregate that column.",
            aggregate=name,
        )
    kind = aggregate.result_type([str(argument.type) for argument in arguments])
    checked = replace(
        aggregate,
        arguments=tuple(argument.sql for argument in arguments),
        total=all(argument.total for argument in arguments),
    )
    return checked, parse_type(kind)


def _tokens(text: str) -> list[Token]:
    from sqlglot.dialects.spark import Spark

    return list(Spark().tokenize(text))


def _split(name: str, text: str, tokens: list[Token]) -> tuple[str, list[str]]:
    """The function's own name and the texts of its arguments, as they were written."""
    is_call = len(tokens) > 2 and tokens[1].token_type is TokenType.L_PAREN
    if not is_call or tokens[-1].token_type is not TokenType.R_PAREN:
        raise _unreadable(name, text, "it is not one call of a function")
    written = tokens[0].text.lower()
    function = OTHER_NAMES.get(written, written)
    if function not in FUNCTIONS:
        near = get_close_matches(written, [*FUNCTIONS, *OTHER_NAMES], n=1)
        raise AggregateError(
            f"Aggregate {name!r}: there is no function {written!r} over the records of a window.",
            code="aggregate.function",
            hint=f"Did you mean {near[0]}?" if near else f"Use one of {', '.join(FUNCTIONS)}.",
            aggregate=name,
        )
    arguments, depth, start = [], 0, tokens[1].end + 1
    for token in tokens[1:]:
        if token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET):
            depth += 1
        elif token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET):
            depth -= 1
            if depth == 0 and token is not tokens[-1]:
                raise _unreadable(name, text, "it is not one call of a function")
        if (depth == 1 and token.token_type is TokenType.COMMA) or depth == 0:
            arguments.append(text[start : token.start].strip())
            start = token.end + 1
    return function, [argument for argument in arguments if argument]


def _shares(name: str, text: str) -> tuple[tuple[float, ...], bool]:
    is_many = text.lower().startswith("array(") and text.endswith(")")
    try:
        shares = tuple(float(part) for part in (text[6:-1] if is_many else text).split(","))
    except ValueError:
        shares = ()
    if not shares or any(not 0 <= share <= 1 for share in shares):
        raise AggregateError(
            f"Aggregate {name!r}: {text} is not a share between 0 and 1.",
            code="aggregate.share",
            hint="Write approx_percentile(x, 0.95), or approx_percentile(x, array(0.5, 0.95)).",
            aggregate=name,
        )
    return shares, is_many


def _skips_nulls(name: str, arguments: list[str]) -> bool:
    if arguments and arguments[0].lower() not in ("true", "false"):
        raise AggregateError(
            f"Aggregate {name!r}: the second argument says whether nulls are skipped.",
            code="aggregate.arguments",
            hint="Write true or false.",
            aggregate=name,
        )
    return bool(arguments) and arguments[0].lower() == "true"


def _unreadable(name: str, text: object, reason: str) -> AggregateError:
    return AggregateError(
        f"Aggregate {name!r} cannot be read: {reason}: {text!r}.",
        code="aggregate.syntax",
        hint="Write one function over columns, such as count(*) or sum(total).",
        aggregate=name,
    )


def _wrong_type(aggregate: Aggregate, kind: str, wanted: str) -> AggregateError:
    return AggregateError(
        f"Aggregate {aggregate.name!r}: {aggregate.function} needs {wanted}, not {kind}.",
        code="aggregate.type",
        hint="Cast the argument, or choose another function.",
        aggregate=aggregate.name,
    )
