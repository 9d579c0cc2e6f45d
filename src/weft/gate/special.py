"""Calls of numbers, texts and times whose result follows rules of its own and not one line of the
catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weft.gate import argument, coercion, collection
from weft.gate.coercion import BIGINT, DATETIMES, INT, NUMERICS, STRING, UNKNOWN
from weft.gate.conversion import concatenated, part_type, takes_part
from weft.gate.grammar import ExpressionError
from weft.gate.result import Result, Special
from weft.gate.term import Term, counted, mismatch, shorten
from weft.schema.schema import SchemaError, Type, parse_type

# Spark makes a decimal of so many places before it rounds.
MAX_PLACES = 400
_NUMBER_FORMAT = re.compile(
    r"(S|MI)?\$?(?P<whole>[09]+(?:[,G][09]+)*)?(?:[.D](?P<fraction>[09]*))?(S|MI|PR)?"
)
_BINARY_FORMATS = ("hex", "base64", "utf-8", "utf8")


def _absolute(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 1, 1)
    argument.fits(name, 0, "number", terms[0])
    return Result(terms[0].type, total=coercion.negates(terms[0].type))


def _zero_if_null(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 1, 1)
    argument.fits(name, 0, "number", terms[0])
    return Result(coercion.common(terms[0].type, INT) or UNKNOWN, total=True)


def _concat(name: str, terms: list[Term]) -> Result:
    return Result(concatenated(terms))


def _reverse(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 1, 1)
    if terms[0].type.name != "array":
        argument.fits(name, 0, "string", terms[0])
    kept = terms[0].type.name in ("array", "binary")
    return Result(terms[0].type if kept else STRING, total=terms[0].type.name != "binary")


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
        if abs(terms[1].value) > MAX_PLACES:
            raise ExpressionError(
                f"{name}() to {terms[1].value} places is refused; at most {MAX_PLACES} are taken.",
                code="expression.size",
                hint="No number has more places than that.",
            )
    given = terms[0].type
    keeps = name in ("round", "bround")
    if given.name != "decimal" and (len(terms) == 1 or keeps):
        return Result(given if keeps else BIGINT, keeps and given.name in ("float", "double"))
    kind = _WIDE.get(given.name, given)
    if kind.name != "decimal":
        return Result(UNKNOWN)
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
    return Result(found[0], name.startswith("try_") and one.type.name in NUMERICS)


def _parsed(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 2)
    argument.fits(name, 0, "string", terms[0])
    argument.literal(name, "text", terms[1])
    text = terms[1].value.strip()
    word = text.partition("<")[0].strip().lower()
    nested = word in ("struct", "array", "map")
    try:
        return Result(parse_type(text if nested else f"struct<{text}>"))
    except SchemaError as failure:
        raise mismatch(
            f"The schema of {name}() is wrong. {failure.message}",
            failure.hint or "Write it as 'a int, b string'.",
        ) from failure


def _number_format(name: str, term: Term) -> Type:
    """The type of a number in a format such as '999.99'; refuses what is no format."""
    found = _NUMBER_FORMAT.fullmatch(term.value.upper())
    digits = "".join(found[part] or "" for part in ("whole", "fraction")) if found else ""
    precision = sum(sign in "09" for sign in digits)
    if found is None or not 1 <= precision <= 38:
        raise ExpressionError(
            f"{shorten(term.value)!r} is not a format of numbers for {name}().",
            code="expression.arguments",
            hint="Write it as '999.99' or 'S9,990'.",
        )
    return Type("decimal", precision=precision, scale=len(found["fraction"] or ""))


def _to_number(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 2)
    argument.fits(name, 0, "string", terms[0])
    argument.literal(name, "text", terms[1])
    argument.short(name, terms[1])
    return Result(_number_format(name, terms[1]))


def _to_char(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 2)
    argument.literal(name, "text", terms[1])
    argument.short(name, terms[1])
    kind = terms[0].type.name
    if kind in NUMERICS:
        _number_format(name, terms[1])
    elif kind == "binary":
        _binary_format(name, terms[1])
    elif kind not in (*DATETIMES, "unknown"):
        raise mismatch(
            f"{name}() writes numbers, times and binary, not {terms[0].type}.", "Cast it to string."
        )
    return Result(STRING)


def _binary_format(name: str, term: Term) -> None:
    if term.value.lower() not in _BINARY_FORMATS:
        raise ExpressionError(
            f"{shorten(term.value)!r} is not a format of binary for {name}().",
            code="expression.arguments",
            hint=f"Formats are {', '.join(_BINARY_FORMATS)}.",
        )


def _to_binary(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 1, 2)
    argument.fits(name, 0, "string", terms[0])
    if len(terms) == 2:
        argument.literal(name, "text", terms[1])
        _binary_format(name, terms[1])
    return Result(Type("binary"))


def _date_part(name: str, terms: list[Term]) -> Result:
    argument.count(name, terms, 2, 2)
    argument.literal(name, "text", terms[0])
    argument.fits(name, 1, "time", terms[1])
    unit = terms[0].value.lower()
    return Result(part_type(unit), total=takes_part(unit, terms[1]))


SPECIAL: Mapping[str, Special] = {
    "abs": _absolute,
    "negative": _absolute,
    "zeroifnull": _zero_if_null,
    "concat": _concat,
    "reverse": _reverse,
    **dict.fromkeys(("round", "bround", "ceil", "ceiling", "floor"), _round),
    **dict.fromkeys(_SIGNS, _arithmetic),
    "from_json": _parsed,
    "from_csv": _parsed,
    **dict.fromkeys(("to_number", "try_to_number"), _to_number),
    **dict.fromkeys(("to_char", "to_varchar"), _to_char),
    **dict.fromkeys(("to_binary", "try_to_binary"), _to_binary),
    **dict.fromkeys(("date_part", "datepart"), _date_part),
    "array": collection.array,
    "map": collection.made_map,
    "named_struct": collection.named_struct,
    **dict.fromkeys(("element_at", "try_element_at"), collection.element_at),
    "map_from_entries": collection.from_entries,
    "map_from_arrays": collection.from_arrays,
    "sequence": collection.sequence,
}
