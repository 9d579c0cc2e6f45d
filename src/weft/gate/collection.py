"""Calls that make arrays, maps and structs or take them apart, whose types one line of the catalog
cannot say."""

from __future__ import annotations

from collections.abc import Sequence

from weft.gate import argument
from weft.gate.coercion import DATETIMES, NULL, UNKNOWN
from weft.gate.grammar import ExpressionError
from weft.gate.result import Result
from weft.gate.term import Term, mismatch, shorten, unify
from weft.schema.schema import Field, Schema, SchemaError, Type


def array(name: str, terms: list[Term]) -> Result:
    """An array of its arguments."""
    element = unify(terms, "Listing") if terms else NULL
    return Result(Type("array", items=(element,)))


def made_map(name: str, terms: list[Term]) -> Result:
    """A map of keys and values in turn."""
    if len(terms) % 2:
        raise ExpressionError(
            "map() takes keys and values in turn.",
            code="expression.arguments",
            hint="Write it as map('a', 1, 'b', 2).",
        )
    if not terms:
        return Result(Type("map", items=(NULL, NULL)))
    keys = unify(terms[::2], "Listing")
    _refuse_keys(name, keys)
    return Result(Type("map", items=(keys, unify(terms[1::2], "Listing"))))


def _refuse_keys(name: str, keys: Type) -> None:
    if argument.holds_map(keys):
        raise mismatch(f"{name}() cannot have maps as keys.", "Use map_entries(), or another key.")


def named_struct(name: str, terms: list[Term]) -> Result:
    """A struct of names and values in turn."""
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


def element_at(name: str, terms: list[Term]) -> Result:
    """An element of an array by its number, or a value of a map by its key."""
    argument.count(name, terms, 2, 2)
    argument.fits(name, 0, "many", terms[0])
    holder = terms[0].type
    if holder.name == "array":
        argument.fits(name, 1, "integer", terms[1])
        _refuse_null(name, terms[1])
        return Result(holder.items[0])
    if holder.name == "map":
        argument.fits_inside(name, 1, "K", terms[1], terms[0])
        return Result(holder.items[1])
    return Result(UNKNOWN)


def _refuse_null(name: str, term: Term) -> None:
    if term.type.name == "null":
        raise mismatch(f"Argument 2 of {name}() is null.", "Give the number of an element.")


def from_entries(name: str, terms: list[Term]) -> Result:
    """The map of an array of pairs."""
    argument.count(name, terms, 1, 1)
    argument.fits(name, 0, "array", terms[0])
    pair = terms[0].type.items[0] if terms[0].type.items else UNKNOWN
    if pair.name != "unknown" and len(pair.fields) != 2:
        raise mismatch(
            f"{name}() takes an array of structs of two parts, not {terms[0].type}.",
            "Make pairs first: transform(x, v -> struct(v.key, v.value)).",
        )
    if pair.name == "unknown":
        return Result(UNKNOWN)
    key, value = (field.type for field in pair.fields)
    _refuse_keys(name, key)
    return Result(Type("map", items=(key, value)))


def from_arrays(name: str, terms: list[Term]) -> Result:
    """The map of an array of keys and an array of values."""
    argument.count(name, terms, 2, 2)
    for place, term in enumerate(terms):
        argument.fits(name, place, "array", term)
    key, value = (term.type.items[0] if term.type.items else UNKNOWN for term in terms)
    _refuse_keys(name, key)
    return Result(Type("map", items=(key, value)))


def sequence(name: str, terms: list[Term]) -> Result:
    """All whole numbers from one to another."""
    argument.count(name, terms, 2, 3)
    if any(term.type.name in DATETIMES for term in terms):
        raise ExpressionError(
            "sequence() over dates is not taken.",
            code="expression.type",
            hint="Count first: transform(sequence(0, n), i -> date_add(d, i)).",
        )
    for place, term in enumerate(terms):
        argument.fits(name, place, "long", term)
        if term.type.name == "null":
            raise mismatch(f"{name}() has null as {shorten(term.sql)}.", "Give a number.")
    kind = unify(terms[:2], "Listing")
    if len(terms) == 3 and unify([*terms], "Listing") != kind:
        raise mismatch(
            f"{name}() steps by {terms[2].type} from {kind} to {kind}.", f"Cast it to {kind}."
        )
    return Result(Type("array", items=(kind,)))
