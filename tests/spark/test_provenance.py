"""What was done to each record is written beside its stream: for none, a share or all of them, once, and rightly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.spark.projects import CLEAN, REVENUE, order, orders, shop
from weft.cli.rows import newest_rows
from weft.lineage.fingerprint import record_hash
from weft.lineage.provenance import RecordProvenance, record_provenance
from weft.locations.location import locate
from weft.streams.storage import Storage
from weft.testing import Play, play
from weft.weaver.verification import verify_storage
from weft.weaver.watching import Watching

FULL = {"provenance": "full"}
MASK = '''
import weft

def mask(record):
    """Masks, drops number 3, and cannot stand number 4."""
    if record["id"] == 3:
        return None
    if record["id"] == 4:
        raise ValueError("not this one")
    return {**record, "email": "*"}
'''


def project(*, to: Any = FULL, source: Any = None, **pipelines: dict[str, Any]) -> dict[str, Any]:
    """The shop, with provenance of what comes in and of what goes out."""
    made = shop(**(pipelines or {"clean": CLEAN}))
    made["streams"] = {"orders": {**made["streams"]["orders"], **(source or {})}}
    for spec in made["pipelines"].values():
        made["streams"][spec["to"]] = to
    return made


def told(run: Play, stream: str) -> dict[str, RecordProvenance]:
    """The provenance of a stream's records by their ids, each of them once."""
    knots = {knot.number: knot for knot in run.knots(stream)}
    rows = run.rows(f"{stream}.provenance", weft=True)
    found = [record_provenance(row, knots[row["_weft"]["knot"]]) for row in rows]
    assert max(Counter(one.id for one in found).values(), default=1) == 1
    return {one.id: one for one in found}


def hashes(run: Play, stream: str) -> dict[str, str]:
    """The hash of each row of a stream by its id, computed in Python from what is stored."""
    schema = run.project.schema_of(stream)
    found = {}
    for row in run.rows(stream, weft=True):
        added = [name for name in row if schema.find(name) is None and name != "_weft"]
        assert not added
        found[row["_weft"]["id"]] = record_hash(row, schema.to_json()).hex()
    return found


def assert_chained(one: RecordProvenance) -> None:
    """Each step begins with the hash that the one before ended with, and only the last may have ended the record."""
    ends = [one.came, *(step.after for step in one.steps)]
    assert [step.before for step in one.steps] == ends[: len(one.steps)]
    assert all(step.verdict == "kept" for step in one.steps[:-1])
    assert all(before is not None for before, _ in pairwise(ends))


def assert_clean(folder: Path) -> None:
    assert verify_storage(Storage(str(folder)), deep=True).findings == []


def test_every_record_has_its_way_from_the_row_read_to_the_row_written(tmp_path: Path) -> None:
    source = {"provenance": "full"}
    with play(project(source=source), storage=tmp_path) as run:
        run.feed("orders", [*orders(0, 9), "no order"])
        came, clean = told(run, "orders"), told(run, "clean-orders")
        read, written = hashes(run, "orders"), hashes(run, "clean-orders")
        knot = run.knots("clean-orders")[-1]
        assert len(came) == 10 and len(clean) == 9
        for one in (*came.values(), *clean.values()):
            assert_chained(one)
        assert {who: one.left for who, one in came.items() if one.left} == read
        assert {who: one.came for who, one in clean.items()} == read
        assert {who: one.left for who, one in clean.items() if one.left} == written
        kept = next(one for one in clean.values() if one.left)
        assert [step.name for step in kept.steps] == ["step:0", "step:1"]
        assert kept.steps[0].before == kept.steps[0].after != kept.steps[1].after
        assert knot.provenance is not None
        assert [step.version for step in kept.steps] == [s.version for s in knot.provenance.steps]
        assert (kept.source, kept.partition, kept.executor.count("/")) == ("orders", 0, 1)
        dropped = [one for one in clean.values() if one.verdict == "filtered"]
        assert [(one.by, len(one.steps), one.left) for one in dropped] == [("step:0", 1, None)] * 2
        [dead] = [one for one in came.values() if one.verdict == "dead"]
        assert (dead.by, dead.came, dead.steps) == ("parse", None, ())
        assert run.api.get("/streams/clean-orders.provenance").json()["kind"] == "provenance"
        name = "clean-orders.provenance"
        table = Path(run.storage.table(name))
        shown = newest_rows(locate(table), name, limit=20, weft=True)
        assert {row["_weft"]["id"]: row["hashes"][0] for row in shown} == read
    assert_clean(tmp_path)


