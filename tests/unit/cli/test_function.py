"""`weft function`: what it asks, and what it prints of versions."""

from __future__ import annotations

from typing import Any

from tests.unit.cli.fake import FakeWeaver, run

OLD, NEW = "ab" * 32, "cd" * 32


def make_version(**fields: Any) -> dict[str, Any]:
    return {
        "kind": "function",
        "ref": "rules:mask",
        "version": OLD,
        "current": True,
        "pipelines": ["clean"],
        "rules": ["big"],
        "projects": ["9a" * 32],
        "since": "2026-01-01T00:00:00.000000Z",
        "knots": [{"stream": "clean-orders", "first": 3, "last": None}],
        **fields,
    }


def make_definition(**fields: Any) -> dict[str, Any]:
    return {
        "version": make_version(),
        "sources": {"shop.rules": "def mask(record):\n    return record\n"},
        "intact": True,
        "form": "row",
        "needs": ["numpy>=2"],
        "installed": {"numpy": "2.1.3"},
        "python": "3.11",
        "spark": "4.2.0",
        "kernel": "78" * 32,
        "returns": None,
        "adds": {"gross": "decimal(12,2)"},
        "calls": [
            {"pipeline": "clean", "step": 2, "parameters": {"rate": "0.19"}, "version": NEW},
        ],
        "functions": {},
        "differs": ["package numpy: 2.1.3 when it was recorded, 2.2.0 here"],
        **fields,
    }


def test_versions_are_lines_with_who_uses_them_and_since_which_knot() -> None:
    weaver = FakeWeaver({"GET /functions": [make_version(), make_version(kind="rule", knots=[])]})
    heading, line, _ = run("function", "list", "rules:mask", weaver=weaver).stdout.splitlines()
    assert heading.split("  ")[0] == "KIND" and "USED BY" in heading
    assert "ababababab" in line and "clean, rule big" in line and "clean-orders 3–" in line
    assert weaver.params == {"ref": "rules:mask"}


def test_a_version_is_shown_with_its_sources_and_what_is_another_here() -> None:
    weaver = FakeWeaver({"GET /functions/rules:mask/ab": make_definition()})
    shown = run("function", "show", "rules:mask", "ab", weaver=weaver).stdout
    assert "# shop/rules.py\ndef mask(record):\n    return record\n" in shown
    assert "step 2 of clean: rate 0.19" in shown
    assert "It is not the same here: package numpy" in shown
    assert "numpy 2.1.3" in shown and "gross decimal(12,2)" in shown


def test_without_a_version_the_newest_is_shown_and_any_name_is_asked_for() -> None:
    weaver = FakeWeaver({"GET /functions/a 'b\"": make_definition(intact=False)})
    shown = run("function", "show", "a 'b\"", "--kind", "function", weaver=weaver)
    assert shown.exit_code == 0 and "not those that its version was made of" in shown.stdout
    assert weaver.params == {"kind": "function"}


def test_a_diff_is_printed_as_it_is_with_what_else_differs() -> None:
    answer = {
        "kind": "function",
        "ref": "rules:mask",
        "before": OLD,
        "after": NEW,
        "diff": "--- a/rules.py\n+++ b/rules.py\n@@ -1 +1 @@\n-KEEP = 1\n+KEEP = 2\n",
        "others": [{"what": "Python", "before": "3.11", "after": None}],
    }
    weaver = FakeWeaver({"GET /functions/rules:mask/ab/diff/cd": answer})
    shown = run("function", "diff", "rules:mask", "ab", "cd", weaver=weaver).stdout
    assert shown == answer["diff"] + "\nPython: 3.11 → -\n"
