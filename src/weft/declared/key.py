"""The keys of a declaration: a dataclass whose fields that can be written have a `Key` beside their type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from weft.declared.limit import Limit

REQUIRED: Any = object()
"""The default of a key that must be written."""


@dataclass(frozen=True)
class Key:
    """One key: what its value may be, what it means, and an example of it.

    `unsaid` says in words what holds where the key is left out and the field's own default does not say it. `of` are
    the types of thing that have the key, where not all have it. `beside` is what the example needs. A key has the name
    of its field unless it says another.
    """

    limit: Limit
    meaning: str
    example: Any = None
    name: str = ""
    unsaid: str = ""
    of: tuple[str, ...] = ()
    beside: Mapping[str, Any] = field(default_factory=dict)
    held_by: str = ""
    default: Any = REQUIRED

    @property
    def is_required(self) -> bool:
        """Whether it must be written."""
        return self.default is REQUIRED and not self.unsaid


def keys(declaration: type[Any]) -> Mapping[str, Key]:
    """The keys of a declaration by name, in the order in which they are declared."""
    if declaration not in _KEYS:
        _KEYS[declaration] = _keys(declaration)
    return _KEYS[declaration]


def _keys(declaration: type[Any]) -> dict[str, Key]:
    hints = get_type_hints(declaration, include_extras=True)
    found: dict[str, Key] = {}
    for one in fields(declaration):
        hint = hints[one.name]
        beside = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        for key in beside:
            if isinstance(key, Key):
                name = key.name or one.name
                found[name] = replace(key, name=name, held_by=one.name, default=_default(one))
    return found


def _default(one: Field[Any]) -> Any:
    if one.default_factory is not MISSING:
        return one.default_factory()
    return REQUIRED if one.default is MISSING else one.default


def is_open(declaration: type[Any]) -> bool:
    """Whether other keys may stand beside the declared ones, and are handed on as they are."""
    return bool(getattr(declaration, "takes_others", False))


_KEYS: dict[type[Any], dict[str, Key]] = {}
