"""Reads typed values out of a document; what is wrong goes into the report and the reading goes
on. Called by `read`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from weft.declared.limit import Fault
from weft.declared.read import faults, made, message
from weft.loading.document import Path
from weft.loading.form import MAX_TITLE
from weft.loading.problem import Problems, shown
from weft.project.name import MAX_NAME, NAME, plain
from weft.project.provenance import PROVENANCE
from weft.project.settings import RAW

T = TypeVar("T")

# Control characters, lone surrogates, line ends, and what turns the direction of a text.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


class Cursor:
    """A value in a document, with its path. Readers return None after noting what is wrong."""

    def __init__(self, value: Any, path: Path, report: Problems) -> None:
        self.value = value
        self.path = path
        self.report = report

    def wrong(self, code: str, message: str, hint: str | None, *, on_key: bool = False) -> None:
        """Note a problem of this value."""
        self.report.add(code, self.path, message, hint, on_key=on_key)

    def child(self, key: str | int) -> Cursor:
        """The value under a key or at a place; None when it is not there."""
        held = self.value
        if isinstance(held, Mapping):
            return Cursor(held.get(key), (*self.path, key), self.report)
        inside = isinstance(held, list) and isinstance(key, int) and key < len(held)
        return Cursor(held[key] if inside else None, (*self.path, key), self.report)

    def has(self, key: str) -> bool:
        """Whether there is a value under a key."""
        return isinstance(self.value, Mapping) and self.value.get(key) is not None

    def mapping(self, what: str) -> dict[str, Cursor] | None:
        """The values by key, whatever the keys are."""
        if not isinstance(self.value, Mapping):
            self.expected(f"{what} to be a mapping", "Write it as `key: value` lines.")
            return None
        return {str(key): self.child(key) for key in self.value}

    def check(self, declaration: type[Any], what: str) -> None:
        """Note everything that is wrong with this value by a declaration."""
        for fault in faults(declaration, self.value):
            self.fault(fault, f"project.{fault.mistake}", *message(fault, self.value, what))

    def parts(
        self, declaration: type[Any], what: str, *, but: Collection[str] = ()
    ) -> dict[str, Cursor]:
        """The values by key that are right by themselves; notes all others. Those of `but` are let through."""
        if not isinstance(self.value, Mapping):
            self.expected(f"{what} to be a mapping", "Write it as `key: value` lines.")
            return {}
        known = {key: value for key, value in self.value.items() if key not in but}
        wrong: set[str | int] = set()
        for fault in faults(declaration, known):
            wrong.update(fault.path[:1])
            self.fault(fault, f"project.{fault.mistake}", *message(fault, known, what))
        return {str(key): self.child(key) for key in self.value if str(key) not in wrong}

    def read(self, declaration: type[T], what: str, default: T | None = None) -> T:
        """What this value declares; what it leaves out or says wrongly is as in `default`."""
        self.check(declaration, what)
        given = self.value if isinstance(self.value, Mapping) else {}
        return made(declaration, given, default)

    def fault(self, fault: Fault, code: str, told: str, hint: str | None) -> None:
        """Note a fault below this value, at its place."""
        is_missing = fault.mistake == "missing-key"
        path = (*self.path, *(fault.path[:-1] if is_missing else fault.path))
        on_key = fault.mistake in ("unknown-key", "missing-key")
        self.report.add(code, path, told, hint, on_key=on_key)

    def items(self, what: str) -> list[Cursor] | None:
        """The values of a list."""
        if not isinstance(self.value, list | tuple):
            self.expected(f"{what} to be a list", "Write it as `- item` lines, or in [ ].")
            return None
        self.value = list(self.value)
        return [self.child(number) for number in range(len(self.value))]

    def text(self, what: str) -> str | None:
        """A text that is not empty."""
        if isinstance(self.value, str) and self.value.strip():
            return self.value
        self.expected(f"{what} to be a text", None)
        return None

    def names(self) -> tuple[str, ...]:
        """One text or a list of them, which were judged before."""
        return (self.value,) if isinstance(self.value, str) else tuple(self.value)

    def expected(self, wanted: str, hint: str | None) -> None:
        """Note that the value is of another type than it should be."""
        self.wrong("project.wrong-type", f"Expected {wanted}, not {shown(self.value)}.", hint)

    def check_name(self, noun: str, name: str) -> None:
        """Note a name that is not lower-kebab or snake, or that Weft keeps for itself."""
        if name.endswith((".dead", ".late", PROVENANCE, RAW)):
            self.wrong(
                "project.reserved-name",
                f"The name {name!r} is kept for Weft's own streams.",
                "Names must not end in .dead, .late, .provenance or .raw.",
                on_key=True,
            )
        elif not NAME.fullmatch(name) or len(name) > MAX_NAME:
            self.wrong(
                "project.bad-name",
                f"{shown(name)} cannot be the name of a {noun}.",
                f"Names are lower-case words joined by - or _, such as {plain(name) or noun!r}.",
                on_key=True,
            )

    def title(self, what: str) -> str | None:
        """A text for people, on one line."""
        found = self.text(what)
        if found is None:
            return None
        if len(found) > MAX_TITLE or _UNPRINTABLE.search(found):
            self.wrong(
                "project.bad-name",
                f"{what} is {shown(found)}.",
                f"It is a text of at most {MAX_TITLE} characters, on one line and all visible.",
            )
            return None
        return found
