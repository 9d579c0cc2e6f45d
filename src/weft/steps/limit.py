"""What may stand after each kind of step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.declared.limit import Limit, Mistake


def is_pairs(value: Any) -> bool:
    """Whether it is a list of mappings of one key, which keeps the order of columns where JSON would not."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, Mapping) and len(item) == 1 for item in value)
    )


def _expression(value: Any) -> Mistake | None:
    if isinstance(value, bool | int | float):
        return None
    return None if isinstance(value, str) and value.strip() else "wrong-type"


def _expressions(value: Any) -> Mistake | None:
    if is_pairs(value):
        value = {name: text for pair in value for name, text in pair.items()}
    if not isinstance(value, Mapping) or not value or not all(isinstance(k, str) for k in value):
        return "wrong-type"
    return next((wrong for one in value.values() if (wrong := _expression(one))), None)


def _columns(value: Any) -> Mistake | None:
    names = [value] if isinstance(value, str) else value
    is_right = isinstance(names, list | tuple) and names and all(isinstance(n, str) for n in names)
    return None if is_right else "wrong-type"


def _renames(value: Any) -> Mistake | None:
    is_right = isinstance(value, Mapping) and bool(value)
    if not is_right or not all(isinstance(part, str) for pair in value.items() for part in pair):
        return "wrong-type"
    return None


def _call(value: Any) -> Mistake | None:
    form = {"ref": value} if isinstance(value, str) else value
    if not isinstance(form, Mapping) or not isinstance(form.get("ref"), str):
        return "wrong-type"
    is_known = not set(form) - {"ref", "params"}
    return None if is_known and isinstance(form.get("params", {}), Mapping) else "wrong-type"


_SQL: Mapping[str, Any] = {"type": ["string", "number", "boolean"]}
_PAIRS: Mapping[str, Any] = {"type": "object", "additionalProperties": _SQL, "minProperties": 1}
_NAMES: Mapping[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]
}
_NAMED: Mapping[str, Any] = {"anyOf": [_PAIRS, {"type": "array", "items": _PAIRS}]}
_CALLED: Mapping[str, Any] = {
    "type": "object",
    "properties": {"ref": {"type": "string"}, "params": {"type": "object"}},
    "required": ["ref"],
    "additionalProperties": False,
}

CONDITION = Limit("an expression", _expression, _SQL)
EXPRESSIONS = Limit("a mapping of column to expression", _expressions, _NAMED)
COLUMNS = Limit("a column or a list of columns", _columns, _NAMES)
SELECTION = Limit(
    "a column, a list of columns, or a mapping of column to expression",
    lambda value: _columns(value) and _expressions(value),
    {"anyOf": [*_NAMES["anyOf"], *_NAMED["anyOf"]]},
)
RENAMES = Limit(
    "a mapping of old name to new name",
    _renames,
    {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
)
CALL = Limit(
    "a reference such as shop.rules:mask_email, or {ref: …, params: {…}}",
    _call,
    {"anyOf": [{"type": "string"}, _CALLED]},
)
