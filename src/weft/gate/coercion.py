"""Which types go together in ANSI SQL: common types, comparisons, arithmetic, casts. Pure rules
on `Type`."""

from __future__ import annotations

from weft.schema.schema import Field, Type

INTEGRALS = ("tinyint", "smallint", "int", "bigint")
DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
NUMERICS = (*INTEGRALS, "decimal", "float", "double")
TIMES = ("timestamp", "timestamp_ntz")
DATETIMES = ("date", *TIMES)
NESTED = ("array", "map", "struct")

UNKNOWN = Type("unknown")
NULL = Type("null")
BOOLEAN = Type("boolean")
INT = Type("int")
BIGINT = Type("bigint")
DOUBLE = Type("double")
STRING = Type("string")
INTERVAL = Type("interval")
DAYS = Type("interval day")
MONTHS = Type("interval month")


def is_open(kind: Type) -> bool:
    """Whether a type says nothing, so that it goes with every other."""
    return kind.name in ("unknown", "null")


def is_interval(kind: Type) -> bool:
    """Whether a type is a length of time: of months, of whole days, or finer."""
    return kind.name.startswith("interval")


def decimal(precision: int, scale: int) -> Type:
    """A decimal type within 38 digits; Spark gives up places after the point first."""
    if precision > 38:
        whole = precision - scale
        scale = max(38 - whole, min(scale, 6))
        precision = 38
    return Type("decimal", precision=precision, scale=scale)


def as_decimal(kind: Type) -> Type:
    """A decimal or whole number type as a decimal."""
    if kind.name == "decimal":
        return kind
    return Type("decimal", precision=DIGITS[kind.name])


def common(one: Type, two: Type) -> Type | None:
    """The type that values of both have in common, or None."""
    if one == two or two.name == "null":
        return one
    if one.name == "null":
        return two
    if "unknown" in (one.name, two.name):
        return UNKNOWN
    if one.name in NUMERICS and two.name in NUMERICS:
        return _common_number(one, two)
    if one.name in DATETIMES and two.name in DATETIMES:
        return Type("timestamp" if "timestamp" in (one.name, two.name) else "timestamp_ntz")
    if is_interval(one) and is_interval(two) and MONTHS not in (one, two):
        return INTERVAL
    if one.name == two.name and one.name in ("array", "map"):
        items = [common(a, b) for a, b in zip(one.items, two.items, strict=True)]
        known = tuple(item for item in items if item is not None)
        return Type(one.name, items=known) if len(known) == len(items) else None
    if one.name == two.name == "struct" and len(one.fields) == len(two.fields):
        return _common_struct(one, two)
    return None


def _common_number(one: Type, two: Type) -> Type:
    if one.name in INTEGRALS and two.name in INTEGRALS:
        return max(one, two, key=lambda kind: INTEGRALS.index(kind.name))
    if "decimal" in (one.name, two.name):
        if one.name in ("float", "double") or two.name in ("float", "double"):
            return DOUBLE
        first, second = as_decimal(one), as_decimal(two)
        scale = max(first.scale, second.scale)
        whole = max(first.precision - first.scale, second.precision - second.scale)
        over = max(whole + scale - 38, 0)
        return Type("decimal", precision=min(whole + scale, 38), scale=max(scale - over, 0))
    return DOUBLE if one.name != two.name else one


def _common_struct(one: Type, two: Type) -> Type | None:
    fields: list[Field] = []
    for first, second in zip(one.fields, two.fields, strict=True):
        kind = common(first.type, second.type)
        if kind is None or first.name.lower() != second.name.lower():
            return None
        fields.append(Field(first.name, kind))
    return Type("struct", fields=tuple(fields))


