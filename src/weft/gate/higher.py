"""Calls with a lambda: `transform(items, x -> x * 2)` and its kin. Judged like other calls, with
the variables' types known. Each turn of their loops is counted when they run, so none of them is
taken to be total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from weft.gate.coercion import BOOLEAN, INT, UNKNOWN, is_open
from weft.gate.grammar import ExpressionError
from weft.gate.term import Term, mismatch, require_boolean, shorten
from weft.schema.schema import Type, quoted

if TYPE_CHECKING:
    from weft.gate.judge import Judge

# How many collections come before the lambda, and how many variables it may have.
FUNCTIONS: Mapping[str, tuple[int, tuple[int, ...]]] = {
    "transform": (1, (1, 2)),
    "filter": (1, (1, 2)),
    "exists": (1, (1,)),
    "forall": (1, (1,)),
    "array_sort": (1, (2,)),
    "zip_with": (2, (2,)),
    "map_filter": (1, (2,)),
    "transform_keys": (1, (2,)),
    "transform_values": (1, (2,)),
    "map_zip_with": (2, (3,)),
    "aggregate": (2, (2,)),
    "reduce": (2, (2,)),
}
_ON_MAPS = ("map_filter", "transform_keys", "transform_values", "map_zip_with")


def judge(inference: Judge, name: str, nodes: Sequence[Any]) -> Term:
    """The judged call of a function that takes a lambda."""
    collections, variables = FUNCTIONS[name]
    folds = name in ("aggregate", "reduce")
    least = 1 if name == "array_sort" else collections + 1
    if not least <= len(nodes) <= collections + (2 if folds else 1):
        raise _wrong(name, "it has too few or too many arguments")
    given = [inference.term(node) for node in nodes[:collections]]
    for term in given[:1] if folds else given:
        wanted = "map" if name in _ON_MAPS else "array"
        if term.type.name != wanted and not is_open(term.type):
            raise mismatch(
                f"{name}() works on {wanted}s, and {shorten(term.sql)} is of type {term.type}.",
                f"Give it a column of type {wanted}.",
            )
    if len(nodes) == collections:
        return Term(f"{name}({given[0].sql})", given[0].type, total=False).made_of(given)
    if folds:
        return _fold(inference, name, given, nodes[2:])
    types = _variables(name, given)
    body, sql = _body(inference, name, nodes[collections], variables, types)
    kind = _result(name, given, body)
    listed = ", ".join(term.sql for term in given)
    return Term(f"{name}({listed}, {sql})", kind, total=False).made_of([*given, body])


def _variables(name: str, given: list[Term]) -> list[Type]:
    """The types of the variables of the lambda, by what it goes over."""
    inner = [term.type.items or (UNKNOWN, UNKNOWN) for term in given]
    if name == "map_zip_with":
        return [inner[0][0], inner[0][1], inner[1][1]]
    if name in _ON_MAPS:
        return list(inner[0])
    if name == "zip_with":
        return [inner[0][0], inner[1][0]]
    return [inner[0][0], inner[0][0] if name == "array_sort" else INT]


def _result(name: str, given: list[Term], body: Term) -> Type:
    first = given[0].type
    if name in ("filter", "exists", "forall", "map_filter"):
        require_boolean(body, f"{name}()")
        return first if name in ("filter", "map_filter") else BOOLEAN
    if name in ("transform", "zip_with"):
        return Type("array", items=(body.type,))
    if name == "array_sort":
        return first
    key, value = first.items or (UNKNOWN, UNKNOWN)
    return Type("map", items=(body.type, value) if name == "transform_keys" else (key, body.type))


def _fold(inference: Judge, name: str, given: list[Term], lambdas: Sequence[Any]) -> Term:
    """`aggregate(items, zero, (sum, x) -> sum + x)`, whose accumulator must keep its type."""
    items, zero = given
    element = items.type.items[0] if items.type.items else UNKNOWN
    body, sql = _body(inference, name, lambdas[0], (2,), [zero.type, element])
    if zero.type != body.type and not (is_open(zero.type) or is_open(body.type)):
        raise mismatch(
            f"{name}() begins with {shorten(zero.sql)} of type {zero.type}, and its lambda makes "
            f"{body.type} of it.",
            f"Begin with cast({shorten(zero.sql)} as {body.type}), or cast what the lambda makes.",
        )
    listed = f"{items.sql}, {zero.sql}, {sql}"
    if len(lambdas) == 1:
        return Term(f"{name}({listed})", zero.type, total=False).made_of([items, zero, body])
    finish, last = _body(inference, name, lambdas[1], (1,), [zero.type])
    term = Term(f"{name}({listed}, {last})", finish.type, total=False)
    return term.made_of([items, zero, body, finish])


def _body(
    inference: Judge, name: str, node: Any, counts: tuple[int, ...], types: Sequence[Type]
) -> tuple[Term, str]:
    """The judged body of a lambda, and the lambda as SQL."""
    if not isinstance(node, exp.Lambda):
        raise _wrong(name, "it needs a lambda")
    names = [variable.name for variable in node.expressions]
    if len(names) not in counts or len({one.lower() for one in names}) != len(names):
        raise _wrong(name, f"its lambda has {len(names)} variables")
    inference.scopes.append({one.lower(): kind for one, kind in zip(names, types, strict=False)})
    try:
        body = inference.term(node.this)
    finally:
        inference.scopes.pop()
    listed = ", ".join(quoted(one) for one in names)
    return body, f"{listed if len(names) == 1 else f'({listed})'} -> {body.sql}"


def _wrong(name: str, reason: str) -> ExpressionError:
    return ExpressionError(
        f"{name}() cannot be called so: {reason}.",
        code="expression.arguments",
        hint="Write it as transform(items, x -> x * 2) or aggregate(items, 0, (s, x) -> s + x).",
        function=name,
    )
