"""One codec for everything that outlives its process: frozen values in, plain forms with a format number out, and back.

Called by whatever stores a value: the weaver's store, the commits of tables, checkpoints. A stored form is
`{"format": n, …fields}`. Reading fills in what older forms lack by the defaults of the fields and refuses what newer
code wrote under a higher number. So a field that is added has a default, and a default is never changed once it was
written; a change of another kind takes a new number and an entry in UPGRADES. Samples of every format are in
`tests/samples`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from weft.errors import WeftError

T = TypeVar("T")
Form = Mapping[str, Any]

FORMAT = 1
UPGRADES: Mapping[int, Callable[[type, dict[str, Any]], dict[str, Any]]] = {}
"""For each older format, what makes a form of the next one of it."""


class StoredError(WeftError):
    """A stored form cannot be read."""

    code = "stored.unreadable"


def to_form(value: Any, *, sparse: bool = False) -> dict[str, Any]:
    """A value as JSON holds it; `sparse` leaves out what has its default, so that new fields change no hash."""
    form: dict[str, Any] = _adapter(type(value)).dump_python(
        value, mode="json", by_alias=True, exclude_defaults=sparse
    )
    return form


def from_form(kind: type[T], form: Any) -> T:
    """The value that `to_form` wrote, with defaults for what it lacks."""
    try:
        value: T = _adapter(kind).validate_python(form)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise StoredError(
            f"This is not a stored {kind.__name__.lower()}: {where}: {first['msg']}.",
            hint="It was changed from outside, or written by another program.",
            kind=kind.__name__,
        ) from error
    return value


def pack(value: Any) -> dict[str, Any]:
    """A value as it is stored: its form under the number of the format."""
    return {"format": FORMAT, **to_form(value)}


def unpack(kind: type[T], stored: Form) -> T:
    """The value behind a stored form of this format or an older one."""
    number = stored.get("format", 1)
    if not isinstance(number, int) or not 1 <= number <= FORMAT:
        raise StoredError(
            f"A stored {kind.__name__.lower()} has format {number!r}; this version reads up to {FORMAT}.",
            code="stored.too-new",
            domain="user",
            hint="It was written by a newer version of Weft; upgrade this one.",
            kind=kind.__name__,
        )
    form = dict(stored)
    for old in range(number, FORMAT):
        form = UPGRADES[old](kind, form)
    return from_form(kind, form)


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
