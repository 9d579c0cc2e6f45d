"""Calls of functions by name: refused, unknown, or judged by the catalog, with the type of the
result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from weft.gate import argument, higher, pattern
from weft.gate.catalog import SIGNATURES, Signature
from weft.gate.coercion import BIGINT, DOUBLE, INT, STRING, UNKNOWN, common
from weft.gate.collection import made_struct
from weft.gate.conversion import cast
from weft.gate.grammar import ExpressionError
from weft.gate.proven import COPIES, never_raises
from weft.gate.refusal import REFUSED
from weft.gate.special import SPECIAL
from weft.gate.term import Term, converts, mismatch, shorten, unify
from weft.schema.schema import Field, Type, nearest, parse_type, quoted

if TYPE_CHECKING:
    from weft.gate.judge import Judge

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
_READS_TIMES = (
    *("to_date", "try_to_date", "to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz"),
    *("try_to_timestamp", "to_unix_timestamp", "unix_timestamp"),
)
_ADDING = ("timestampadd", "dateadd", "date_add")
_WITH_UNIT = (*_ADDING, "timestampdiff", "date_diff", "datediff")

ALLOWED = frozenset(
    [*SIGNATURES, *SPECIAL, *PINNED, *CASTS, *higher.FUNCTIONS, *_WITH_UNIT, "struct"]
)


def judge(inference: Judge, name: str, nodes: Sequence[Any]) -> Term:
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
        return Term(_written(name, terms), result.type, total).made_of(terms)
    return _by_signature(SIGNATURES[name], terms)


def _written(name: str, terms: Sequence[Term]) -> str:
    return f"{name}({', '.join(term.sql for term in terms)})"


def _by_signature(signature: Signature, terms: list[Term]) -> Term:
    """A call as the catalog has it."""
    name = signature.name
    argument.count(name, terms, signature.least, signature.most)
    alike: list[Term] = []
    for place, term in enumerate(terms):
        word = signature.parameter(place).word
        if word in ("T", "O"):
            alike.append(term)
            if word == "O":
                argument.fits(name, place, "hashed", term)
        elif word in ("E", "K", "A", "M"):
            argument.fits_inside(name, place, word, term, terms[0])
        elif word == "size":
            argument.size(name, term)
        elif word in argument.LITERALS:
            argument.literal(name, word, term)
            if word in ("text", "form"):
                argument.short(name, term)
            if word == "form":
                argument.form(name, term)
        else:
            argument.fits(name, place, word, term)
    if name in ("like", "ilike"):
        escape = terms[2].value if len(terms) == 3 else "\\"
        shown = terms[1].value.lower() if name == "ilike" else terms[1].value
        argument.refuse_pattern(name, terms[1].value, pattern.like_refusal(shown, escape))
    if name == "regexp_replace" and len(terms) == 4 and terms[3].value < 1:
        raise argument.needed(name, "a position from 1 on")
    if name == "overlay" and (terms[0].type.name == "binary") != (terms[1].type.name == "binary"):
        raise mismatch("overlay() puts text over text, or binary over binary.", "Cast one of them.")
    if name.endswith(("to_timestamp", "to_timestamp_ltz")) and len(terms) == 2:
        argument.fits(name, 0, "dated", terms[0])
    if name in _READS_TIMES:
        argument.not_the_clock(f"{name}()", terms[0])
    together = unify(alike, "Combining") if alike else UNKNOWN
    kind = _result(signature.result, terms, together)
    total = never_raises(name, terms) and converts(alike, together)
    term = Term(_written(name, terms), kind, total)
    return term.made_of(terms, copies=COPIES.get(name, 1))


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
    if word == "both":
        return common(first, terms[1].type) or UNKNOWN
    if word == "bytes":
        return first if first.name == "binary" else STRING
    if word == "pad":
        return first if all(term.type.name == "binary" for term in terms[::2]) else STRING
    if word == "whole":
        return first if first.name == "bigint" else INT
    if word in ("keys", "values", "entries"):
        key, value = first.items if first.name == "map" else (UNKNOWN, UNKNOWN)
        pair = Type("struct", fields=(Field("key", key, nullable=False), Field("value", value)))
        return Type("array", items=({"keys": key, "values": value, "entries": pair}[word],))
    return Type(word) if word.startswith(("null", "interval")) else parse_type(word)


def _pinned(inference: Judge, name: str, terms: list[Term]) -> Term:
    argument.count(name, terms, 0, 1 if name.startswith("rand") else 0)
    for term in terms:
        argument.literal(name, "place", term)
    inference.pinned[name] = None
    return Term(_written(name, terms), PINNED[name])


def _struct(inference: Judge, nodes: Sequence[Any]) -> Term:
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
    return Term(f"struct({listed})", kind, total=False).made_of(terms)


def _with_unit(inference: Judge, name: str, nodes: Sequence[Any]) -> Term:
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
    return Term(f"{name}({unit}, {one.sql}, {two.sql})", kind, total=False).made_of([one, two])
