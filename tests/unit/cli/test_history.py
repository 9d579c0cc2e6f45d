"""What is kept, at a terminal: what is asked, and how it reads."""

from __future__ import annotations

from typing import Any

from tests.unit.cli.fake import FakeWeaver, run
from weft import codec
from weft.project.settings import HistorySpec
from weft.weaver.history import KeptStates, NextExpiry, StreamHistory
from weft.weaver.routes.history import TrimView

SINCE = "2026-01-01T00:00:00.000000Z"
ORDERS = StreamHistory(
    *("orders", HistorySpec(30, 10_240), 40, 41, SINCE, 90, 50, 5000, 1_234_567),
    source="python",
    source_first=61,
    next=NextExpiry(45, 500, 123_456, "pipeline revenue"),
)
REVENUE = StreamHistory(
    *("revenue", HistorySpec(), 0, 1, SINCE, 30, 30, 300, 9_000),
    states=KeptStates(2, 10, 12, 45_000_000),
)
TOLD = [codec.to_form(ORDERS), codec.to_form(REVENUE)]


def trimmed(**fields: Any) -> dict[str, Any]:
    form: dict[str, Any] = codec.to_form(
        TrimView(**{"stream": "orders", "status": "done", **fields})
    )
    return form


def test_without_a_verb_every_stream_is_listed_within_80_columns() -> None:
    weaver = FakeWeaver({"GET /history": TOLD})
    listed = run("history", weaver=weaver)
    assert listed.exit_code == 0
    assert listed.stdout == run("history", "list", weaver=weaver).stdout
    first = listed.stdout.splitlines()[1]
    assert first.split()[:2] == ["orders", "41"]
    assert "1.2 MB" in first and "30 d, 10240 MB" in first and first.rstrip().endswith("to 45")
    assert max(map(len, listed.stdout.splitlines())) <= 80


def test_one_stream_is_told_in_full() -> None:
    told = run("history", "show", "orders", weaver=FakeWeaver({"GET /history": TOLD[:1]})).stdout
    assert "knots 41 to 90" in told
    assert "the rows of knots up to 40" in told
    assert "python, from knot 61 on" in told
    assert "up to 45, 123.5 kB: more is kept for pipeline revenue" in told
    told = run("history", "show", "revenue", weaver=FakeWeaver({"GET /history": TOLD[1:]})).stdout
    assert "45.0 MB, every knot from 12 on, 2 keyframes from knot 10 on" in told


def test_trimming_says_what_goes_and_what_went() -> None:
    steps = ("let the rows of knots 1 to 9 of orders go (90 rows, 900 bytes)",)
    path = "POST /history/orders/trim"
    weaver = FakeWeaver({path: trimmed(status="planned", steps=steps)})
    planned = run("history", "trim", "orders", "--dry-run", weaver=weaver)
    assert steps[0] in planned.stdout and weaver.params == {"dry_run": "true"}
    result = {"upto": 9, "files": 12, "bytes": 900}
    weaver = FakeWeaver({path: trimmed(steps=steps, id="expire-1", result=result)})
    done = run("history", "trim", "orders", "--note", "full disk", weaver=weaver)
    assert "expire-1: the rows of knots up to 9 of orders are gone" in done.stdout
    assert weaver.body["note"] == "full disk"
    nothing = run("history", "trim", "orders", weaver=FakeWeaver({path: trimmed(status="nothing")}))
    assert "nothing that orders need not keep" in nothing.stdout
