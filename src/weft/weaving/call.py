"""Calls of functions by name: refused, unknown, or judged by the catalog, with the type of the
result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from weft.weaving import argument, higher
from weft.weaving.catalog import SIGNATURES, Signature
from weft.weaving.coercion import BIGINT, DOUBLE, UNKNOWN
from weft.weaving.conversion import cast
from weft.weaving.grammar import ExpressionError
from weft.weaving.refusal import REFUSED
from weft.weaving.schema import Field, Type, nearest, parse_type, quoted
from weft.weaving.special import SPECIAL, made_struct
from weft.weaving.term import Term, shorten, unify

if TYPE_CHECKING:
    from weft.weaving.inference import Inference

PINNED: Mapping[str, Type] = {
    "current_timestamp": Type("timestamp"),
    "now": Type("timestamp"),
    "current_date": Type("date"),
    "curdate": Type("date"),
    "localtimestamp": Type("timestamp_ntz"),
    "rand": DOUBLE,
    "random": DOUBLE,
    "randn": DOUBLE,
}
"""The calls that say something else each time, and are fixed before they run."""

CASTS = (
    *("string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal"),
    *("date", "timestamp", "binary"),
)
UNITS = (
    *("year", "quarter", "month", "week", "day", "dayofyear", "hour", "minute", "second"),
    *("millisecond", "microsecond"),
)
_ADDING = ("timestampadd", "dateadd", "date_add")
_WITH_UNIT = (*_ADDING, "timestampdiff", "date_diff", "datediff")

ALLOWED = frozenset(
    [*SIGNATURES, *SPECIAL, *PINNED, *CASTS, *higher.FUNCTIONS, *_WITH_UNIT, "struct"]
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
    if name in _WITH_UNIT and (len(nodes) == 3 or name not in SIGNATURES):
        return _with_unit(inference, name, nodes)
    terms = [inference.term(node) for node in nodes]
    if name in PINNED:
        return _pinned(inference, name, terms)
    if name in CASTS:
        argument.count(name, terms, 1, 1)
        return cast(terms[0], parse_type(name), safe=False)
    if name in SPECIAL:
        result = SPECIAL[name](name, terms)
        total = result.total and all(term.total for term in terms)
        growth = result.growth * argument.growth(terms)
        return Term(_written(name, terms), result.type, total).grown(growth)
    return _by_signature(SIGNATURES[name], terms)


def _written(name: str, terms: Sequence[Term]) -> str:
    return f"{name}({', '.join(term.sql for term in terms)})"


def _by_signature(signature: Signature, terms: list[Term]) -> Term:
    """A call as the catalog has it."""
    name = signature.name
    argument.count(name, terms, signature.least, signature.most)
    growth = argument.growth(terms)
    alike: list[Term] = []
    for place, term in enumerate(terms):
        word = signature.parameter(place).word
        if word == "T":
            alike.append(term)
        elif word in ("E", "K"):
            argument.fits_inside(term, terms[0])
        elif word == "size":
            growth *= argument.size(name, term)
        elif word in argument.LITERALS:
            argument.literal(name, word, term)
        else:
            argument.fits(name, place, word, term)
    if name in ("format_string", "printf"):
        growth *= argument.width(terms[0].value)
    raises = signature.raises
    if name in ("like", "ilike"):
        # An escape before nothing, or before what needs none, raises.
        raises = len(terms) == 3 or "\\" in terms[1].value
    total = not raises and all(term.total for term in terms)
    kind = _result(signature.result, terms, unify(alike, "Combining") if alike else UNKNOWN)
    bound = argument.bound(name, terms)
    return Term(_written(name, terms), kind, total, bound=bound).grown(growth)


def _result(word: str, terms: list[Term], together: Type) -> Type:
    """The type that a word of the catalog stands for, with these arguments."""
    first = terms[0].type if terms else UNKNOWN
    if word == "common":
        return together
    if word == "first":
        return first if first.name != "null" else UNKNOWN
    if word in ("element", "value"):
        if first.name == "array":
            return first.items[0]
        return first.items[1] if first.name == "map" and word == "value" else UNKNOWN
    if word == "array":
        return Type("array", items=(first,))
    if word in ("keys", "values", "entries"):
        key, value = first.items if first.name == "map" else (UNKNOWN, UNKNOWN)
        pair = Type("struct", fields=(Field("key", key, nullable=False), Field("value", value)))
        return Type("array", items=({"keys": key, "values": value, "entries": pair}[word],))
    if word == "map":
        return _made_map(terms)
    return Type(word) if word in ("null", "interval") else parse_type(word)


def _made_map(terms: list[Term]) -> Type:
    """The map of two arrays, or of an array of pairs."""
    inner = [term.type.items[0] if term.type.name == "array" else UNKNOWN for term in terms]
    if len(inner) == 1:
        inner = [field.type for field in inner[0].fields]
    return Type("map", items=(inner[0], inner[1])) if len(inner) == 2 else UNKNOWN


def _pinned(inference: Inference, name: str, terms: list[Term]) -> Term:
    argument.count(name, terms, 0, 1 if name.startswith("rand") else 0)
    for term in terms:
        argument.literal(name, "place", term)
    inference.pinned[name] = None
    return Term(_written(name, terms), PINNED[name])


def _struct(inference: Inference, nodes: Sequence[Any]) -> Term:
    """A struct of named parts: `struct(a, lower(b) as b)`."""
    argument.count("struct", nodes, 1, None)
    fields: list[Field] = []
    terms: list[Term] = []
    for number, node in enumerate(nodes, start=1):
        term = inference.term(node.this if isinstance(node, exp.Alias) else node)
        named = isinstance(node, exp.Alias | exp.Column | exp.Dot | exp.Identifier)
        fields.append(Field((named and node.output_name) or f"col{number}", term.type))
        terms.append(term)
    kind = made_struct(fields)
    pairs = zip(terms, fields, strict=True)
    listed = ", ".join(f"{term.sql} as {quoted(field.name)}" for term, field in pairs)
    total = all(term.total for term in terms)
    return Term(f"struct({listed})", kind, total, growth=argument.growth(terms))


def _with_unit(inference: Inference, name: str, nodes: Sequence[Any]) -> Term:
    """`timestampadd(hour, 3, at)` and the like, whose first argument is a word."""
    argument.count(name, nodes, 3, 3)
    unit = nodes[0].name.lower() if isinstance(nodes[0], exp.Column) else ""
    if unit not in UNITS:
        near = nearest(unit, UNITS) if unit else None
        raise ExpressionError(
            f"{name}() needs a unit first, such as hour.",
            code="expression.arguments",
            hint=f"Did you mean {near}?" if near else f"Units are {', '.join(UNITS)}.",
        )
    one, two = (inference.term(node) for node in nodes[1:])
    adds = name in _ADDING
    argument.fits(name, 1, "long" if adds else "time", one)
    argument.fits(name, 2, "time", two)
    kind = BIGINT
    if adds:
        kind = two.type if two.type.name == "timestamp_ntz" else Type("timestamp")
    return Term(f"{name}({unit}, {one.sql}, {two.sql})", kind, total=False)