def test_nothing_is_written_where_nothing_is_said(tmp_path: Path) -> None:
    with play(project(to={"provenance": "lazy"}), storage=tmp_path) as run:
        run.feed("orders", orders(0, 3))
        assert run.knots("clean-orders")[-1].provenance is None
        names = [stream["name"] for stream in run.api.get("/streams").json()]
        assert not [name for name in names if name.endswith(".provenance")]


def test_a_sample_is_stable_by_key_and_has_what_was_flagged(tmp_path: Path) -> None:
    steps = [{"filter": "total >= 0"}, {"set": {"share": "6 / (id % 10 - 5)"}}]
    clean = {"from": "orders", "steps": steps, "to": "clean-orders"}
    sampled = {"provenance": {"sampled": 0.3}}
    with play(project(to=sampled, source=sampled, clean=clean), storage=tmp_path) as run:
        run.feed("orders", orders(0, 100))
        run.feed("orders", orders(0, 100))
        dead = {row["_weft"]["id"] for row in run.rows("clean-orders.dead", weft=True)}
        assert len(dead) == 20
        key = {row["_weft"]["id"]: row["id"] for row in run.rows("orders", weft=True)}
        came, clean_told = told(run, "orders"), told(run, "clean-orders")
        chosen = {key[who] for who in came}
        assert 15 < len(chosen) < 45 and len(came) == 2 * len(chosen)
        assert {key[who] for who in clean_told.keys() - dead} == {
            one for one in chosen if one % 10 != 5
        }
        assert dead <= clean_told.keys()
        for who in dead:
            assert_chained(clean_told[who])
            assert (clean_told[who].verdict, clean_told[who].by) == ("dead", "step:1")
            assert clean_told[who].came == hashes(run, "orders")[who]
        written = hashes(run, "clean-orders")
        assert all(one.left == written[who] for who, one in clean_told.items() if one.left)
    assert_clean(tmp_path)


def test_a_sample_has_all_records_of_the_knots_after_an_unusual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = {"provenance": {"sampled": 0.0001}}
    # The second knot of every stream follows an unusual one.
    monkeypatch.setattr(Watching, "is_flagged", lambda _, stream, number: number == 2)
    with play(project(to=sample), storage=tmp_path) as run:
        for batch in range(3):
            run.feed("orders", orders(batch * 9, 9))
        first, second, third = run.knots("clean-orders")
        assert [one.flagged for one in (first, second, third)] == [False, True, False]
        modes = [one.provenance.mode for one in (first, second, third) if one.provenance]
        assert modes == ["sampled", "full", "sampled"]
        written = [one["_weft"]["knot"] for one in run.rows("clean-orders.provenance", weft=True)]
        assert Counter(written)[2] == second.ledger.rows_in
        assert len(written) < second.ledger.rows_in + 5
        answer = run.api.post("/replays", json={"stream": "clean-orders", "after": 0}).json()
        assert answer["verified"] is True
    assert_clean(tmp_path)


def test_rules_are_part_of_the_way_of_the_records_that_took_them(tmp_path: Path) -> None:
    with play(project(to=FULL), storage=tmp_path) as run:
        run.attach(
            stream="clean-orders",
            steps=[{"set": {"country": "upper(country)"}}, {"filter": "id <> 8"}],
            id="half",
            percent=50,
        )
        run.attach(stream="clean-orders", steps=[{"filter": "id <> 9"}], id="nine")
        run.feed("orders", orders(0, 40))
        found = told(run, "clean-orders")
        rows = {row["_weft"]["id"]: row for row in run.rows("clean-orders", weft=True)}
        written = hashes(run, "clean-orders")
        assert len(found) == 40
        taken = 0
        for who, one in found.items():
            assert_chained(one)
            names = [step.name for step in one.steps]
            if one.verdict != "kept":
                assert names[-1] == one.by
                continue
            assert one.left == written[who]
            is_half = rows[who]["country"].isupper()
            taken += is_half
            half = ["rule:half", "rule:half"] if is_half else []
            assert names == ["step:0", "step:1", *half, "rule:nine"]
        assert 5 < taken < 30
        assert {one.by for one in found.values()} >= {None, "step:0", "rule:nine"}
    assert_clean(tmp_path)


