"""Calls whose result follows rules of its own and not one line of the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weft.weaving import argument, coercion
from weft.weaving.coercion import BIGINT, DATETIMES, INT, NULL, UNKNOWN
from weft.weaving.conversion import concatenated
from weft.weaving.grammar import ExpressionError
from weft.weaving.schema import Field, Schema, SchemaError, Type, parse_type
from weft.weaving.term import Term, counted, mismatch, unify


@dataclass(frozen=True)
class Result:
    """What a call gives: its type, whether it never raises by itself, and how much it grows."""

    type: Type
    total: bool = True
    growth: int = 1


Special = Callable[[str, list[Term]], Result]


def _absolute(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 1, 1)
    argument.fits(name, 0, "number", terms[0])
    return Result(terms[0].type, coercion.negates(terms[0].type))


def _zero_if_null(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 1, 1)
    argument.fits(name, 0, "number", terms[0])
    return Result(coercion.common(terms[0].type, INT) or UNKNOWN)


def _array(name: str, terms: list[Term]) -> Result:
    element = unify(terms, "Listing") if terms else NULL
    return Result(Type("array", items=(element,)), growth=max(len(terms), 1))


def _map(name: str, terms: list[Term]) -> Result:
    if len(terms) % 2:
        raise ExpressionError(
            "map() takes keys and values in turn.",
            code="expression.arguments",
            hint="Write it as map('a', 1, 'b', 2).",
        )
    if not terms:
        return Result(Type("map", items=(NULL, NULL)))
    items = (unify(terms[::2], "Listing"), unify(terms[1::2], "Listing"))
    return Result(Type("map", items=items), total=False, growth=len(terms))


def _named_struct(name: str, terms: list[Term]) -> Result:
    if not terms or len(terms) % 2 or not all(term.is_text for term in terms[::2]):
        raise ExpressionError(
            "named_struct() takes names in quotes and values in turn.",
            code="expression.arguments",
            hint="Write it as named_struct('a', 1, 'b', 2).",
        )
    pairs = zip(terms[::2], terms[1::2], strict=True)
    return Result(made_struct([Field(key.value, value.type) for key, value in pairs]))


def made_struct(fields: Sequence[Field]) -> Type:
    """The struct of these parts; refuses two of one name."""
    try:
        return Type("struct", fields=Schema(tuple(fields)).fields)
    except SchemaError as failure:
        raise mismatch(failure.message, "Give the parts different names.") from failure


def _concat(name: str, terms: list[Term]) -> Result:
    return Result(concatenated(terms), growth=max(len(terms), 1))


def _reverse(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 1, 1)
    return Result(terms[0].type if terms[0].type.name == "array" else coercion.STRING)


# As which decimals numbers are rounded to a number of places.
_WIDE: Mapping[str, Type] = {
    **{name: Type("decimal", precision=digits) for name, digits in coercion.DIGITS.items()},
    "float": Type("decimal", precision=14, scale=7),
    "double": Type("decimal", precision=30, scale=15),
}


def _round(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 1, 2)
    argument.fits(name, 0, "number", terms[0])
    if len(terms) == 2:
        argument.literal(name, "place", terms[1])
    given = terms[0].type
    keeps = name in ("round", "bround")
    if given.name != "decimal" and (len(terms) == 1 or keeps):
        return Result(given if keeps else BIGINT, keeps and given.name in ("float", "double"))
    kind = _WIDE.get(given.name, given)
    if kind.name != "decimal":
        return Result(UNKNOWN, total=False)
    places = int(terms[1].value) if len(terms) == 2 else 0
    scale = max(min(places, kind.scale), 0)
    whole = max(kind.precision - kind.scale + 1, 1 - places)
    fitting = given.name == "decimal" and whole + scale <= 38
    return Result(Type("decimal", precision=min(whole + scale, 38), scale=scale), fitting)


_SIGNS: Mapping[str, str] = {
    "mod": "%",
    "pmod": "%",
    "try_mod": "%",
    "div": "div",
    "try_add": "+",
    "try_subtract": "-",
    "try_multiply": "*",
    "try_divide": "/",
}


def _arithmetic(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 2)
    one, two = terms
    found = coercion.arithmetic(_SIGNS[name], counted(one, two), counted(two, one))
    if found is None:
        raise mismatch(f"{name}() cannot combine {one.type} and {two.type}.", "Cast one of them.")
    return Result(found[0], name.startswith("try_"))


def _parsed(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 2)
    argument.fits(name, 0, "string", terms[0])
    argument.literal(name, "text", terms[1])
    text = terms[1].value.strip()
    word = text.partition("<")[0].strip().lower()
    try:
        return Result(
            parse_type(text if word in ("struct", "array", "map") else f"struct<{text}>"), False
        )
    except SchemaError as failure:
        raise mismatch(
            f"The schema of {name}() is wrong. {failure.message}",
            failure.hint or "Write it as 'a int, b string'.",
        ) from failure


def _to_number(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 2)
    argument.literal(name, "text", terms[1])
    whole, _, fraction = terms[1].value.upper().replace("D", ".").partition(".")
    scale = sum(sign in "09" for sign in fraction)
    precision = sum(sign in "09" for sign in whole) + scale
    kind = Type("decimal", precision=max(precision, 1), scale=scale)
    return Result(kind, name.startswith("try_"))


def _date_part(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 2)
    argument.literal(name, "text", terms[0])
    argument.fits(name, 1, "time", terms[1])
    second = terms[0].value.lower() in ("second", "s", "sec", "seconds", "secs")
    return Result(Type("decimal", precision=8, scale=6) if second else INT)


def _sequence(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 3)
    if any(term.type.name in DATETIMES for term in terms):
        raise ExpressionError(
            "sequence() over dates has no limit.",
            code="expression.size",
            hint="Count first: transform(sequence(0, least(n, 100)), i -> date_add(d, i)).",
        )
    argument.literal(name, "place", terms[0])
    reach = argument.size(name, terms[1]) + abs(terms[0].value)
    return Result(Type("array", items=(unify(terms[:2], "Listing"),)), total=False, growth=reach)


SPECIAL: Mapping[str, Special] = {
    "abs": _absolute,
    "negative": _absolute,
    "zeroifnull": _zero_if_null,
    "array": _array,
    "map": _map,
    "named_struct": _named_struct,
    "concat": _concat,
    "reverse": _reverse,
    **dict.fromkeys(("round", "bround", "ceil", "ceiling", "floor"), _round),
    **dict.fromkeys(_SIGNS, _arithmetic),
    "from_json": _parsed,
    "from_csv": _parsed,
    "to_number": _to_number,
    "try_to_number": _to_number,
    "date_part": _date_part,
    "datepart": _date_part,
    "sequence": _sequence,
}
