"""A YAML text as plain values that remember their lines. Called by `load`; knows nothing of what
the keys mean.

Words are read as YAML 1.2 does: `on`, `yes` and times are texts, and only true and false are
flags.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

Path = tuple[str | int, ...]
MAX_BYTES = 1_000_000
MAX_NODES = 100_000
MAX_DEPTH = 50


@dataclass(frozen=True)
class Flaw:
    """Something wrong with the text itself, at a line and column."""

    code: str
    message: str
    hint: str
    line: int | None = None
    column: int | None = None


@dataclass
class Document:
    """A value, and where each of its parts was written."""

    value: Any
    file: str | None = None
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)

    def place(self, path: Path, *, on_key: bool = False) -> tuple[int | None, int | None]:
        """Line and column of the value at a path, of its key, or of what would hold it."""
        if on_key and path in self.keys:
            return self.keys[path]
        for length in range(len(path), -1, -1):
            if path[:length] in self.values:
                return self.values[path[:length]]
        return None, None


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core words."""


_Loader.yaml_implicit_resolvers = {}


for _tag, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?(?:0|[1-9][0-9_]*)$", list("-+0123456789")),
    (
        "float",
        r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$|^[-+]?[0-9]+[eE][-+]?[0-9]+$",
        list("-+0123456789."),
    ),
    ("merge", r"^<<$", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


def from_text(text: str, *, file: str | None = None) -> Document:
    """The document that a text says; what is wrong with the text is in its flaws."""
    document = Document(None, file)
    if len(text.encode("utf-8", errors="surrogatepass")) > MAX_BYTES:
        document.flaws.append(
            Flaw("project.too-large", f"The file is larger than {MAX_BYTES} bytes.", "Split it.")
        )
        return document
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as failure:
        document.flaws.append(_syntax(failure, text))
        return document
    except RecursionError:
        document.flaws.append(
            Flaw("project.yaml", "The file is nested too deep.", "Write it flatter.")
        )
        return document
    if root is not None:
        builder = _Builder(document)
        document.value = builder.build(root, (), ())
    return document


def from_mapping(value: Mapping[str, Any]) -> Document:
    """A document without lines, for a project given as a value."""
    return Document(value)


def odd_values(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The values that no project can hold, with their paths and why: JSON has no form for them."""
    if len(path) > MAX_DEPTH:
        yield path, "it is nested too deep"
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from odd_values(one, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from odd_values(one, (*path, number))
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, "it is no number that can be counted with"
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield path, "it is larger than a number of 64 bits"
    elif not isinstance(value, str | int | float | None):
        yield path, f"it is a {type(value).__name__}"


class _Builder:
    """Turns YAML's nodes into values and notes their places."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.count = 0

    def build(self, node: yaml.Node, path: Path, above: tuple[yaml.Node, ...]) -> Any:
        self.count += 1
        mark = node.start_mark
        self.document.values.setdefault(path, (mark.line + 1, mark.column + 1))
        if self.count > MAX_NODES or len(above) > MAX_DEPTH or node in above:
            if not any(flaw.code == "project.yaml" for flaw in self.document.flaws):
                self.flaw(
                    "project.yaml",
                    node,
                    "The file refers to itself or is too large.",
                    "Write it out.",
                )
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path, (*above, node))
        if isinstance(node, yaml.SequenceNode):
            return [
                self.build(item, (*path, number), (*above, node))
                for number, item in enumerate(node.value)
            ]
        return self.scalar(node)

    def mapping(self, node: yaml.MappingNode, path: Path, above: tuple[yaml.Node, ...]) -> Any:
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag.endswith(":merge"):
                self.flaw("project.yaml", key, "A key must be a plain word.", "Write `key: value`.")
                continue
            name = str(key.value)
            here = (*path, name)
            if name in found:
                first = self.document.keys[here][0]
                self.flaw(
                    "project.duplicate-key",
                    key,
                    f"Key {name!r} is there twice; the first is on line {first}.",
                    "Keep one of them.",
                )
                continue
            self.document.keys[here] = (key.start_mark.line + 1, key.start_mark.column + 1)
            found[name] = self.build(value, here, above)
        return found

    def scalar(self, node: yaml.Node) -> Any:
        try:
            return yaml.SafeLoader("").construct_object(node)
        except (yaml.YAMLError, ValueError) as failure:
            self.flaw(
                "project.yaml",
                node,
                f"{node.value!r} cannot be read: {failure}.",
                "Put it in quotes.",
            )
            return None

    def flaw(self, code: str, node: yaml.Node, message: str, hint: str) -> None:
        mark = node.start_mark
        self.document.flaws.append(Flaw(code, message, hint, mark.line + 1, mark.column + 1))


def _syntax(failure: yaml.YAMLError, text: str) -> Flaw:
    mark = getattr(failure, "problem_mark", None)
    line = mark.line + 1 if mark else None
    column = mark.column + 1 if mark else None
    reason = getattr(failure, "problem", None) or getattr(failure, "reason", None) or str(failure)
    written = text.splitlines()[line - 1] if line and line <= len(text.splitlines()) else ""
    if "\t" in written[: (column or 0)]:
        return Flaw(
            "project.tab",
            "A line is indented with a tab.",
            "Indent with spaces only.",
            line,
            column,
        )
    return Flaw(
        "project.yaml",
        f"The file is not YAML: {reason}.",
        "Check the indentation, colons, brackets and quotes around this line.",
        line,
        column,
    )
