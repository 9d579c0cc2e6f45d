"""The arguments of calls: their number, their types, literals and patterns, and how large they
let a value grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.weaving import pattern
from weft.weaving.coercion import DATETIMES, INTEGRALS, NESTED, NUMERICS, is_interval, is_open
from weft.weaving.grammar import ExpressionError
from weft.weaving.term import Term, is_moment, mismatch, require_comparable, shorten

MAX_SIZE = 100_000
# LIKE is matched by backtracking too: each % multiplies the time by the length of the text.
MAX_WILDCARDS = 10

LITERALS: Mapping[str, str] = {
    "pattern": "a pattern in quotes",
    "like": "a pattern in quotes",
    "text": "a text in quotes",
    "sign": "one character in quotes",
    "flag": "true or false",
    "place": "a whole number",
}
"""The words of the catalog for what must be written out, with what people are told."""

_CASTS: Mapping[str, str] = {
    "integer": "int",
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


_FITS: Mapping[str, Callable[[Term], bool]] = {
    "any": lambda term: True,
    "string": _is_plain,
    "bytes": _is_plain,
    "words": lambda term: term.type.name == "string",
    "number": lambda term: term.type.name in NUMERICS,
    "long": lambda term: term.type.name in INTEGRALS,
    "integer": lambda term: term.type.name in ("tinyint", "smallint", "int"),
    "boolean": lambda term: term.type.name == "boolean",
    "date": _is_time,
    "time": _is_time,
    "day": lambda term: term.type.name == "date",
    "moment": lambda term: term.type.name == "timestamp",
    "array": lambda term: term.type.name == "array",
    "map": lambda term: term.type.name == "map",
    "struct": lambda term: term.type.name == "struct",
}


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
    if is_open(term.type) or _FITS[word](term):
        return
    article = "an" if word[0] in "aei" else "a"
    verb = "try_cast" if term.type.name == "string" else "cast"
    raise mismatch(
        f"Argument {place + 1} of {name}() is {shorten(term.sql)} of type {term.type}; it takes "
        f"{article} {word}.",
        f"Cast it, such as {verb}(x as {_CASTS.get(word, word)}).",
    )


def fits_inside(term: Term, holder: Term) -> None:
    """Refuse a value that the elements of an array, or the keys of a map, can never equal."""
    if holder.type.items:
        require_comparable(Term("its elements", holder.type.items[0]), term)


def literal(name: str, word: str, term: Term) -> None:
    """Refuse what is not written out, and patterns that can explode."""
    value: Any = term.value
    if not term.literal or type(value).__name__ != {"flag": "bool", "place": "int"}.get(
        word, "str"
    ):
        raise needed(name, LITERALS[word])
    if word == "sign" and len(value) != 1:
        raise needed(name, LITERALS[word])
    if word == "pattern":
        reason = pattern.refusal(value)
        if reason:
            raise ExpressionError(
                f"The pattern {shorten(value)!r} of {name}() is refused: {reason}.",
                code="expression.pattern",
                hint="Say each repetition in one way only, such as a+ for (a+)+.",
            )
    if word == "like" and value.count("%") > MAX_WILDCARDS:
        raise ExpressionError(
            f"The pattern of {name}() has more than {MAX_WILDCARDS} wildcards.",
            code="expression.pattern",
            hint="Use contains(), or several shorter patterns.",
        )


def needed(name: str, what: str) -> ExpressionError:
    """The error for something that must be written out."""
    return ExpressionError(
        f"{name}() needs {what}, written out.",
        code="expression.literal-needed",
        hint="It is checked before it runs, so it cannot come from a column.",
        function=name,
    )


def size(name: str, term: Term) -> int:
    """The largest size that an argument asks for; refuses one without a limit or beyond it."""
    if term.type.name not in INTEGRALS and not is_open(term.type):
        raise mismatch(
            f"The size in {name}() is {shorten(term.sql)} of type {term.type}.",
            "Give a whole number.",
        )
    if term.bound is None:
        raise ExpressionError(
            f"The size in {name}() has no limit: {shorten(term.sql)}.",
            code="expression.size",
            hint=f"Write a number, or limit it: least({shorten(term.sql)}, 100).",
        )
    if abs(term.bound) > MAX_SIZE:
        raise ExpressionError(
            f"The size in {name}() is {term.bound}; at most {MAX_SIZE} is taken.",
            code="expression.size",
            hint="Write a smaller number.",
        )
    return max(abs(term.bound), 1)


def bound(name: str, terms: Sequence[Term]) -> int | None:
    """The highest value of a call, where it is known."""
    known = [term.bound for term in terms if term.bound is not None]
    if name == "least" and known:
        return min(known)
    if name == "greatest" and len(known) == len(terms):
        return max(known)
    if name in ("length", "len", "char_length", "character_length", "array_size", "size"):
        # It is as large as something that is there already, which growth counts.
        return 1
    return None


def width(template: str) -> int:
    """The widest field that a format asks for."""
    digits = "".join(character if character.isdecimal() else " " for character in template)
    return max((int(word[:9]) for word in digits.split()), default=1) or 1


def growth(terms: Sequence[Term]) -> int:
    """How much the largest of the arguments has grown already."""
    return max((term.growth for term in terms), default=1)
