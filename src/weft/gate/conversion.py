"""One value from another by type: casts, elements of arrays and maps, parts of dates, texts
joined."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from weft.gate import argument, coercion
from weft.gate.coercion import DATETIMES, NUMERICS, UNKNOWN, is_interval, is_open
from weft.gate.grammar import ExpressionError
from weft.gate.temporal import is_moment
from weft.gate.term import Term, mismatch, require_comparable, shorten, unify
from weft.schema.schema import Schema, Type, nearest, quoted

# Numbers as Spark reads them from texts; some of what Python reads it does not.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?|[+-]?inf(?:inity)?|nan", re.I)


def concatenated(terms: Sequence[Term]) -> Type:
    """The type of texts, or of arrays, one after the other."""
    if any(term.type.name == "array" for term in terms):
        if any(term.type.name == "null" for term in terms):
            raise mismatch("An array cannot be joined to a bare null.", "Write array() for none.")
        return unify(list(terms), "Joining")
    for term in terms:
        if term.type.name in ("map", "struct") or is_interval(term.type):
            raise mismatch(
                f"{shorten(term.sql)} is of type {term.type} and cannot be joined to a text.",
                "Use to_json() or cast it to string.",
            )
    if terms and all(term.type.name == "binary" for term in terms):
        return Type("binary")
    return coercion.STRING


def cast(term: Term, target: Type, *, safe: bool) -> Term:
    """A value as another type; refuses what ANSI never casts and literals that cannot be read."""
    if not coercion.castable(term.type, target):
        raise mismatch(
            f"{shorten(term.sql)} of type {term.type} cannot be cast to {target}.",
            "Cast to string first, or take a part of it.",
        )
    if safe and not _keys_fit(term.type, target):
        raise mismatch(
            f"{shorten(term.sql)} of type {term.type} cannot be tried as {target}: keys are never null.",
            "Use cast(), or transform_keys().",
        )
    raises = coercion.cast_raises(term.type, target)
    if term.is_text:
        if target.name in DATETIMES:
            argument.not_the_clock("A cast", term)
        if not safe:
            _check_readable(term.value, target)
            raises = target.name not in (*DATETIMES, "double", "float", "string")
    if (
        term.literal
        and type(term.value) is int
        and target.name in ("float", "double", "bigint", "int")
    ):
        raises = abs(term.value) >= 2**31
    return Term(
        f"{'try_cast' if safe else 'cast'}({term.sql} as {target})",
        target,
        term.total and (not raises or (safe and _tries(term.type, target))),
        literal=term.literal and target.name in (*NUMERICS, *DATETIMES),
        value=None if term.is_text else term.value,
    ).made_of([term])


def _keys_fit(source: Type, target: Type) -> bool:
    """Whether no key of a map inside would become null where its cast fails."""
    if source.name == target.name == "map" and coercion.cast_raises(
        source.items[0], target.items[0]
    ):
        return False
    inner = zip(coercion.inner(source), coercion.inner(target), strict=False)
    return all(_keys_fit(one, two) for one, two in inner)


def _tries(source: Type, target: Type) -> bool:
    """Whether a cast gives null instead of raising, for every value; a decimal's exponent can be too much."""
    return source.name not in (*coercion.NESTED, "binary") and (source.name, target.name) != (
        "string",
        "decimal",
    )


def _check_readable(text: str, target: Type) -> None:
    readable = True
    if target.name in NUMERICS:
        readable = _NUMBER.fullmatch(text.strip()) is not None
    elif target.name in DATETIMES:
        readable = is_moment(text)
    if not readable:
        raise mismatch(f"{shorten(text)!r} cannot be read as {target}.", "Correct the literal.")


def item(holder: Term, place: Term) -> Term:
    """An element of an array by its number, or a value of a map by its key."""
    kind = holder.type
    sql = f"{holder.closed}[{place.sql}]"
    if kind.name == "array":
        argument.fits("[ ]", 0, "integer", place)
        return Term(sql, kind.items[0], total=False).made_of([holder, place])
    if kind.name == "map":
        require_comparable(Term("its keys", kind.items[0]), place)
        fitting = not coercion.cast_raises(place.type, kind.items[0])
        total = fitting and holder.total and place.total
        return Term(sql, kind.items[1], total).made_of([holder, place])
    if kind.name == "struct" and place.is_text:
        field = Schema(kind.fields).find(place.value)
        if field is not None:
            sql = f"{holder.closed}.{quoted(field.name)}"
            return Term(sql, field.type, holder.total, plain=holder.plain).made_of([holder])
    if is_open(kind):
        return Term(sql, UNKNOWN, total=False).made_of([holder, place])
    raise mismatch(
        f"{shorten(holder.sql)} is of type {kind} and has no elements.",
        "Use substring() for parts of a text.",
    )


# The parts of dates and times that Spark takes out, with its other names for them.
PARTS: Mapping[str, tuple[str, ...]] = {
    "year": ("y", "years", "yr", "yrs"),
    "yearofweek": (),
    "quarter": ("qtr",),
    "month": ("mon", "mons", "months"),
    "week": ("w", "weeks"),
    "day": ("d", "days"),
    "dayofweek": ("dow",),
    "dayofweek_iso": ("dow_iso",),
    "doy": (),
    "hour": ("h", "hours", "hr", "hrs"),
    "minute": ("m", "min", "mins", "minutes"),
    "second": ("s", "sec", "seconds", "secs"),
}


def part_type(unit: str) -> Type:
    """The type of a part of a date or time; refuses what is none."""
    for part, others in PARTS.items():
        if unit == part or unit in others:
            return Type("decimal", precision=8, scale=6) if part == "second" else coercion.INT
    near = nearest(unit, PARTS)
    raise ExpressionError(
        f"{shorten(unit)!r} is not a part of a date.",
        code="expression.arguments",
        hint=f"Did you mean {near!r}?" if near else f"Parts are {', '.join(PARTS)}.",
    )


def extracted(unit: str, term: Term) -> Term:
    """A part of a date or time, such as its year."""
    kind = part_type(unit)
    argument.fits("extract", 1, "time", term)
    total = term.total and takes_part(unit, term)
    return Term(f"extract({unit} from {term.sql})", kind, total).made_of([term])


def takes_part(unit: str, term: Term) -> bool:
    """Whether a part is taken out of every value; not every date is a time, with an hour."""
    timely = any(unit == part or unit in PARTS[part] for part in ("hour", "minute", "second"))
    return term.type.name in (coercion.TIMES if timely else DATETIMES)
