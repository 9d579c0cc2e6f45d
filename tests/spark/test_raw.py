"""Records kept as their source gave them: what is kept, what goes with what, and replays that need no source."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_history import trim, verify
from tests.spark.test_replay import PROJECT, orders, replay
from weft.errors import WeftError
from weft.runtime import past
from weft.testing import Play, play

BAD = b"no \x1b[2J order, \xff"
HOSTILE = '{"id": 7, "country": "a/b#c \\"[bold]\\" \\u2603", "total": 1.50, "at": "2026-01-01T00:00:00Z", "more": [1]}'


def keeping(raw: float | None, **history: Any) -> dict[str, Any]:
    project = copy.deepcopy(PROJECT)
    project["streams"]["orders"]["history"] = {"raw": raw, **history} if raw else history
    return project


def given(run: Play) -> list[bytes]:
    return [row["value"] for row in run.rows("orders.raw")]


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources give nothing that they have given before."""

    def gone(*_: Any, **__: Any) -> None:
        raise WeftError("It is gone.", code="source.gone")

    monkeypatch.setattr(past, "open_again", gone)


def test_everything_is_kept_as_it_came(tmp_path: Path) -> None:
    with play(keeping(1), storage=tmp_path / "s") as run:
        run.attach(stream="orders", steps=[{"filter": "id > 100"}])
        run.feed("orders", [HOSTILE, BAD, *orders(1)])
        assert given(run)[:2] == [HOSTILE.encode(), BAD]
        assert len(given(run)) == 6
        assert run.rows("orders") == []
        assert run.knots("orders")[-1].outputs["orders.raw"].rows == 6
        kinds = {one["name"]: one["kind"] for one in run.api.get("/streams").json()}
        assert kinds["orders.raw"] == "raw"
        refused = run.api.post(
            "/rules", json={"stream": "orders.raw", "steps": [{"drop": "value"}]}
        )
        assert refused.json()["code"] == "rule.bad-target"
    assert verify(tmp_path / "s").is_clean


@pytest.mark.usefixtures("forgetful")
def test_a_replay_needs_no_source(tmp_path: Path) -> None:
    with play(keeping(1), storage=tmp_path / "s") as run:
        run.feed("orders", [HOSTILE, BAD, *orders(0)])
        run.attach(stream="orders", steps=[{"set": {"country": "upper(country)"}}])
        run.feed("orders", orders(1))
        run.watermark("orders", "2026-01-01T00:01:00Z")
        assert replay(run, "orders", after=0)["verified"] is True
        assert replay(run, "revenue", after=0, source="orders")["verified"] is True
        [first] = [row for row in run.rows("orders", weft=True) if row["id"] == 7]
        found = run.api.get(f"/records/clean-orders/{first['_weft']['id']}").json()["explained"]
        assert found["parents"][0]["raw"] == HOSTILE


@pytest.mark.usefixtures("forgetful")
def test_without_them_it_does(tmp_path: Path) -> None:
    with play(keeping(None), storage=tmp_path / "s") as run:
        run.feed("orders", orders(0))
        answer = run.api.post("/replays", json={"stream": "orders", "after": 0}).json()
        assert answer["code"] == "source.gone"
        assert run.rows("orders.raw") == []


def test_an_altered_raw_record_is_named(tmp_path: Path) -> None:
    with play(keeping(1), storage=tmp_path / "s") as run:
        for batch in range(3):
            run.feed("orders", orders(batch))
        file = sorted(Path(run.storage.table("orders.raw")).rglob("*.parquet"))[1]
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
        answer = run.api.post("/replays", json={"stream": "orders", "after": 0}).json()
        assert file.name in str(answer.get("first") or answer), answer


def test_a_share_is_by_key_and_has_what_cannot_be_read(tmp_path: Path) -> None:
    with play(keeping(0.5), storage=tmp_path / "s") as run:
        run.feed("orders", [BAD, *(one for batch in range(10) for one in orders(batch))])
        kept = given(run)
        assert BAD in kept
        assert 5 < len(kept) < 36
        run.feed("orders", [one for batch in range(10) for one in orders(batch)])
        again = given(run)[len(kept) :]
        assert again == [one for one in kept if one != BAD]
        assert replay(run, "orders", after=0)["verified"] is True  # from the source


def test_they_are_rolled_back_and_go_with_their_stream(tmp_path: Path) -> None:
    with play(keeping(1, keep_mb=0), storage=tmp_path / "s") as run:
        for batch in range(4):
            run.feed("orders", orders(batch))
        run.rollback("orders", to=3)
        assert len(given(run)) == 16  # the last micro-batch came again
        assert {one.number for one in run.knots("orders")} == {1, 2, 3, 5}
        assert trim(run, "orders.raw")["status"] == "done"
        assert len(given(run)) == 4
    assert verify(tmp_path / "s").is_clean


def test_they_can_be_asked_for_later(tmp_path: Path) -> None:
    with play(keeping(None), storage=tmp_path / "s") as run:
        run.feed("orders", orders(0))
        run.apply(keeping(1))
        run.feed("orders", orders(1))
        assert len(given(run)) == 4
        assert replay(run, "orders", after=0)["verified"] is True
        run.apply(keeping(None))
        run.feed("orders", orders(2))
        assert len(given(run)) == 4
        assert replay(run, "orders", after=0)["verified"] is True
    assert verify(tmp_path / "s").is_clean


@pytest.mark.parametrize("point", ["between", "written"])
def test_a_crash_keeps_each_once(tmp_path: Path, point: str) -> None:
    with play(keeping(1), storage=tmp_path / "s") as run:
        run.feed("orders", orders(0))
        run.crash(point)
        run.feed("orders", orders(1))
        run.resume()
        assert len(given(run)) == len(set(given(run))) == 8