def test_a_copy_for_a_side_stream_is_flagged_and_leaves_the_record_as_it_was(
    tmp_path: Path,
) -> None:
    with play(project(to={"provenance": {"sampled": 0.0001}}), storage=tmp_path) as run:
        steps = [{"filter": "id < 3"}, {"set": {"email": "'x'"}}, {"drop": "country"}]
        run.attach(stream="clean-orders", steps=steps, id="aside", output="beside")
        run.attach(stream="clean-orders", steps=[{"rename": {"email": "mail"}}], id="named")
        run.feed("orders", orders(1, 6))
        found = told(run, "clean-orders")
        copied = {row["_weft"]["id"] for row in run.rows("beside", weft=True)}
        assert found.keys() == copied and len(copied) == 2
        read = hashes(run, "orders")
        for who, one in found.items():
            assert_chained(one)
            assert one.came == read[who]
            assert [step.name for step in one.steps] == ["step:0", "step:1", "rule:named"]
            # A new name is no new value.
            assert one.steps[-1].before == one.left
    assert_clean(tmp_path)


@pytest.mark.parametrize("mode", ["full", {"sampled": 0.0001}])
def test_python_functions_are_steps_like_others(tmp_path: Path, mode: Any) -> None:
    (tmp_path / "shop_rules.py").write_text(MASK)
    steps = [{"set": {"total": "total + 1"}}, {"function": "shop_rules:mask"}, {"drop": "country"}]
    clean = {"from": "orders", "steps": steps, "to": "clean-orders"}
    made = project(to={"provenance": mode}, clean=clean)
    with play(made, storage=tmp_path / "storage", folder=tmp_path) as run:
        run.feed("orders", orders(1, 6))
        found = told(run, "clean-orders")
        key = {row["_weft"]["id"]: row["id"] for row in run.rows("orders", weft=True)}
        [dead] = [one for one in found.values() if one.verdict == "dead"]
        assert key[dead.id] == 4 and [step.name for step in dead.steps] == ["step:0", "step:1"]
        if mode != "full":
            # What it was before Python is not known of a record that was not in the share.
            assert found.keys() == {dead.id}
            assert (dead.came, dead.steps[0].after) == (None, None)
            return
        read, written = hashes(run, "orders"), hashes(run, "clean-orders")
        assert len(found) == 6
        for who, one in found.items():
            assert_chained(one)
            assert one.came == read[who]
            assert one.left == written.get(who)
        [dropped] = [one for one in found.values() if one.verdict == "filtered"]
        assert key[dropped.id] == 3 and dropped.by == "step:1"
    assert_clean(tmp_path / "storage")


@pytest.mark.parametrize("point", ["write", "between", "written"])
def test_a_worker_that_dies_tells_nothing_twice(tmp_path: Path, point: str) -> None:
    with play(project(source=FULL), storage=tmp_path) as run:
        run.feed("orders", orders(0, 5))
        run.crash(point)
        run.feed("orders", [*orders(5, 5), "bad"])
        run.resume()
        assert len(told(run, "orders")) == 11
        assert len(told(run, "clean-orders")) == 10
        assert {who: one.left for who, one in told(run, "orders").items() if one.left} == hashes(
            run, "orders"
        )
    assert_clean(tmp_path)


def test_provenance_is_rolled_back_with_its_stream(tmp_path: Path) -> None:
    with play(project(source=FULL), storage=tmp_path) as run:
        run.feed("orders", orders(0, 5))
        before = told(run, "orders"), told(run, "clean-orders")
        to = run.knots("orders")[-1].number
        run.attach(stream="orders", steps=[{"set": {"email": "'oops'"}}], id="oops")
        run.feed("orders", orders(5, 5))
        assert len(told(run, "orders")) == 10
        run.rollback("orders", to=to)
        after = told(run, "orders")
        assert len(after) == 10 and {who: after[who] for who in before[0]} == before[0]
        assert all(not one.steps for one in after.values())
        assert {who: one.came for who, one in told(run, "clean-orders").items()} == hashes(
            run, "orders"
        )
    assert_clean(tmp_path)


