"""The load of a pipeline, told from its knots and answered by the API."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.weaver.chain import make_weaver, pin
from tests.unit.weaver.test_http import ask
from weft.clock import iso
from weft.lineage.facts import Facts, Output
from weft.lineage.ledger import Ledger
from weft.weaver.weaver import Weaver

START = datetime(2026, 1, 1, tzinfo=UTC)


def tie(weaver: Weaver, seconds: int, rows: int) -> None:
    """A knot of `clean` that ends so many seconds after the start."""
    facts = Facts(
        outputs={"clean": Output(rows // 2, 10, "ab" * 32)},
        schema="cd" * 32,
        schemas={},
        ledger=Ledger(rows_in=rows, out=rows // 2, filtered={"step:1": rows - rows // 2}),
        steps=(),
        completed=iso(START + timedelta(seconds=seconds)),
    )
    number = weaver.knots.head("clean").last
    knot = pin(weaver, "clean", consumed={"orders": number + 1})
    weaver.knots.complete(knot, replace(facts, duration_ms=250), lambda _: [])


def test_rates_of_knots_are_told_by_the_minute() -> None:
    weaver = make_weaver()
    for second in range(0, 130, 10):
        tie(weaver, second, 400)
    found = ask("GET", "/scaling/history?pipeline=clean", weaver=weaver).json()
    assert (found["pipeline"], found["step_s"], found["knots"]) == ("clean", 60, 13)
    assert [row["points"] for row in found["rows"]] == [5, 6, 1]
    mean = found["rows"][1]["mean"]
    assert mean["rate_in"] == pytest.approx(40.0) and mean["rate_out"] == pytest.approx(20.0)
    assert mean["batch_ms"] == 250.0
    assert "executors" not in mean


def test_a_pipeline_without_knots_has_no_load() -> None:
    assert ask("GET", "/scaling/history?pipeline=clean", weaver=make_weaver()).json()["rows"] == []


@pytest.mark.parametrize(
    ("query", "status"), [("pipeline=none", 404), ("", 422), ("pipeline=clean&step=7s", 422)]
)
def test_what_is_not_there_is_refused(query: str, status: int) -> None:
    assert ask("GET", f"/scaling/history?{query}", weaver=make_weaver()).status_code == status
