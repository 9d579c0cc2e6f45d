"""What `weft product explain` and `check` show fits a narrow terminal, with values as they are."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from weft.cli.comparison import Comparison
from weft.cli.output import Printer
from weft.cli.product import _render_causes, _render_comparison
from weft.products.compare import DocumentDifference


def cause(part: str, table: str, op: str, *parts: dict[str, Any], **key: Any) -> dict[str, Any]:
    return {
        "part": part,
        "table": table,
        "key": key,
        "id": f"app.public.{table}/0/345",
        "knot": 12,
        "op": op,
        "position": "000000016B3748.0001",
        "at": "2026-11-16T12:00:00+00:00",
        "transaction": None,
        "kept": {"about": "app.public.repo/0/12"} if table == "repo" else {},
        "parts": list(parts),
    }


ODD = "[bold]a[/bold]"
EXPECTED = """\
profile ann@x, written by knot 17
└── users email=ann@x
    ├── updated by app.public.users/0/345, knot 12
    ├── 2026-11-16T12:00:00+00:00, position 000000016B3748.0001
    └── starred: star name=[bold]a[/bold]
        ├── inserted by app.public.star/0/345, knot 12
        ├── 2026-11-16T12:00:00+00:00, position 000000016B3748.0001
        └── starred.repo: repo name=a
            ├── read by app.public.repo/0/345, knot 12
            ├── 2026-11-16T12:00:00+00:00, position 000000016B3748.0001
            └── about is from app.public.repo/0/12
"""


def test_what_made_a_document_is_a_tree_with_values_as_they_are() -> None:
    star = cause("starred", "star", "c", cause("starred.repo", "repo", "r", name="a"), name=ODD)
    document = {"product": "profile", "key": ["ann@x"], "knot": 17}
    found = {"document": document, "rows": [cause("", "users", "u", star, email="ann@x")]}
    console = Console(file=io.StringIO(), width=80)
    _render_causes(Printer(console), found)
    assert isinstance(console.file, io.StringIO)
    shown = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert shown == EXPECTED.splitlines()


def test_a_difference_names_its_key_and_fields() -> None:
    differs = DocumentDifference(("ann", 7), "different", ("name",), {"name": "a"}, {"name": "b"})
    found = Comparison(1, 1, (differs,)).shown(10)
    assert found["differences"][0]["key"] == ["ann", 7]
    console = Console(file=io.StringIO(), width=80)
    _render_comparison(Printer(console), found)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue().splitlines()[1]
    assert shown.split() == ["ann,", "7", "different", "name", '{"name":"a"}', '{"name":"b"}']
