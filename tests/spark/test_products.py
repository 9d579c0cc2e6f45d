"""Products: documents follow the changes of their tables, in any order of arrival, through crashes and rollbacks."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tests.products.document import normalised
from tests.products.envelope import UNAVAILABLE
from tests.products.log import Log, ops
from tests.products.plain import documents
from tests.products.played import assembled, live, project_of
from tests.products.world import World, make_world
from weft.errors import WeftError
from weft.loading.load import load
from weft.runtime.causes import documents_of
from weft.runtime.changed_table import changed_tables
from weft.streams.current import current
from weft.streams.storage import Storage
from weft.testing import Play, play
from weft.weaver.backup import copy_offline, put_back

USERS = {"topic": "users", "key": ["email"], "columns": {"email": "string", "username": "string"}}
STARS = {
    "topic": "stars",
    "key": ["username", "owner", "name"],
    "columns": {"username": "string", "owner": "string", "name": "string"},
}
REPOS = {
    "topic": "repos",
    "key": ["owner", "name"],
    "columns": {"owner": "string", "name": "string", "about": "string"},
}
PROFILE = {
    "root": "users",
    "parts": {
        "starred": {
            "many": "stars",
            "on": ["username"],
            "fields": {"repo": "name"},
            "parts": {
                "repo": {
                    "one": "repos",
                    "on": ["owner", "name"],
                    "inline": True,
                    "fields": ["about"],
                }
            },
        },
        "totals": {
            "many": "stars",
            "on": ["username"],
            "aggregate": {"stars": "count(*)"},
            "inline": True,
        },
    },
}
PROJECT = {
    "app_name": "profiles",
    "tables": {"users": USERS, "stars": STARS, "repos": REPOS},
    "products": {"profile": PROFILE},
}


def user(name: str, email: str | None = None) -> dict[str, str]:
    return {"email": email or f"{name}@x", "username": name}


def star(name: str, repo: str) -> dict[str, str]:
    return {"username": name, "owner": "o", "name": repo}


def repo(name: str, about: str) -> dict[str, str]:
    return {"owner": "o", "name": name, "about": about}


def profile(name: str, *starred: tuple[str, str | None]) -> dict[str, Any]:
    found = [{"repo": one, "about": about} for one, about in starred]
    return {**user(name), "starred": found, "stars": len(found)}


def profiles(run: Play) -> list[dict[str, Any]]:
    return sorted(run.documents("profile"), key=itemgetter("email"))


def test_a_document_follows_every_change_whatever_comes_first(tmp_path: Path) -> None:
    log = Log()
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("repos", [log("c", **repo("a", "A"))])
        run.feed("stars", [log("c", **star("ann", "a")), log("c", **star("ann", "b"))])
        assert profiles(run) == []
        run.feed("users", [log("c", **user("ann")), log("c", **user("bob"))])
        assert profiles(run) == [profile("ann", ("a", "A"), ("b", None)), profile("bob")]
        run.feed("repos", [log("c", **repo("b", "B")), log("u", **repo("a", "A2"))])
        assert profiles(run)[0] == profile("ann", ("a", "A2"), ("b", "B"))
        run.feed("stars", [log("d", **star("ann", "a"))])
        run.feed("users", [log("d", **user("bob"))])
        assert profiles(run) == [profile("ann", ("b", "B"))]
        assert ops(run, "profile") == ["c", "c", "u", "u", "d"]


def test_a_document_comes_out_once_in_a_batch_and_only_if_it_changed(tmp_path: Path) -> None:
    log = Log()
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann"))])
        run.feed("stars", [log("c", **star("ann", repo)) for repo in "abc"])
        assert ops(run, "profile") == ["c", "u"]
        run.feed("stars", [log("c", **star("ann", "d")), log("d", **star("ann", "d"))])
        run.feed("users", [log("u", **user("ann"))])
        assert ops(run, "profile") == ["c", "u"]


def test_an_older_event_changes_nothing_and_a_truncated_table_is_empty(tmp_path: Path) -> None:
    log = Log()
    old, new = log("c", **repo("a", "old")), log("u", **repo("a", "new"))
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann"))])
        run.feed("stars", [log("c", **star("ann", "a"))])
        run.feed("repos", [new])
        run.feed("repos", [old])
        assert profiles(run) == [profile("ann", ("a", "new"))]
        late = log("c", **star("ann", "z"))
        run.feed("stars", [log("t")])
        run.feed("stars", [late])
        assert profiles(run) == [profile("ann")]
        run.feed("stars", [log("c", **star("ann", "a"))])
        assert profiles(run) == [profile("ann", ("a", "new"))]


def test_a_new_snapshot_takes_away_what_it_does_not_hold(tmp_path: Path) -> None:
    log = Log()
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann")), log("c", **user("bob"))])
        again = log("r", **user("ann"))
        again["source"]["snapshot"] = "last"
        run.feed("users", [again])
        assert profiles(run) == [profile("ann")]
        assert [row["email"] for row in run.documents("users")] == ["ann@x"]


def test_a_rolled_back_table_takes_its_products_with_it(tmp_path: Path) -> None:
    log = Log()
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann"))])
        run.feed("stars", [log("c", **star("ann", "a"))])
        kept = run.knots("stars")[-1].number
        run.attach(stream="stars", steps=[{"filter": "name <> 'b'"}], id="no-b")
        run.feed("stars", [log("c", **star("ann", "b")), log("c", **star("ann", "c"))])
        assert profiles(run) == [profile("ann", ("a", None), ("c", None))]
        run.retire("no-b")
        without = run.knots("profile")[-1].number
        run.rollback("stars", to=kept)
        assert profiles(run) == [profile("ann", ("a", None), ("b", None), ("c", None))]
        gone = run.api.get("/products/profile/ann@x", params={"knot": without})
        assert gone.json()["code"] == "knot.not-live"


def test_a_rule_that_filters_a_table_withdraws_rows(tmp_path: Path) -> None:
    log = Log()
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann"))])
        run.feed("stars", [log("c", **star("ann", "a"))])
        run.attach(stream="stars", steps=[{"filter": "name <> 'a'"}], id="no-a")
        run.feed("stars", [log("u", **star("ann", "a")), log("c", **star("ann", "b"))])
        assert profiles(run) == [profile("ann", ("b", None))]


def test_a_rule_on_a_product_changes_its_documents(tmp_path: Path) -> None:
    log = Log()
    with play(PROJECT, storage=tmp_path) as run:
        run.attach(stream="profile", steps=[{"set": {"username": "upper(username)"}}], id="loud")
        run.feed("users", [log("c", **user("ann"))])
        assert profiles(run)[0]["username"] == "ANN"
        with pytest.raises(WeftError) as refused:
            run.attach(stream="profile", steps=[{"drop": ["_change"]}], id="bare")
        assert refused.value.code == "step.reserved-column"


def test_a_row_whose_fields_cannot_be_computed_is_a_dead_letter(tmp_path: Path) -> None:
    log = Log()
    product = {"root": "users", "fields": {"number": "cast(username as int)"}}
    with play({**PROJECT, "products": {"numbers": product}}, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("7")), log("c", **user("ann"))])
        assert run.documents("numbers") == [{"email": "7@x", "number": 7}]
        assert [row["step"] for row in run.rows("numbers.dead")] == ["product"]


def test_a_deletion_is_none_of_the_expressions_business(tmp_path: Path) -> None:
    log = Log()
    product = {
        "root": "users",
        "fields": {"third": "element_at(split(username, 'x'), 1)", "one": "1 / length(username)"},
    }
    with play({**PROJECT, "products": {"parts": product}}, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann")), log("c", **user("bob"))])
        run.feed(
            "users", [log("d", email="ann@x", username=None), log("u", email="bob@x", username="")]
        )
        assert [row["email"] for row in run.documents("parts")] == ["bob@x"]
        assert len(run.rows("parts.dead")) == 1


def test_expressions_are_not_computed_for_rows_that_a_filter_leaves_out(tmp_path: Path) -> None:
    log = Log()
    product = {
        "root": "users",
        "filter": "username rlike '^[0-9]+$'",
        "fields": {"n": "cast(username as int)"},
    }
    with play({**PROJECT, "products": {"numbers": product}}, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("7", "a@x")), log("c", **user("8", "b@x"))])
        run.feed("users", [log("u", **user("x", "a@x"))])
        assert run.documents("numbers") == [{"email": "b@x", "n": 8}]
        assert run.rows("numbers.dead") == []


def test_a_table_may_gain_a_column_and_only_what_shows_it_is_put_together_again(
    tmp_path: Path,
) -> None:
    log = Log()
    wider = {**USERS, "columns": {"age": "int", **USERS["columns"]}}
    whole, part = {"root": "users"}, {"root": "users", "fields": ["username"]}
    before = {**PROJECT, "products": {"whole": whole, "part": part}}
    after = {**before, "tables": {**PROJECT["tables"], "users": wider}}
    with play(before, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann"))])
        with pytest.raises(WeftError) as refused:
            run.apply(after)
        assert refused.value.code == "project.needs-recompute" and refused.value.ids[
            "pipelines"
        ] == ["whole"]
        run.apply(after, recompute=True)
        run.feed("users", [log("u", **user("ann"), age=36), log("c", **user("bob"), age=1)])
        assert [row["age"] for row in sorted(run.documents("whole"), key=itemgetter("email"))] == [
            36,
            1,
        ]
        assert sorted(row["username"] for row in run.documents("part")) == ["ann", "bob"]
        other = {**after, "tables": {**after["tables"], "users": {**wider, "key": ["username"]}}}
        with pytest.raises(WeftError) as refused:
            run.apply(other)
        assert refused.value.code == "project.cannot-change"


def test_a_python_function_is_refused_for_rows_that_replace_one_another(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("def some(record: dict) -> dict | None:\n    return None\n")
    project = {
        **PROJECT,
        "pipelines": {"few": {"from": "users", "steps": [{"function": "rules:some"}]}},
    }
    with pytest.raises(WeftError) as refused:
        load(project, folder=tmp_path)
    assert [one.code for one in refused.value.problems] == ["step.changing"]


def test_a_product_that_is_added_holds_what_is_there_and_follows(tmp_path: Path) -> None:
    log = Log()
    with play({**PROJECT, "products": {}}, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann")), log("c", **user("bob"))])
        run.feed("users", [log("d", **user("bob"))])
        run.apply(PROJECT)
        assert profiles(run) == [profile("ann")]
        run.feed("stars", [log("c", **star("ann", "a"))])
        assert profiles(run) == [profile("ann", ("a", None))]


def test_a_changed_definition_is_put_together_again_from_the_tables(tmp_path: Path) -> None:
    log = Log()
    changed = {**PROJECT, "products": {"profile": {"root": "users", "fields": ["username"]}}}
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann"))])
        with pytest.raises(WeftError) as refused:
            run.apply(changed)
        assert refused.value.code == "project.needs-recompute"
        run.apply(changed, recompute=True)
        assert profiles(run) == [user("ann")]
        with pytest.raises(WeftError) as refused:
            run.apply({**PROJECT, "products": {"profile": {"root": "repos"}}}, recompute=True)
        assert refused.value.code == "project.cannot-change"


def test_a_document_is_served_by_its_key_now_and_as_of_a_knot(tmp_path: Path) -> None:
    log = Log()
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann"))])
        run.feed("stars", [log("c", **star("ann", "a"))])
        now = run.api.get("/products/profile/ann@x").json()
        assert now["document"] == profile("ann", ("a", None))
        then = run.api.get("/products/profile/ann@x", params={"knot": 1}).json()
        assert then["document"] == profile("ann") and then["knot"] == 1
        missing = run.api.get("/products/profile/nobody")
        assert missing.status_code == 404 and missing.json()["code"] == "product.no-document"
        kept = run.knots("users")[-1].number
        run.attach(stream="users", steps=[{"set": {"username": "upper(username)"}}], id="loud")
        run.feed("users", [log("u", **user("ann")), log("c", **user("bob"))])
        run.feed("users", [log("d", **user("bob"))])
        assert run.api.get("/products/profile/ann@x").json()["document"]["username"] == "ANN"
        assert run.api.get("/products/profile/bob@x").status_code == 404
        run.rollback("users", to=kept)
        assert run.api.get("/products/profile/ann@x").json()["document"]["username"] == "ann"
        run.feed("users", [log("c", **user("[1]", "[1]"))])
        odd = run.api.get("/products/profile/[1]").json()
        assert odd["document"]["username"] == "[1]"  # the key of a single column is never a list
        [view] = run.api.get("/products").json()
        assert view["tables"] == ["users", "stars", "repos"] and view["key"] == ["email"]


def test_a_delta_table_follows_the_documents_through_crashes_and_rollbacks(tmp_path: Path) -> None:
    log, lake = Log(), str(tmp_path / "lake")
    project = {
        **PROJECT,
        "products": {"profile": {**PROFILE, "sinks": [{"delta": {"path": lake}}]}},
    }

    def merged() -> list[dict[str, Any]]:
        found = DeltaTable(lake).to_pyarrow_table().to_pylist()
        return sorted(found, key=itemgetter("email"))

    with play(project, storage=tmp_path / "s") as run:
        run.feed("users", [log("c", **user("ann")), log("c", **user("bob"))])
        assert merged() == profiles(run)
        for point in ("written", "deliver", "recorded"):
            run.crash(at=point)
            run.feed("stars", [log("c", **star("ann", point))])
            run.resume()
            assert merged() == profiles(run) and len(merged()[0]["starred"]) == merged()[0]["stars"]
        kept = run.knots("users")[-1].number
        before = merged()
        run.attach(stream="users", steps=[{"set": {"username": "upper(username)"}}], id="loud")
        run.feed("users", [log("u", **user("ann")), log("c", **user("cid"))])
        run.feed("users", [log("d", **user("bob"))])
        assert [row["username"] for row in merged()] == ["ANN", "CID"]
        run.rollback("users", to=kept)
        assert merged() == profiles(run) == [before[0], profile("cid")]


def test_a_delta_table_has_all_documents_where_it_comes_late_and_after_a_restore(
    tmp_path: Path,
) -> None:
    log = Log()
    pairs = {"from": "stars", "group": {"by": ["owner", "name"], "aggregate": {"n": "count(*)"}}}
    lakes = {name: str(tmp_path / name) for name in ("profile", "pairs")}
    sinks = {name: [{"delta": {"path": lake}}] for name, lake in lakes.items()}
    late = {
        **PROJECT,
        "products": {"profile": {**PROFILE, "sinks": sinks["profile"]}},
        "pipelines": {"pairs": {**pairs, "sinks": sinks["pairs"]}},
    }

    def merged(name: str, *key: str) -> list[dict[str, Any]]:
        found = DeltaTable(lakes[name]).to_pyarrow_table().to_pylist()
        return sorted(found, key=itemgetter(*key))

    with play({**PROJECT, "pipelines": {"pairs": pairs}}, storage=tmp_path / "s") as run:
        run.feed("users", [log("c", **user(name)) for name in ("ann", "bob", "cid")])
        run.feed("users", [log("d", **user("cid"))])
        run.feed("stars", [log("c", **star("ann", "a")), log("c", **star("bob", "b"))])
    with play(late, storage=tmp_path / "s") as run:
        run.feed("stars", [log("c", **star("bob", "a"))])
        assert merged("profile", "email") == profiles(run)
        assert merged("pairs", "owner", "name") == [
            {"owner": "o", "name": "a", "n": 2},
            {"owner": "o", "name": "b", "n": 1},
        ]
        run.feed("stars", [log("d", **star("bob", "b")), log("c", **star("ann", "c"))])
        assert merged("profile", "email") == profiles(run)
        assert [row["name"] for row in merged("pairs", "owner", "name")] == ["a", "c"]
    backup = Storage(str(tmp_path / "backup"))
    copy_offline(Storage(str(tmp_path / "s")), backup)
    with play(late, storage=tmp_path / "s") as run:
        run.feed("users", [log("c", **user("dan"))])  # of which the backup knows nothing
    put_back(backup, Storage(str(tmp_path / "restored")))
    with play(late, storage=tmp_path / "restored") as run:
        run.feed("users", [log("u", **user("bob", "bob@x"))])
        run.feed("stars", [log("c", **star("bob", "z"))])
        assert merged("profile", "email") == profiles(run)
        assert [row["username"] for row in merged("profile", "email")] == ["ann", "bob"]
        assert [row["name"] for row in merged("pairs", "owner", "name")] == ["a", "c", "z"]


def test_a_document_says_which_changes_made_it_what_it_is(tmp_path: Path) -> None:
    log = Log()
    kept = {"about": UNAVAILABLE}
    odd = {**REPOS, "columns": {**REPOS["columns"], "v0": "string", "kept": "string"}}  # type: ignore[dict-item]
    project = {
        **PROJECT,
        "tables": {**PROJECT["tables"], "repos": odd},  # type: ignore[dict-item]
        "products": {"profile": _with_filter(PROFILE, "name <> 'hidden'")},
    }
    with play(project, storage=tmp_path) as run:
        run.feed("users", [log("c", **user("ann")), log("c", **user("bob"))])
        run.feed("repos", [log("c", **repo("a", "old")), log("c", **repo("b", "other"))])
        stars = [star("ann", name) for name in ("a", "b", "gone", "hidden")]
        run.feed("stars", [log("c", **one) for one in [*stars, star("bob", "a")]])
        then = run.knots("profile")[-1].number
        run.feed("repos", [log("u", **repo("a", "new"))])
        run.feed("repos", [log("u", **{**repo("a", "new"), **kept})])
        run.feed("stars", [log("d", **star("ann", "gone")), log("u", **star("ann", "b"))])
        now = run.api.get("/causes/profile/ann@x").json()
        [root] = now["rows"]
        assert (root["part"], root["table"], root["op"]) == ("", "users", "c")
        starred = [one for one in root["parts"] if one["part"] == "starred"]
        assert [(one["key"]["name"], one["op"]) for one in starred] == [("a", "c"), ("b", "u")]
        [described] = starred[0]["parts"]
        assert (described["part"], described["op"]) == ("starred.repo", "u")
        assert (
            described["kept"].keys() == {"about"} and described["kept"]["about"] != described["id"]
        )
        told = run.api.get(f"/records/repos/{described['kept']['about']}").json()
        assert told["places"][0]["row"]["about"] == "new"
        before = run.api.get("/causes/profile/ann@x", params={"knot": then}).json()
        [root] = before["rows"]
        starred = [one for one in root["parts"] if one["part"] == "starred"]
        assert [one["key"]["name"] for one in starred] == ["a", "b", "gone"]
        assert [part["op"] for one in starred for part in one["parts"]] == ["c", "c"]
        missing = run.api.get("/causes/profile/nobody")
        assert missing.status_code == 404 and missing.json()["code"] == "product.no-document"


def _with_filter(product: dict[str, Any], filter: str) -> dict[str, Any]:
    parts = product["parts"]
    return {**product, "parts": {**parts, "starred": {**parts["starred"], "filter": filter}}}


@pytest.mark.parametrize("state", ["rocksdb", "memory"])
def test_a_batch_may_have_more_documents_than_fit_one_message(tmp_path: Path, state: str) -> None:
    log = Log()
    long = "x" * 9_000
    with play({**PROJECT, "processing": {"state": state}}, storage=tmp_path) as run:
        names = [f"u{number:03}" for number in range(300)]
        run.feed("stars", [log("c", **star(name, "a")) for name in names])
        run.feed("users", [log("c", **user(name)) for name in names])
        run.feed("repos", [log("c", **repo("a", long))])
        assert profiles(run) == [profile(name, ("a", long)) for name in names]
        assert ops(run, "profile") == ["c"] * 300 + ["u"] * 300
        run.feed("repos", [log("u", **repo("a", "short"))])
        assert profiles(run) == [profile(name, ("a", "short")) for name in names]


def test_values_in_lists_have_neither_dictionary_nor_statistics_in_files(tmp_path: Path) -> None:
    log = Log()
    names = [f"u{number:02}" for number in range(30)]
    with play(PROJECT, storage=tmp_path) as run:
        run.feed("users", [log("c", **user(name)) for name in names])
        run.feed("stars", [log("c", **star(name, "the same repository")) for name in names])
    files = sorted(tmp_path.rglob("*profile*/*.parquet"))
    group = pq.ParquetFile(files[-1]).metadata.row_group(0)
    columns = {one["path_in_schema"]: one for one in group.to_dict()["columns"]}
    named = {name for name, one in columns.items() if one["has_dictionary_page"]}
    assert "_change.op" in named and columns["email"]["is_stats_set"]
    assert "starred.list.element.repo" not in named
    assert not columns["starred.list.element.repo"]["is_stats_set"]


@pytest.mark.parametrize("seed", [3, 20, 47])
def test_documents_are_those_of_the_final_tables(tmp_path: Path, seed: int) -> None:
    """Any tables, any tree, any order of arrival, with repeats and crashes; `bench.products` does thousands."""
    world = make_world(seed)
    with play(project_of(world, parallelism=1 + seed % 2), storage=tmp_path) as run:
        live(run, world, Random(seed))
        found = assembled(run, world)
        assert found == normalised(documents(world.product, world.tables))
        for key in [*found][:4]:
            assert _made_anew(run, world, key) == found[key], key


def _made_anew(run: Play, world: World, key: tuple[Any, ...]) -> Any:
    """A document made of the rows alone that it is said to be made of, as they were then."""
    [knot] = {
        row["_weft"]["knot"]
        for row in current(run.rows("documents", weft=True), world.keys[world.product.root.table])
        if tuple(row[name] for name in world.keys[world.product.root.table]) == key
    }
    upto = run.api.get(f"/knots/documents/{knot}").json()["offsets"]["inputs"]
    root = world.product.root
    read = {name: world.keys[name] for name in world.product.tables()}
    tables = changed_tables(run.worker, read, upto)
    rows = tables[root.table].written(world.keys[root.table], key, root.filter)
    made = {name: table.copy() for name, table in world.empty.items()}
    for document in documents_of(root, rows, tables):
        for one in document.walk():
            table = made[one.part.table]
            row = normalised({name: one.row[name] for name in table.columns})
            table.rows[table.key_of(row)] = row
    return normalised(documents(world.product, made))[key]
