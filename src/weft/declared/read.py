"""A mapping read by a declaration: everything that is wrong with it, in words, or the declaration that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from weft.declared.key import Key, is_open, keys
from weft.declared.limit import Fault, Limit, Mistake
from weft.declared.text import told
from weft.reason import shown
from weft.schema.schema import nearest

T = TypeVar("T")


def faults(declaration: type[Any], written: Any) -> Iterator[Fault]:
    """Everything that is wrong with what is written of a thing.

    What its keys mean together is asked only where each is right by itself: a declaration may have a function
    `together(written)` that gives the fault.
    """
    if not isinstance(written, Mapping):
        yield Fault("wrong-type", "a mapping of keys")
        return
    known, is_right = keys(declaration), True
    for name in written:
        if name not in known and not is_open(declaration):
            is_right = False
            yield Fault("unknown-key", "", (str(name),), tuple(known))
    for name, key in known.items():
        if name not in written:
            needed = Fault("missing-key", key.limit.expected, (name,), hint=f"Add {_shown(key)}.")
            found = [needed] if key.is_required else []
        else:
            found = [_below(key, fault) for fault in key.limit.faults(written[name])]
        is_right = is_right and not found
        yield from found
    together: Callable[[Any], Fault | None] | None = getattr(declaration, "together", None)
    if is_right and together is not None and (wrong := together(written)) is not None:
        yield wrong


def _below(key: Key, fault: Fault) -> Fault:
    """A fault of a key's value, with the key's example for what to write."""
    hint = fault.hint or ("" if fault.path else f"Write it as in {_shown(key)}.")
    return replace(fault, path=(key.name, *fault.path), hint=hint)


def _shown(key: Key) -> str:
    return f"`{told({key.name: key.example})[1:-1]}`"


def made(declaration: type[T], written: Mapping[str, Any], default: T | None = None) -> T:
    """The declaration that a mapping makes; what it leaves out is as in `default`. Keys that are wrong are left out."""
    values = {}
    for name, key in keys(declaration).items():
        if name in written and not list(key.limit.faults(written[name])):
            values[key.held_by] = key.limit.take(written[name])
    return declaration(**values) if default is None else replace(default, **values)  # type: ignore[type-var]


@dataclass(frozen=True)
class Nested(Limit):
    """A mapping that is a declaration of its own."""

    declaration: type[Any] = object
    may_be_null: bool = False

    def faults(self, value: Any) -> Iterator[Fault]:
        """Everything that is wrong below."""
        if not isinstance(value, Mapping):
            if not (self.may_be_null and value is None):
                yield Fault("wrong-type", self.expected)
            return
        yield from faults(self.declaration, value)

    def take(self, value: Any) -> Any:
        """The declaration that the mapping makes."""
        return None if value is None else made(self.declaration, value)


def _fits(value: Any) -> Mistake | None:
    return None


def nested(declaration: type[Any], expected: str, *, may_be_null: bool = False) -> Nested:
    """A mapping with the keys of a declaration."""
    return Nested(
        expected, _fits, schema_of(declaration), declaration=declaration, may_be_null=may_be_null
    )


def message(fault: Fault, written: Any, what: str) -> tuple[str, str]:
    """A fault in words: what is wrong with `what`, in which `written` stands, and what to do about it."""
    name = str(fault.path[-1]) if fault.path else what
    inside = f"`{fault.path[-2]}`" if len(fault.path) > 1 else what
    match fault.mistake:
        case "unknown-key":
            near = nearest(name, fault.words)
            known = ", ".join(fault.words) or "none"
            hint = f"Did you mean {near!r}?" if near else f"Its keys are {known}."
            return f"{inside[:1].upper()}{inside[1:]} has no key {shown(name)}.", hint
        case "missing-key":
            return (
                f"{inside[:1].upper()}{inside[1:]} needs `{name}`, {fault.expected}.",
                fault.hint,
            )
    value = _at(written, fault.path)
    near = nearest(value, fault.words) if isinstance(value, str) else None
    hint = f"Did you mean {near!r}?" if near else fault.hint or f"Correct `{name}`."
    told = f"`{name}`" if fault.path else what
    return f"{told} is {_told(value)}; it should be {fault.expected}.", hint


def _at(written: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        written = written[part]
    return written


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "nothing" if value is None else shown(value)


def schema_of(declaration: type[Any]) -> dict[str, Any]:
    """The JSON schema of a declaration."""
    properties = {}
    for name, key in keys(declaration).items():
        properties[name] = {**key.limit.schema, "description": key.meaning}
        if key.example is not None:
            properties[name]["examples"] = [key.example]
    needed = [name for name, key in keys(declaration).items() if key.is_required]
    schema = {
        "type": "object",
        "properties": properties,
        "additionalProperties": is_open(declaration),
    }
    return {**schema, "required": needed} if needed else schema
