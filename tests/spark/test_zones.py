"""A worker in another time zone: what it tells, hashes and finds is what it would be in UTC."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.products.log import Log
from weft.lineage.fingerprint import record_hash
from weft.testing import play

AT = "2024-10-27T01:30:00Z"
"""In Berlin the second time that it is half past two that day: the first was an hour before."""
MICROS = 1_729_992_600_000_000
PROJECT: dict[str, Any] = {
    "app_name": "zones",
    "tables": {
        "visits": {
            "topic": "visits",
            "key": ["at"],
            "columns": {"at": "timestamp", "who": "string", "days": "array<struct<at:timestamp>>"},
        }
    },
    "streams": {
        "orders": {
            "source": {"mock": {}},
            "schema": {"id": "long", "at": "timestamp", "local": "timestamp_ntz"},
            "key": "id",
            "event_time": "at",
        }
    },
    "products": {"daily": {"root": "visits"}},
    "pipelines": {
        "times": {"from": "visits", "group": {"by": ["at"], "aggregate": {"n": "count(*)"}}},
        "clean": {
            "from": "orders",
            "steps": [{"filter": "id > 0"}, {"set": {"hour": "hour(at)"}}],
            "to": "clean",
        },
    },
}


@pytest.fixture(params=["UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The zone of this machine for a while."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_records_and_documents_are_told_in_utc(tmp_path: Path, zone: str) -> None:
    log = Log()
    with play(PROJECT, storage=tmp_path / "s") as run:
        order = {"id": 1, "at": AT, "local": "2024-10-27T02:30:00"}
        run.feed("orders", [order])
        run.feed("visits", [log("c", at=MICROS, who="ann", days=[{"at": MICROS}])])
        told = {}
        for stream in ("clean", "times", "daily"):
            [row] = run.rows(stream, weft=True)
            found = run.api.get(f"/records/{stream}/{row['_weft']['id']}").json()["explained"]
            assert found["row"]["at"] == "2024-10-27 01:30:00"
            [parent] = found["parents"]
            assert parent["row"]["at"] == "2024-10-27 01:30:00", zone
            told[stream] = found
        assert told["daily"]["row"]["days"] == [{"at": "2024-10-27 01:30:00"}]
        last = told["clean"]["steps"][-1]
        assert last["after"]["local"] == "2024-10-27 02:30:00" and last["after"]["hour"] == 1
        [row] = run.rows("clean", weft=True)
        schema = run.worker.project.schema_of("clean") if run.worker.project else None
        assert schema is not None
        assert last["hash_after"] == record_hash(row, schema.to_json()).hex()
        [made] = run.api.get(f"/causes/daily/{AT}").json()["rows"]
        assert made["key"] == {"at": "2024-10-27 01:30:00"}