def test_panes_have_a_way_from_where_the_window_made_them(tmp_path: Path) -> None:
    made = project(clean=CLEAN, revenue=REVENUE)
    with play(made, storage=tmp_path) as run:
        run.attach(stream="revenue", steps=[{"filter": "country = 'de'"}], id="german")
        run.feed("orders", orders(0, 30))
        run.feed("orders", [order(60)])
        run.feed("orders", [order(1, total="3")])
        found, written = told(run, "revenue"), hashes(run, "revenue")
        ledger = run.knots("revenue")[-1].ledger
        assert ledger.late and {who: one.left for who, one in found.items() if one.left} == written
        assert {one.by for one in found.values()} == {None, "rule:german"}
    assert_clean(tmp_path)


HOSTILE: Mapping[str, str] = {
    "it`s": "string",
    "steps": "string",
    "hashes": "array<string>",
    "select": "struct<a: int, `b c`: map<string, decimal(30,5)>>",
    "verdict": "double",
    "by": "decimal(18,3)",
    "größe": "string",
    "id": "long",
}


def test_columns_and_values_of_any_kind_are_hashed_as_they_are_written(tmp_path: Path) -> None:
    values = [
        {"it`s": "'; --", "steps": "\u0000`\\", "hashes": ["a", None, ""], "verdict": -0.0},
        {"select": {"a": None, "b c": {"z": "1.5", "a": None}}, "by": "-0.001", "verdict": 1e300},
        {"größe": "🧀" * 3000, "by": "999999999999999.999", "hashes": []},
        {},
    ]
    steps = [
        {"rename": {"steps": "_", "by": "steps"}},
        {"set": [{"by": "steps / 3"}, {"select": "`select`"}]},
        {"set": {"verdict": "verdict * 2", "hashes": "transform(hashes, x -> upper(x))"}},
        {"select": ["id", "it`s", "verdict", "select", "hashes", "größe", "by", "_"]},
    ]
    made = project(clean={"from": "orders", "steps": steps, "to": "clean-orders"})
    made["streams"]["orders"] = {"source": {"mock": {}}, "schema": dict(HOSTILE)}
    with play(made, storage=tmp_path) as run:
        run.feed("orders", [{"id": number, **value} for number, value in enumerate(values)])
        found = told(run, "clean-orders")
        assert len(found) == len(values)
        assert {who: one.came for who, one in found.items()} == hashes(run, "orders")
        written = hashes(run, "clean-orders")
        for who, one in found.items():
            assert_chained(one)
            assert one.left == written.get(who) and len(one.steps) == 4
    assert_clean(tmp_path)


def test_another_mode_holds_from_the_next_batch_on(tmp_path: Path) -> None:
    with play(project(to={"provenance": "lazy"}), storage=tmp_path) as run:
        run.feed("orders", orders(0, 3))
        assert run.apply(project(to=FULL))["changed"] == ["clean"]
        run.feed("orders", orders(3, 3))
        assert len(told(run, "clean-orders")) == 3
        run.apply(project(to={"provenance": "lazy"}))
        run.feed("orders", orders(6, 3))
        assert len(run.rows("clean-orders.provenance")) == 3
        assert [bool(knot.provenance) for knot in run.knots("clean-orders")].count(True) == 1
    assert_clean(tmp_path)


def test_provenance_takes_no_rules_and_is_counted(tmp_path: Path) -> None:
    with play(project(), storage=tmp_path) as run:
        run.feed("orders", orders(0, 3))
        body = {"stream": "clean-orders.provenance", "steps": [{"filter": "true"}]}
        refused = run.api.post("/rules", json=body)
        assert refused.json()["code"] == "rule.bad-target"
        named = {"stream": "orders", "steps": [{"filter": "true"}], "output": "orders.provenance"}
        assert run.api.post("/rules", json=named).json()["code"] == "rule.bad-output"
        back = run.api.post("/rollbacks", json={"stream": "clean-orders.provenance", "to": 0})
        assert back.json()["code"] == "rollback.side-stream"
    report = verify_storage(Storage(str(tmp_path)), deep=True)
    assert report.findings == [] and report.counts["rows"] == 3 + 2 + 3
