"""The arguments of calls: their number, their types, literals and patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.gate import pattern
from weft.gate.coercion import (
    DATETIMES,
    INTEGRALS,
    NESTED,
    NUMERICS,
    UNKNOWN,
    common,
    is_interval,
    is_open,
)
from weft.gate.grammar import ExpressionError
from weft.gate.temporal import asks_clock, format_refusal, is_moment
from weft.gate.term import Term, mismatch, shorten
from weft.schema.schema import Type

MAX_BYTES = 16 * 1024 * 1024
"""The most bytes of one value; the kernel turns a record away that would make more."""
# A format is read anew by every task, and its result is as long as it says.
MAX_FORMAT = 1_000

LITERALS: Mapping[str, str] = {
    "key": "a name of letters and digits in quotes",
    "pattern": "a pattern in quotes",
    "like": "a pattern in quotes",
    "text": "a text in quotes",
    "form": "a format in quotes",
    "sign": "one character in quotes",
    "flag": "true or false",
    "place": "a whole number",
}
"""The words of the catalog for what must be written out, with what people are told."""

# Spark puts the name of a parameter into a pattern of its own as it is.
_KEY = re.compile(r"[A-Za-z0-9_-]*")

_CASTS: Mapping[str, str] = {
    "integer": "int",
    "count": "int",
    "long": "bigint",
    "number": "double",
    "time": "timestamp",
    "moment": "timestamp",
    "day": "date",
    "words": "string",
    "bytes": "string",
}


def _is_plain(term: Term) -> bool:
    return term.type.name not in NESTED and not is_interval(term.type)


def _is_time(term: Term) -> bool:
    return term.type.name in DATETIMES or (term.is_text and is_moment(term.value))


def _is_list(term: Term, *, plain: bool) -> bool:
    """Whether it is an array, of plain values or of arrays."""
    if term.type.name != "array":
        return False
    inner = term.type.items[0].name
    return inner not in NESTED if plain else inner == "array"


def holds_map(kind: Type) -> bool:
    """Whether a type is a map or holds one, so that it has neither equality nor hash."""
    inner = (*kind.items, *(field.type for field in kind.fields))
    return kind.name == "map" or any(map(holds_map, inner))


_FITS: Mapping[str, Callable[[Term], bool]] = {
    "any": lambda term: True,
    "string": _is_plain,
    "bytes": lambda term: term.type.name in ("string", "binary"),
    "words": lambda term: term.type.name == "string",
    "number": lambda term: term.type.name in NUMERICS,
    "long": lambda term: term.type.name in INTEGRALS,
    "integer": lambda term: term.type.name in ("tinyint", "smallint", "int"),
    "count": lambda term: term.type.name == "int",
    "bits": lambda term: term.type.name in (*INTEGRALS, "boolean"),
    "places": lambda term: term.type.name in ("int", "string"),
    "boolean": lambda term: term.type.name == "boolean",
    "date": _is_time,
    "time": _is_time,
    "day": lambda term: term.type.name == "date",
    "moment": lambda term: term.type.name == "timestamp",
    "dated": lambda term: term.type.name in (*DATETIMES, "string"),
    "array": lambda term: term.type.name == "array",
    "map": lambda term: term.type.name == "map",
    "struct": lambda term: term.type.name == "struct",
    "nested": lambda term: term.type.name in NESTED,
    "many": lambda term: term.type.name in ("array", "map"),
    "lists": lambda term: _is_list(term, plain=False),
    "texts": lambda term: _is_list(term, plain=True),
    "floats": lambda term: term.type == Type("array", items=(Type("float"),)),
    "joined": lambda term: _is_plain(term) or _is_list(term, plain=True),
    "hashed": lambda term: not holds_map(term.type) and not is_interval(term.type),
}
# Spark has no array or map without a type, so these words take no bare null.
_TYPED = ("array", "map", "struct", "nested", "many", "lists", "texts", "floats")


def count(name: str, given: Sequence[Any], least: int, most: int | None) -> None:
    """Refuse a wrong number of arguments."""
    if len(given) >= least and (most is None or len(given) <= most):
        return
    wanted = f"{least} to {most}" if most else f"at least {least}"
    if least == most:
        wanted = str(least)
    raise ExpressionError(
        f"{name}() takes {wanted} argument{'' if wanted == '1' else 's'}, not {len(given)}.",
        code="expression.arguments",
        hint="Give it what it needs, in the order of Spark's documentation.",
        function=name,
    )


def fits(name: str, place: int, word: str, term: Term) -> None:
    """Refuse an argument of another type than the function takes."""
    open_to_any = term.type.name == "unknown" or (is_open(term.type) and word not in _TYPED)
    if open_to_any or _FITS[word](term):
        return
    article = "an" if word[0] in "aei" else "a"
    verb = "try_cast" if term.type.name == "string" else "cast"
    raise mismatch(
        f"Argument {place + 1} of {name}() is {shorten(term.sql)} of type {term.type}; it takes "
        f"{article} {word}.",
        f"Cast it, such as {verb}(x as {_CASTS.get(word, word)}).",
    )


def fits_inside(name: str, place: int, word: str, term: Term, holder: Term) -> None:
    """Refuse what does not belong into an array, or beside a map, as it is: E, K, A or M of the catalog."""
    wanted = holder.type if word in ("A", "M") else (holder.type.items or (UNKNOWN,))[0]
    if "unknown" in (wanted.name, term.type.name):
        return
    fitting = common(wanted, term.type)
    alike = (wanted, term.type) if word == "A" else (wanted,)
    if term.type.name != "null" and fitting in alike:
        return
    raise mismatch(
        f"Argument {place + 1} of {name}() is {shorten(term.sql)} of type {term.type}, beside "
        f"{shorten(holder.sql)} of type {holder.type}.",
        f"Cast it: cast(x as {wanted}).",
    )


def literal(name: str, word: str, term: Term) -> None:
    """Refuse what is not written out, and patterns that cannot be run."""
    value: Any = term.value
    if not term.literal or type(value).__name__ != {"flag": "bool", "place": "int"}.get(
        word, "str"
    ):
        raise needed(name, LITERALS[word])
    if (word == "sign" and len(value) != 1) or (word == "key" and not _KEY.fullmatch(value)):
        raise needed(name, LITERALS[word])
    if word == "pattern":
        refuse_pattern(name, value, pattern.refusal(value))


def refuse_pattern(name: str, value: str, reason: str | None) -> None:
    """Refuse a pattern for a reason, if there is one."""
    if reason:
        raise ExpressionError(
            f"The pattern {shorten(value)!r} of {name}() is refused: {reason}.",
            code="expression.pattern",
            hint="Patterns are Java's, without what looks ahead or behind or refers back.",
        )


def short(name: str, term: Term) -> None:
    """Refuse a format that is longer than any format is."""
    if len(term.value) > MAX_FORMAT:
        raise ExpressionError(
            f"The text for {name}() has {len(term.value)} characters; at most {MAX_FORMAT} are taken.",
            code="expression.size",
            hint="Write a shorter one.",
        )


def form(name: str, term: Term) -> None:
    """Refuse a format of dates and times that Spark would not take."""
    reason = format_refusal(term.value, reads=name not in ("date_format", "from_unixtime"))
    if reason:
        raise ExpressionError(
            f"The format {shorten(term.value)!r} of {name}() is refused: {reason}.",
            code="expression.arguments",
            hint="Write it as 'yyyy-MM-dd HH:mm:ss'; letters that are not meant stand in 'quotes'.",
        )


def not_the_clock(name: str, term: Term) -> None:
    """Refuse a literal such as 'now' where Spark reads it as what the clock says when it plans a batch."""
    if term.is_text and asks_clock(term.value):
        raise ExpressionError(
            f"{name} would read {term.value!r} as what the clock says, which a replay would not repeat.",
            code="expression.clock",
            hint="Use now() or current_date(), which are the knot's own.",
        )


def needed(name: str, what: str) -> ExpressionError:
    """The error for something that must be written out."""
    return ExpressionError(
        f"{name}() needs {what}, written out.",
        code="expression.literal-needed",
        hint="It is checked before it runs, so it cannot come from a column.",
        function=name,
    )


def size(name: str, term: Term) -> None:
    """Refuse a length that is no whole number, or written out and beyond any value."""
    if term.type.name not in INTEGRALS and not is_open(term.type):
        raise mismatch(
            f"The size in {name}() is {shorten(term.sql)} of type {term.type}.",
            "Give a whole number.",
        )
    if term.literal and isinstance(term.value, int) and abs(term.value) > MAX_BYTES:
        raise ExpressionError(
            f"The size in {name}() is {term.value}; no value has more than {MAX_BYTES} bytes.",
            code="expression.size",
            hint="Write a smaller number.",
        )
