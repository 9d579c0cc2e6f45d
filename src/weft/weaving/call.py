"""Calls of functions, judged by the catalog: number and types of arguments, literal patterns, bounded sizes, and the result's type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from weft.weaving import coercion, higher, pattern
from weft.weaving.catalog import ALLOWED, SIGNATURES, Signature
from weft.weaving.coercion import BOOLEAN, DATETIMES, DOUBLE, NESTED, NUMERICS, UNKNOWN, is_open
from weft.weaving.grammar import ExpressionError
from weft.weaving.refusal import REFUSED
from weft.weaving.schema import Field, Schema, SchemaError, Type, nearest, parse_type, quoted
from weft.weaving.term import (
    Term,
    is_moment,
    mismatch,
    require_comparable,
    shorten,
    unify,
)

if TYPE_CHECKING:
    from weft.weaving.inference import Inference

MAX_SIZE = 100_000
# LIKE is matched by backtracking too: each % multiplies the time by the length of the text.
MAX_WILDCARDS = 10
PINNED = {
    "current_timestamp": Type("timestamp"),
    "now": Type("timestamp"),
    "current_date": Type("date"),
    "curdate": Type("date"),
    "localtimestamp": Type("timestamp_ntz"),
    "rand": DOUBLE,
    "random": DOUBLE,
    "randn": DOUBLE,
}
_CASTS = frozenset(
    [
        "string",
        "boolean",
        "tinyint",
        "smallint",
        "int",
        "bigint",
        "float",
        "double",
        "decimal",
        "date",
        "timestamp",
        "binary",
    ]
)


def judge(inference: Inference, name: str, nodes: Sequence[Any]) -> Term:
    """The judged call of a function by its name."""
    if name in REFUSED:
        reason = REFUSED[name]
        raise ExpressionError(
            f"{name}() is refused: {reason.why}.", code=reason.code, hint=reason.hint, function=name
        )
    if name not in ALLOWED:
        near = nearest(name, ALLOWED)
        raise ExpressionError(
            f"{shorten(name)!r} is not a function that expressions may call.",
            code="expression.unknown-function",
            hint=f"Did you mean {near}()?" if near else "Write a Python function in the project.",
            function=shorten(name),
        )
    inference.functions[name] = None
    if name in higher.FUNCTIONS:
        return higher.judge(inference, name, nodes)
    if name == "struct":
        return _struct(inference, nodes)
    if name in ("timestampadd", "timestampdiff", "dateadd") or (
        name in ("date_add", "date_diff", "datediff") and len(nodes) == 3
    ):
        return _with_unit(inference, name, nodes)
    terms = [inference.term(node) for node in nodes]
    if name in PINNED:
        return _pinned(inference, name, terms)
    if name in _CASTS:
        count(name, terms, 1, 1)
        return cast(terms[0], parse_type(name), safe=False)
    if name in _SPECIAL:
        kind, total, growth = _SPECIAL[name](name, terms)
        total = total and all(term.total for term in terms)
        return Term(written(name, terms), kind, total).grown(growth * _growth(terms))
    return _by_signature(SIGNATURES[name], terms)


def count(name: str, terms: Sequence[Any], least: int, most: int | None) -> None:
    """Refuse a wrong number of arguments."""
    if len(terms) < least or (most is not None and len(terms) > most):
        wanted = (
            str(least) if least == most else f"{least} to {most}" if most else f"at least {least}"
        )
        raise ExpressionError(
            f"{name}() takes {wanted} argument{'' if wanted == '1' else 's'}, not {len(terms)}.",
            code="expression.arguments",
            hint="Give it what it needs, in the order of Spark's documentation.",
            function=name,
        )


def written(name: str, terms: Sequence[Term]) -> str:
    """A call as SQL."""
    return f"{name}({', '.join(term.sql for term in terms)})"


def _growth(terms: Sequence[Term]) -> int:
    return max((term.growth for term in terms), default=1)


def _by_signature(signature: Signature, terms: list[Term]) -> Term:
    name = signature.name
    count(name, terms, signature.least, signature.most)
    growth = _growth(terms)
    alike = []
    for place, term in enumerate(terms):
        word = signature.parameter(place).word
        if word == "T":
            alike.append(term)
        elif word == "size":
            growth *= size(name, term)
        elif word in ("pattern", "like", "text", "flag"):
            _literal(name, word, term)
        else:
            _fits(name, place, word, term, terms[0])
    together = unify(alike, "Combining") if alike else UNKNOWN
    if name in ("format_string", "printf"):
        growth *= _width(str(terms[0].value))
    total = not signature.raises and all(term.total for term in terms)
    kind = _result(signature.result, terms, together)
    return Term(written(name, terms), kind, total, bound=_bound(name, terms)).grown(growth)


def _fits(name: str, place: int, word: str, term: Term, first: Term) -> None:
    """Refuse an argument of another type than the function takes."""
    kind = term.type
    if is_open(kind) or word == "any":
        return
    if word in ("E", "K"):
        if is_open(first.type) or not first.type.items:
            return
        held = Term("its elements", first.type.items[0])
        require_comparable(held, term)
        return
    fits = {
        "string": kind.name not in (*NESTED, "interval"),
        "bytes": kind.name not in (*NESTED, "interval"),
        "number": kind.name in NUMERICS,
        "long": kind.name in coercion.INTEGRALS,
        "integer": kind.name in ("tinyint", "smallint", "int"),
        "boolean": kind.name == "boolean",
        "date": kind.name in DATETIMES or (term.is_text and is_moment(term.value)),
        "time": kind.name in DATETIMES or (term.is_text and is_moment(term.value)),
        "array": kind.name == "array",
        "map": kind.name == "map",
        "struct": kind.name == "struct",
    }[word]
    if not fits:
        article = "an" if word[0] in "aei" else "a"
        raise mismatch(
            f"Argument {place + 1} of {name}() is {shorten(term.sql)} of type {kind}; it takes "
            f"{article} {word}.",
            f"Cast it, such as {'try_cast' if kind.name == 'string' else 'cast'}(x as "
            f"{ {'integer': 'int', 'long': 'bigint', 'number': 'double', 'time': 'timestamp'}.get(word, word) }).",
        )


def _literal(name: str, word: str, term: Term) -> None:
    """Refuse what is not written out, and patterns that can explode."""
    if word == "flag":
        if not (term.literal and isinstance(term.value, bool)):
            raise _needed(name, "true or false")
        return
    if not term.is_text:
        raise _needed(
            name, "a pattern in quotes" if word in ("pattern", "like") else "a text in quotes"
        )
    if word == "pattern":
        reason = pattern.refusal(term.value)
        if reason:
            raise ExpressionError(
                f"The pattern {shorten(term.value)!r} of {name}() is refused: {reason}.",
                code="expression.pattern",
                hint="Say each repetition in one way only, such as a+ for (a+)+.",
            )
    if word == "like" and term.value.count("%") > MAX_WILDCARDS:
        raise ExpressionError(
            f"The pattern of {name}() has more than {MAX_WILDCARDS} wildcards.",
            code="expression.pattern",
            hint="Use contains(), or several shorter patterns.",
        )


def _needed(name: str, what: str) -> ExpressionError:
    return ExpressionError(
        f"{name}() needs {what}, written out.",
        code="expression.literal-needed",
        hint="It is checked before it runs, so it cannot come from a column.",
        function=name,
    )


def size(name: str, term: Term) -> int:
    """The largest size that an argument asks for; refuses one without a limit or beyond it."""
    if term.type.name not in coercion.INTEGRALS and not is_open(term.type):
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


def _bound(name: str, terms: list[Term]) -> int | None:
    """The highest value of a call, where it is known."""
    if name == "least":
        known = [term.bound for term in terms if term.bound is not None]
        return min(known) if known else None
    if name in ("length", "len", "char_length", "character_length", "array_size", "size"):
        # It is as large as something that is there already, which growth counts.
        return 1
    if name == "greatest" and all(term.bound is not None for term in terms):
        return max(term.bound or 0 for term in terms)
    return None


def _width(template: str) -> int:
    """The widest field that a format asks for."""
    digits = "".join(character if character.isdigit() else " " for character in template)
    return max((int(word[:9]) for word in digits.split()), default=1) or 1


def _result(word: str, terms: list[Term], together: Type) -> Type:
    if word == "first":
        return terms[0].type if terms[0].type.name != "null" else UNKNOWN
    if word == "common":
        return together
    first = terms[0].type if terms else UNKNOWN
    if word in ("element", "value"):
        if first.name == "array":
            return first.items[0]
        return first.items[1] if first.name == "map" and word == "value" else UNKNOWN
    if word == "array":
        return Type("array", items=(first,))
    if word in ("keys", "values", "entries") and first.name == "map":
        key, value = first.items
        pair = Type("struct", fields=(Field("key", key, False), Field("value", value)))
        return Type("array", items=({"keys": key, "values": value, "entries": pair}[word],))
    if word == "map":
        return _made_map(terms)
    return Type("null") if word == "null" else _plain(word)


def _plain(word: str) -> Type:
    if word in ("keys", "values", "entries"):
        return UNKNOWN
    return coercion.INTERVAL if word == "interval" else parse_type(word)


def _made_map(terms: list[Term]) -> Type:
    inner = [term.type.items[0] if term.type.name == "array" else UNKNOWN for term in terms]
    if len(inner) == 2:
        return Type("map", items=(inner[0], inner[1]))
    fields = inner[0].fields
    if len(fields) != 2:
        return UNKNOWN
    return Type("map", items=(fields[0].type, fields[1].type))


def concatenated(terms: Sequence[Term]) -> Type:
    """The type of texts, or of arrays, one after the other."""
    if any(term.type.name == "array" for term in terms):
        return unify(list(terms), "Joining")
    for term in terms:
        if term.type.name in ("map", "struct", "interval"):
            raise mismatch(
                f"{shorten(term.sql)} is of type {term.type} and cannot be joined to a text.",
                "Use to_json() or cast it to string.",
            )
    if terms and all(term.type.name == "binary" for term in terms):
        return Type("binary")
    return Type("string")


def between(terms: Sequence[Term]) -> Term:
    """Whether the first lies between the two others."""
    count("between", terms, 3, 3)
    held, low, high = terms
    require_comparable(held, low)
    require_comparable(held, high)
    sql = f"{held.closed} between {low.closed} and {high.closed}"
    return Term(sql, BOOLEAN, all(term.total for term in terms), group="compare")


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
        raises = target.name not in (*DATETIMES, "double", "float")
    if term.literal and isinstance(term.value, int) and target.name in (*NUMERICS,):
        raises = not (
            target.name in ("float", "double", "bigint", "int") and abs(term.value) < 2**31
        )
    word = "try_cast" if safe else "cast"
    bound = term.bound if target.name in coercion.INTEGRALS else None
    return Term(
        f"{word}({term.sql} as {target})",
        target,
        term.total and (safe or not raises),
        literal=term.literal and target.name in (*NUMERICS, *DATETIMES),
        value=None if term.is_text else term.value,
        bound=bound,
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
        _fits("[ ]", 0, "integer", place, holder)
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


def extracted(unit: str, term: Term, known: frozenset[str] | set[str]) -> Term:
    """A part of a date or time, such as its year."""
    if unit not in known:
        near = nearest(unit, known)
        raise ExpressionError(
            f"{unit!r} is not a part of a date.",
            code="expression.arguments",
            hint=f"Did you mean {near!r}?" if near else f"Parts are {', '.join(sorted(known))}.",
        )
    _fits("extract", 1, "time", term, term)
    kind = Type("decimal", precision=8, scale=6) if unit == "second" else coercion.INT
    return Term(f"extract({unit} from {term.sql})", kind, term.total)


def _pinned(inference: Inference, name: str, terms: list[Term]) -> Term:
    takes = 1 if name in ("rand", "random", "randn") else 0
    count(name, terms, 0, takes)
    if terms and not (terms[0].literal and isinstance(terms[0].value, int)):
        raise _needed(name, "a whole number")
    inference.pinned[name] = None
    return Term(written(name, terms), PINNED[name])


def _struct(inference: Inference, nodes: Sequence[Any]) -> Term:
    """A struct of named parts: `struct(a, lower(b) as b)`."""
    count("struct", nodes, 1, None)
    fields: list[Field] = []
    terms: list[Term] = []
    for number, node in enumerate(nodes, start=1):
        inner = node.this if isinstance(node, exp.Alias) else node
        term = inference.term(inner)
        named = isinstance(node, exp.Alias | exp.Column | exp.Dot | exp.Identifier)
        name = node.output_name if named and node.output_name else f"col{number}"
        fields.append(Field(name, term.type))
        terms.append(term)
    kind = _made_struct(fields)
    pairs = (
        f"{term.sql} as {quoted(field.name)}" for term, field in zip(terms, fields, strict=True)
    )
    total = all(term.total for term in terms)
    return Term(f"struct({', '.join(pairs)})", kind, total, growth=_growth(terms))


def _made_struct(fields: Sequence[Field]) -> Type:
    try:
        return Type("struct", fields=Schema(tuple(fields)).fields)
    except SchemaError as failure:
        raise mismatch(failure.message, "Give the parts different names.") from failure


def _with_unit(inference: Inference, name: str, nodes: Sequence[Any]) -> Term:
    """`timestampadd(hour, 3, at)` and the like, whose first argument is a word."""
    from weft.weaving.inference import UNITS

    count(name, nodes, 3, 3)
    unit = nodes[0].name.lower() if isinstance(nodes[0], exp.Column) else ""
    if unit not in UNITS:
        near = nearest(unit, UNITS) if unit else None
        raise ExpressionError(
            f"{name}() needs a unit first, such as hour.",
            code="expression.arguments",
            hint=f"Did you mean {near}?" if near else f"Units are {', '.join(sorted(UNITS))}.",
        )
    one, two = (inference.term(node) for node in nodes[1:])
    adds = name in ("timestampadd", "dateadd", "date_add")
    _fits(name, 1, "long" if adds else "time", one, one)
    _fits(name, 2, "time", two, two)
    kind = (UNKNOWN if two.type.name == "date" else two.type) if adds else coercion.BIGINT
    return Term(f"{name}({unit}, {one.sql}, {two.sql})", kind, total=False)


Special = Callable[[str, list[Term]], tuple[Type, bool, int]]
"""The type of a call, whether it never raises by itself, and how much it grows."""


def _absolute(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    count(name, terms, 1, 1)
    _fits(name, 0, "number", terms[0], terms[0])
    return terms[0].type, terms[0].type.name not in coercion.INTEGRALS, 1


def _array(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    element = unify(terms, "Listing") if terms else UNKNOWN
    return Type("array", items=(element,)), True, max(len(terms), 1)


def _map(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    if len(terms) % 2:
        raise ExpressionError(
            "map() takes keys and values in turn.",
            code="expression.arguments",
            hint="Write it as map('a', 1, 'b', 2).",
        )
    if not terms:
        return Type("map", items=(UNKNOWN, UNKNOWN)), True, 1
    items = (unify(terms[::2], "Listing"), unify(terms[1::2], "Listing"))
    return Type("map", items=items), False, len(terms)


def _named_struct(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    if not terms or len(terms) % 2 or not all(term.is_text for term in terms[::2]):
        raise ExpressionError(
            "named_struct() takes names in quotes and values in turn.",
            code="expression.arguments",
            hint="Write it as named_struct('a', 1, 'b', 2).",
        )
    pairs = zip(terms[::2], terms[1::2], strict=True)
    return _made_struct([Field(key.value, value.type) for key, value in pairs]), True, 1


def _concat(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    return concatenated(terms), True, max(len(terms), 1)


def _reverse(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    count(name, terms, 1, 1)
    return (terms[0].type if terms[0].type.name == "array" else Type("string")), True, 1


def _round(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    count(name, terms, 1, 2)
    _fits(name, 0, "number", terms[0], terms[0])
    places = terms[1].value if len(terms) == 2 else 0
    if not isinstance(places, int):
        raise _needed(name, "a whole number of places")
    kind = terms[0].type
    if kind.name != "decimal":
        if name in ("round", "bround"):
            return kind, kind.name in ("float", "double"), 1
        return (coercion.BIGINT if len(terms) == 1 else UNKNOWN), False, 1
    whole = kind.precision - kind.scale + 1
    if name in ("ceil", "ceiling", "floor") and len(terms) == 1:
        return coercion.decimal(whole, 0), True, 1
    scale = max(min(places, kind.scale), 0)
    if places < 0:
        whole = max(whole, -places + 1)
    return Type("decimal", precision=min(whole + scale, 38), scale=scale), True, 1


_SIGNS = {
    "mod": "%",
    "pmod": "%",
    "try_mod": "%",
    "div": "div",
    "try_add": "+",
    "try_subtract": "-",
    "try_multiply": "*",
    "try_divide": "/",
}


def _arithmetic(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    count(name, terms, 2, 2)
    found = coercion.arithmetic(_SIGNS[name], terms[0].type, terms[1].type)
    if found is None:
        raise mismatch(
            f"{name}() cannot combine {terms[0].type} and {terms[1].type}.", "Cast one of them."
        )
    return found[0], name.startswith("try_"), 1


def _parsed(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    count(name, terms, 2, 2)
    _fits(name, 0, "string", terms[0], terms[0])
    if not terms[1].is_text:
        raise _needed(name, "a schema in quotes")
    text = terms[1].value.strip()
    try:
        try:
            return parse_type(text), False, 1
        except SchemaError:
            return parse_type(f"struct<{text}>"), False, 1
    except SchemaError as failure:
        raise mismatch(
            f"The schema of {name}() is wrong. {failure.message}", failure.hint or ""
        ) from None


def _to_number(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    count(name, terms, 2, 2)
    if not terms[1].is_text:
        raise _needed(name, "a format in quotes")
    whole, _, fraction = terms[1].value.upper().replace("D", ".").partition(".")
    scale = sum(sign in "09" for sign in fraction)
    precision = sum(sign in "09" for sign in whole) + scale
    return Type("decimal", precision=max(precision, 1), scale=scale), name.startswith("try_"), 1


def _date_part(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    count(name, terms, 2, 2)
    if not terms[0].is_text:
        raise _needed(name, "a part in quotes")
    _fits(name, 1, "time", terms[1], terms[1])
    second = terms[0].value.lower() in ("second", "s", "sec", "seconds", "secs")
    return (Type("decimal", precision=8, scale=6) if second else coercion.INT), True, 1


def _sequence(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    count(name, terms, 2, 3)
    if any(term.type.name in DATETIMES for term in terms):
        raise ExpressionError(
            "sequence() over dates has no limit.",
            code="expression.size",
            hint="Make the numbers first: transform(sequence(0, least(n, 100)), i -> date_add(d, i)).",
        )
    start = terms[0].value if terms[0].literal else None
    if not isinstance(start, int):
        raise _needed(name, "a whole number to start with")
    reach = size(name, terms[1]) + abs(start)
    return Type("array", items=(unify(terms[:2], "Listing"),)), False, reach


def _arrays_zip(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    for place, term in enumerate(terms):
        _fits(name, place, "array", term, term)
    return UNKNOWN, True, max(len(terms), 1)


def _between(name: str, terms: list[Term]) -> tuple[Type, bool, int]:
    return between(terms).type, True, 1


_SPECIAL: Mapping[str, Special] = {
    "abs": _absolute,
    "negative": _absolute,
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
    "arrays_zip": _arrays_zip,
    "between": _between,
}
