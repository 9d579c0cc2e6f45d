"""The rooms of the tree: each imports only what stands above it in CONTRIBUTING, and each is listed there."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "weft"
LINE = re.compile(r"^  ([a-z]+)(/|\.py) ", re.MULTILINE)


def listed() -> list[str]:
    """The rooms in their order, as CONTRIBUTING lists them."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    tree = text[text.index("src/weft/") : text.index("\nkernel/")]
    return [found[1] for found in LINE.finditer(tree)]


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        yield ".".join(parts), ast.parse(path.read_text())


def imports(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module and room_of(node.module) != "weft":
            yield node.module
        elif isinstance(node, ast.ImportFrom) and node.module == "weft":
            yield from (f"weft.{name.name}" for name in node.names)


def test_every_room_is_in_the_list_and_everything_in_the_list_is_there() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    alone = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    assert set(listed()) == rooms | alone


def test_imports_point_up_the_list() -> None:
    order = {room: place for place, room in enumerate(listed())}
    down = [
        f"{name} imports {other}"
        for name, module in modules()
        for other in imports(module)
        if other.startswith("weft.")
        and room_of(name) in order
        and room_of(other) in order
        and order[room_of(other)] > order[room_of(name)]
    ]
    assert down == []


def test_only_the_door_touches_the_jvm() -> None:
    inside = ("_jvm", "_jdf", "_jc", "_jsparkSession", "_jsc")
    around = {
        name
        for name, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and node.attr in inside
    }
    assert around == {"weft.kernel"}


def test_a_class_name_means_one_thing() -> None:
    named = defaultdict(set)
    for name, module in modules():
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                named[node.name].add(name)
    assert {name: where for name, where in named.items() if len(where) > 1} == {}
