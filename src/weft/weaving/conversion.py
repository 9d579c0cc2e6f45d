"""One value from another by type: casts, elements of arrays and maps, parts of dates, texts
joined."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from weft.weaving import argument, coercion
from weft.weaving.coercion import DATETIMES, NUMERICS, UNKNOWN, is_interval, is_open
from weft.weaving.grammar import ExpressionError
from weft.weaving.schema import Schema, Type, nearest, quoted
from weft.weaving.term import Term, is_moment, mismatch, require_comparable, shorten, unify


def concatenated(terms: Sequence[Term]) -> Type:
    """The type of texts, or of arrays, one after the other."""
    if any(term.type.name == "array" for term in terms):
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
    raises = coercion.cast_raises(term.type, target)
    if term.is_text and not safe:
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
        term.total and (safe or not raises),
        literal=term.literal and target.name in (*NUMERICS, *DATETIMES),
        value=None if term.is_text else term.value,
        bound=term.bound if target.name in coercion.INTEGRALS else None,
        growth=term.growth,
    )


def _check_readable(text: str, target: Type) -> None:
    try:
        if target.name in NUMERICS:
            float(text)
        readable = target.name not in DATETIMES or is_moment(text)
    except ValueError:
        readable = False
    if not readable:
        raise mismatch(f"{shorten(text)!r} cannot be read as {target}.", "Correct the literal.")


def item(holder: Term, place: Term) -> Term:
    """An element of an array by its number, or a value of a map by its key."""
    kind = holder.type
    sql = f"{holder.closed}[{place.sql}]"
    if kind.name == "array":
        argument.fits("[ ]", 0, "integer", place)
        return Term(sql, kind.items[0], total=False, growth=holder.growth)
    if kind.name == "map":
        require_comparable(Term("its keys", kind.items[0]), place)
        return Term(sql, kind.items[1], holder.total and place.total, growth=holder.growth)
    if kind.name == "struct" and place.is_text:
        field = Schema(kind.fields).find(place.value)
        if field is not None:
            return Term(f"{holder.closed}.{quoted(field.name)}", field.type, holder.total)
    if is_open(kind):
        return Term(sql, UNKNOWN, total=False, growth=holder.growth)
    raise mismatch(
        f"{shorten(holder.sql)} is of type {kind} and has no elements.",
        "Use substring() for parts of a text.",
    )


def extracted(unit: str, term: Term, known: Collection[str]) -> Term:
    """A part of a date or time, such as its year."""
    if unit not in known:
        near = nearest(unit, known)
        raise ExpressionError(
            f"{unit!r} is not a part of a date.",
            code="expression.arguments",
            hint=f"Did you mean {near!r}?" if near else f"Parts are {', '.join(sorted(known))}.",
        )
    argument.fits("extract", 1, "time", term)
    kind = Type("decimal", precision=8, scale=6) if unit == "second" else coercion.INT
    return Term(f"extract({unit} from {term.sql})", kind, term.total)
