"""Values that Python code of a project returned, checked against the type of their column: a value in,
the same in the form that a table keeps out, or the reason why it does not fit. Knows no Spark."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

from weft.reason import ToldError, shown
from weft.schema.type import Type

_WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_LARGEST_SINGLE = 3.4028235677973366e38
"""Half a step beyond the largest float of 32 bits: from here on it would round to infinity."""

# Python's own types whose values Arrow takes for a column without a change; all others are looked at
# one by one. A number for a time, or a fraction for a whole number, Arrow would take and bend.
_EXACT: Mapping[str, frozenset[type]] = {
    **{name: frozenset({int, type(None)}) for name in _WHOLE},
    "string": frozenset({str, type(None)}),
    "boolean": frozenset({bool, type(None)}),
    "double": frozenset({float, type(None)}),
    "decimal": frozenset({Decimal, type(None)}),
    "binary": frozenset({bytes, type(None)}),
    "date": frozenset({date, type(None)}),
    "timestamp": frozenset({datetime, type(None)}),
    "timestamp_ntz": frozenset({datetime, type(None)}),
}


class MisfitError(ToldError):
    """A value that is not of the type of its column; its text is the reason, for people."""

    def __init__(self, wanted: Type | str, found: Any, *, path: str = "") -> None:
        super().__init__(wanted, found, path)
        self.wanted = wanted
        self.found = found
        self.path = path

    def __str__(self) -> str:
        found = f"{shown(self.found)} ({type(self.found).__name__})"
        return f"column '{self.path}': expected {self.wanted}, found {found}"

    def inside(self, name: str) -> MisfitError:
        """The same, said of a column or of a part of it; an element's name is its number in brackets."""
        join = "" if not self.path or self.path.startswith("[") else "."
        return MisfitError(self.wanted, self.found, path=f"{name}{join}{self.path}")


def is_exact(values: Iterable[Any], kind: Type) -> bool:
    """Whether all of these can be handed on as they are, as far as their own types tell."""
    return set(map(type, values)) <= _EXACT.get(kind.name, frozenset())


def fit(value: Any, kind: Type) -> Any:
    """The value as a column of this type keeps it; raises MisfitError where that would change it.

    Digits beyond the scale of a decimal are rounded half up, as they are when a record is read. What is
    nested is copied, so that it stays as it is now.
    """
    if value is None:
        return None
    return _FITTERS.get(kind.name, _unfit)(value, kind)


def _unfit(value: Any, kind: Type) -> Any:
    raise MisfitError(kind, value)


def _string(value: Any, kind: Type) -> str:
    if isinstance(value, bytes | bytearray):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise MisfitError(kind, value) from None
    if not isinstance(value, str):
        raise MisfitError(kind, value)
    plain = str.__str__(value)
    if not plain.isascii() and plain.encode(errors="replace").decode() != plain:
        raise MisfitError(kind, value)  # a lone surrogate, which UTF-8 has no form for
    return plain


def _whole(value: Any, kind: Type) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise MisfitError(kind, value)
    try:
        number = int(value)  # type: ignore[arg-type]  # every real number of Python's can be cut off
    except (ValueError, OverflowError):  # NaN, infinity
        raise MisfitError(kind, value) from None
    limit = 2 ** (_WHOLE[kind.name] - 1)
    if number != value or not -limit <= number < limit:
        raise MisfitError(kind, value)
    return number


def _fraction(value: Any, kind: Type) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise MisfitError(kind, value)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise MisfitError(kind, value) from None
    is_finite = number - number == 0.0
    if kind.name == "float" and is_finite and abs(number) >= _LARGEST_SINGLE:
        raise MisfitError(kind, value)
    return number


def _boolean(value: Any, kind: Type) -> bool:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # NumPy's own
        return bool(value)
    raise MisfitError(kind, value)


def _decimal(value: Any, kind: Type) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise MisfitError(kind, value)
    number = Decimal(value)
    if not number.is_finite():
        raise MisfitError(kind, value)
    context = Context(prec=kind.precision, rounding=ROUND_HALF_UP)
    try:
        return number.quantize(Decimal(1).scaleb(-kind.scale), context=context)
    except InvalidOperation:  # more digits than there is room for
        raise MisfitError(kind, value) from None


def _binary(value: Any, kind: Type) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise MisfitError(kind, value)


def _date(value: Any, kind: Type) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    raise MisfitError(kind, value)


def _timestamp(value: Any, kind: Type) -> datetime:
    """A time without a zone is one of UTC."""
    if not isinstance(value, datetime):
        raise MisfitError(kind, value)
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise MisfitError(kind, value) from None


def _array(value: Any, kind: Type) -> list[Any]:
    listed = value.tolist() if type(value).__name__ == "ndarray" else value
    is_list = isinstance(listed, Sequence | Set) and not isinstance(listed, str | bytes | bytearray)
    if not is_list:
        raise MisfitError(kind, value)
    return [_part(one, kind.items[0], f"[{number}]") for number, one in enumerate(listed)]


def _map(value: Any, kind: Type) -> list[tuple[Any, Any]]:
    if not isinstance(value, Mapping | list | tuple):
        raise MisfitError(kind, value)
    pairs = list(value.items()) if isinstance(value, Mapping) else list(value)
    found: dict[Any, Any] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or pair[0] is None:
            raise MisfitError(kind, value)
        key = _part(pair[0], kind.items[0], "key")
        found[key] = _part(pair[1], kind.items[1], str(key))
    return list(found.items())


def _struct(value: Any, kind: Type) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise MisfitError(kind, value)
    return {one.name: _part(value.get(one.name), one.type, one.name) for one in kind.fields}


def _part(value: Any, kind: Type, name: str) -> Any:
    try:
        return fit(value, kind)
    except MisfitError as misfit:
        raise misfit.inside(name) from None


_FITTERS: Mapping[str, Callable[[Any, Type], Any]] = {
    **dict.fromkeys(_WHOLE, _whole),
    "string": _string,
    "float": _fraction,
    "double": _fraction,
    "boolean": _boolean,
    "decimal": _decimal,
    "binary": _binary,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp,
    "array": _array,
    "map": _map,
    "struct": _struct,
}
