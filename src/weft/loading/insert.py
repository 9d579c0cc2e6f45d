"""Adds a table or a product to the text of a project file, which keeps its comments and its order. Called by
`weft table add` and `weft product add`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from weft.errors import WeftError
from weft.loading.document import from_text


class CannotInsertError(WeftError):
    """A project file that nothing can be added to by itself."""

    code = "project.cannot-insert"
    domain = "user"


def insert(text: str, section: str, name: str, form: Mapping[str, Any]) -> str:
    """The text with `name: form` at the end of a section, which is made if there is none.

    Refuses a file in which that says something else, as one in braces.
    """
    document = from_text(text)
    whole = document.value if isinstance(document.value, Mapping) else {}
    held = whole.get(section)
    if document.flaws or not whole or not isinstance(held, Mapping | None):
        raise CannotInsertError(
            "The project file cannot be read, and nothing was added to it.",
            hint="`weft check` says what is wrong with it.",
            name=name,
        )
    if held is not None and name in held:
        raise CannotInsertError(
            f"The project file has {name!r} under `{section}` already.",
            hint="Change it there, and deploy it with `weft apply`.",
            name=name,
        )
    block = yaml.safe_dump({name: dict(form)}, sort_keys=False, allow_unicode=True)
    made = _with(text, section, name, block)
    entries = {**(held or {}), **from_text(block).value}
    again = from_text(made)
    if again.flaws or again.value != {**whole, section: entries}:
        raise CannotInsertError(
            "The project file is written in a way in which nothing can be added to it by itself.",
            hint=f"Write it with one entry a line, without braces, or add {name!r} by hand.",
            name=name,
        )
    return made


def _with(text: str, section: str, name: str, block: str) -> str:
    """The text with a block at the end of a section, if the file is written with one entry a line."""
    head = re.search(rf"^{section}:(?P<rest>[^\n]*)(?:\n|\Z)", text, re.MULTILINE)
    if head is None:
        return f"{text.rstrip()}\n{section}:\n{_indented(block, 2)}"
    rest = head["rest"].partition("#")[0].strip()
    if rest not in ("", "{}", "null", "~"):
        raise CannotInsertError(
            f"`{section}` is written on one line, and nothing can be added to it by itself.",
            hint=f"Write `{section}:` with one entry a line, or add {name!r} by hand.",
            name=name,
        )
    body = re.compile(r"(?:[ \t]+[^\n]*\n?|[ \t]*\n|#[^\n]*\n)*").match(text, head.end())
    assert body is not None
    written = body[0].rstrip()
    depth = re.match(r"[ ]+", written.lstrip("\n"))
    entries = f"{written}\n" if written else ""
    made = f"{section}:\n{entries}{_indented(block, len(depth[0]) if depth else 2)}"
    return text[: head.start()] + made + text[body.end() :]


def _indented(block: str, depth: int) -> str:
    return "".join(f"{' ' * depth}{line}\n" for line in block.splitlines())