def arithmetic(sign: str, one: Type, two: Type) -> tuple[Type, bool] | None:
    """The type of `one sign two`, and whether it can raise; None when it is not possible."""
    if "unknown" in (one.name, two.name):
        return UNKNOWN, True
    if one.name == "null" and (two.name == "null" or (sign == "/" and two.name in NUMERICS)):
        return (BIGINT if sign == "div" else DOUBLE), True
    # Null is of the other's type here.
    one, two = (two if one.name == "null" else one), (one if two.name == "null" else two)
    if one.name in NUMERICS and two.name in NUMERICS:
        fractional = {one.name, two.name} & {"float", "double"}
        return None if sign == "div" and fractional else _number_arithmetic(sign, one, two)
    if sign == "+" and two.name in DATETIMES and is_interval(one):
        one, two = two, one
    if sign in "+-" and is_interval(one) and is_interval(two):
        if MONTHS in (one, two) and one != two:
            return None
        return (one if one == two else INTERVAL), True
    if sign in "*/" and is_interval(one) and two.name in NUMERICS:
        return (one if one == MONTHS else INTERVAL), True
    if sign in "+-" and one.name in DATETIMES and is_interval(two):
        # A date moves by whole days, and becomes a time by anything finer.
        finer = one.name == "date" and two == INTERVAL
        return (Type("timestamp") if finer else one), True
    if sign in "+-" and one.name == "date" and two.name in ("tinyint", "smallint", "int"):
        return one, True
    if sign == "-" and one.name in DATETIMES and two.name in DATETIMES:
        return (DAYS if one.name == two.name == "date" else INTERVAL), True
    return None


def _number_arithmetic(sign: str, one: Type, two: Type) -> tuple[Type, bool]:
    together = _common_number(one, two)
    if sign == "div":
        return BIGINT, True
    if together.name != "decimal":
        if sign == "/":
            return DOUBLE, True
        return together, sign == "%" or together.name in INTEGRALS
    a, b = as_decimal(one), as_decimal(two)
    whole, scale = max(a.precision - a.scale, b.precision - b.scale), max(a.scale, b.scale)
    if sign in "+-":
        precision = whole + scale + 1
    elif sign == "*":
        precision, scale = a.precision + b.precision + 1, a.scale + b.scale
    elif sign == "/":
        scale = max(6, a.scale + b.precision + 1)
        precision = a.precision - a.scale + b.scale + scale
    else:
        precision = min(a.precision - a.scale, b.precision - b.scale) + scale
    return decimal(precision, scale), precision > 38 or sign in "/%"


def negates(kind: Type) -> bool:
    """Whether every value of a type has a negative; Spark rounds decimals to 34 digits."""
    return kind.name in ("float", "double") or (kind.name == "decimal" and kind.precision <= 34)


def castable(source: Type, target: Type) -> bool:
    """Whether ANSI mode lets one type be cast to another at all."""
    if is_open(source) or is_open(target) or source == target or target.name == "string":
        return True
    if source.name in NESTED or target.name in NESTED:
        if source.name != target.name or len(source.fields) != len(target.fields):
            return False
        pairs = zip(inner(source), inner(target), strict=True)
        return all(castable(one, two) for one, two in pairs)
    if source.name == "string":
        return True
    if source.name in NUMERICS:
        return target.name in (*NUMERICS, "boolean", "timestamp")
    if source.name == "boolean":
        return target.name in NUMERICS
    if source.name in DATETIMES:
        return target.name in DATETIMES or (source.name == "timestamp" and target.name in NUMERICS)
    return is_interval(source) and target.name in NUMERICS


def cast_raises(source: Type, target: Type) -> bool:
    """Whether a cast can raise for some value, or make a larger one."""
    if source == target or source.name == "null":
        return False
    if target.name == "string":
        # Bytes are made valid texts by the kernel, and what is nested grows as it is written.
        return source.name in (*NESTED, "binary", "unknown")
    if source.name in INTEGRALS and target.name in INTEGRALS:
        return INTEGRALS.index(source.name) > INTEGRALS.index(target.name)
    if source.name in NUMERICS and target.name in ("float", "double", "boolean"):
        return False
    if target.name == "decimal" and source.name in (*INTEGRALS, "decimal"):
        held = as_decimal(source)
        return held.precision - held.scale > target.precision - target.scale
    if source.name == "boolean" and target.name in NUMERICS:
        return target.name == "decimal"
    # The first and last days that a date can be are no times any more.
    return source.name not in TIMES or target.name not in DATETIMES


def inner(kind: Type) -> tuple[Type, ...]:
    """The types that a nested one holds."""
    return kind.items or tuple(field.type for field in kind.fields)
