"""Functions, pipelines and rules by version: all that were ever deployed, as they were, and how they differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.unit.steps.test_environment import as_before_the_kernel
from tests.unit.weaver.chain import tie
from tests.unit.weaver.test_http import ask
from weft.loading.load import load
from weft.steps.step import steps_from
from weft.streams.storage import Storage
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import put
from weft.weaver.store.rocks import RocksStore
from weft.weaver.verification import verify_storage
from weft.weaver.weaver import Weaver
from weft.weaving.rule import Rule

RULES = """
from tables import KEEP

def mask(record, keep=KEEP):
    return {**record, "email": record["email"][:keep]}
"""
TABLES = "KEEP = 1\n"


def project(keep: int | None = None, *, calls: bool = True, size: int = 0) -> dict[str, Any]:
    called = {"ref": "rules:mask", **({} if keep is None else {"params": {"keep": keep}})}
    steps: list[Any] = [{"filter": f"id > {size}"}, *([{"function": called}] if calls else [])]
    schema = {"id": "long", "email": "string"}
    return {
        "app_name": "shop",
        "streams": {
            "orders": {
                "source": {
                    "kafka": {
                        "servers": "localhost:9092",
                        "topic": "orders",
                        "client": {"sasl.password": "hush"},
                    }
                },
                "schema": schema,
                "key": "id",
            }
        },
        "pipelines": {"clean": {"from": "orders", "steps": steps, "to": "clean"}},
    }


class Shop:
    """A weaver in memory to which a test deploys what it writes into files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.weaver = Weaver(MemoryStore())

    def deploy(self, form: dict[str, Any], *, rules: str = RULES, tables: str = TABLES) -> None:
        (self.folder / "rules.py").write_text(rules)
        (self.folder / "tables.py").write_text(tables)
        sent = load(form, folder=self.folder, runs_code=False).to_dict()
        answer = ask("PUT", "/project", weaver=self.weaver, json=sent)
        assert answer.status_code == 200, answer.text

    def get(self, *parts: str, status: int = 200, **params: str) -> Any:
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in params.items())
        path = "/".join(["/functions", *(quote(part, safe="") for part in parts)])
        answer = ask("GET", f"{path}?{query}", weaver=self.weaver)
        assert answer.status_code == status, answer.text
        return answer.json()

    def versions(self, ref: str = "rules:mask") -> list[str]:
        return [found["version"] for found in self.get(ref=ref)]

    def attach(self, **fields: Any) -> Rule:
        rule = Rule(**({"id": "big", "stream": "clean", "steps": steps_from([])} | fields))
        return self.weaver.rules.attach(rule)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.deploy(project())
    return shop


def test_a_comment_or_another_layout_is_no_new_version_and_a_changed_helper_is(shop: Shop) -> None:
    [first] = shop.versions()
    shop.deploy(
        project(), rules=f'"""Rules."""\n# Nobody may see it.\n{RULES}\n\n', tables="KEEP=1"
    )
    assert shop.versions() == [first]
    assert len(shop.versions("clean")) == 1
    shop.deploy(project(), tables="KEEP = 3\n")
    old, new = shop.versions()
    assert old == first != new
    assert len(shop.versions("clean")) == 2
    assert [found["current"] for found in shop.get(ref="rules:mask")] == [False, True]


def test_a_version_is_listed_with_who_uses_it_since_when_and_for_which_knots(shop: Shop) -> None:
    tie(shop.weaver, "clean")
    tie(shop.weaver, "clean")
    shop.deploy(project(), tables="KEEP = 3\n")
    tie(shop.weaver, "clean")
    old, new = shop.get(ref="rules:mask")
    assert old["pipelines"] == new["pipelines"] == ["clean"]
    assert old["knots"] == [{"stream": "clean", "first": 1, "last": 2}]
    assert new["knots"] == [{"stream": "clean", "first": 3, "last": None}]
    assert old["since"] <= new["since"]
    assert [len(one["projects"]) for one in (old, new)] == [1, 1]
    spans = {one["version"]: one["knots"] for one in shop.get(ref="clean", kind="pipeline")}
    assert list(spans.values()) == [old["knots"], new["knots"]]
    assert shop.weaver.catalog.pipeline("clean").version == list(spans)[-1]


def test_a_function_that_the_project_lost_is_still_shown(shop: Shop) -> None:
    shop.deploy(project(calls=False))
    [found] = shop.get(ref="rules:mask")
    assert not found["current"] and found["pipelines"] == ["clean"]
    shown = shop.get("rules:mask", found["version"][:6])
    assert shown["sources"] == {"rules": RULES, "tables": TABLES}
    assert shown["intact"] and shown["kernel"] and shown["python"] and shown["form"] == "row"
    assert shop.get("rules:mask")["version"] == found


def test_parameters_are_shown_with_the_step_and_the_version_that_they_make(shop: Shop) -> None:
    shop.deploy(project(keep=4))
    [call] = shop.get("rules:mask")["calls"]
    function = shop.weaver.catalog.project().functions["rules:mask"]
    assert call["version"] == function.bind({"keep": 4}).version != function.version
    assert (call["pipeline"], call["step"], call["parameters"]) == ("clean", 2, {"keep": 4})


def test_a_diff_has_the_lines_that_differ_and_what_else(shop: Shop) -> None:
    shop.deploy(project(keep=2), tables="KEEP = 3\n")
    old, new = shop.versions()
    found = shop.get("rules:mask", old[:12], "diff", new[:12])
    assert (found["before"], found["after"]) == (old, new)
    assert "--- a/tables.py\n+++ b/tables.py\n" in found["diff"]
    assert "-KEEP = 1\n+KEEP = 3\n" in found["diff"] and "rules.py" not in found["diff"]
    assert found["others"] == [
        {"what": "parameters in clean, step 2", "before": "{}", "after": "{keep: 2}"}
    ]
    same = shop.get("rules:mask", new, "diff", new)
    assert (same["diff"], same["others"]) == ("", [])


def test_a_pipeline_is_shown_as_its_author_would_write_it_and_without_secrets(shop: Shop) -> None:
    shop.deploy(project(size=7))
    [text] = shop.get("clean")["sources"].values()
    assert "- filter: id > 7" in text and "from:" in text and "deadline_seconds" in text
    assert "hush" not in text and "hush" not in str(shop.get("orders"))
    assert list(shop.get("clean")["functions"]) == ["rules:mask"]
    old, new = shop.versions("clean")
    found = shop.get("clean", old, "diff", new)
    assert "-    - filter: id > 0\n+    - filter: id > 7\n" in found["diff"]
    assert found["others"] == []


def test_a_rule_has_its_versions_too(shop: Shop) -> None:
    shop.attach(steps=steps_from([{"filter": "id > 1"}]), output="large")
    shop.weaver.rules.change("big", "promoted into place", output=None)
    old, new = shop.get(ref="big")
    assert (old["kind"], old["current"], new["current"]) == ("rule", False, True)
    assert old["knots"] == [{"stream": "clean", "first": 1, "last": 0}]
    found = shop.get("big", old["version"], "diff", new["version"])
    assert "-output: large\n+output: null\n" in found["diff"]
    shop.weaver.rules.retire("big", because="done")
    assert not shop.get("big")["version"]["current"]


def test_a_name_that_is_two_things_is_asked_about(shop: Shop) -> None:
    shop.attach(id="clean", steps=steps_from([{"filter": "id > 1"}]))
    assert shop.get("clean", status=422)["code"] == "function.ambiguous"
    assert shop.get("clean", kind="rule")["version"]["kind"] == "rule"
    assert shop.get("clean", kind="pipeline")["version"]["kind"] == "pipeline"
    rule, pipeline = (shop.get("clean", kind=kind)["version"] for kind in ("rule", "pipeline"))
    assert shop.get("clean", rule["version"])["version"] == rule
    assert shop.get("clean", pipeline["version"])["version"] == pipeline


def test_a_prefix_that_several_versions_begin_with_is_refused_with_them(shop: Shop) -> None:
    for keep in range(2, 20):  # seventeen versions: two of them begin alike
        shop.deploy(project(), tables=f"KEEP = {keep}\n")
    found = shop.versions()
    digits = [version[0] for version in found]
    twice = next(digit for digit in digits if digits.count(digit) > 1)
    refused = shop.get("rules:mask", twice, status=422)
    assert refused["code"] == "function.ambiguous"
    assert set(refused["ids"]["versions"]) <= {one for one in found if one[0] == twice}
    for version in found:
        unique = next(n for n in range(1, 65) if [v[:n] for v in found].count(version[:n]) == 1)
        assert shop.get("rules:mask", version[:unique])["version"]["version"] == version


@pytest.mark.parametrize(
    ("ref", "version", "status", "code"),
    [
        ("rules:mask", "zz", 422, "function.bad-version"),
        ("rules:mask", "0" * 65, 422, "function.bad-version"),
        ("rules:mask", "AB", 422, "function.bad-version"),
        ("rules:mask", "%", 422, "function.bad-version"),
        ("rules:mask", "0" * 64, 404, "function.missing"),
        ("rules:msak", "0", 404, "function.missing"),
        ("rules:'mask'; drop", "0", 404, "function.missing"),
        ('"', "0", 404, "function.missing"),
        ("ü\x00\n" * 100, "0", 404, "function.missing"),
    ],
)
def test_what_is_not_there_is_refused_in_words(
    shop: Shop, ref: str, version: str, status: int, code: str
) -> None:
    assert shop.get(ref, version, status=status)["code"] == code
    assert shop.get(ref, version, "diff", version, status=status)["code"] == code


def test_nothing_is_listed_where_nothing_was_deployed(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    assert shop.get() == []
    assert shop.get("orders", status=404)["code"] == "function.missing"


def test_a_function_of_before_the_kernel_counted_stays_as_it_is_when_it_is_deployed_again(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path)
    (tmp_path / "rules.py").write_text(RULES)
    (tmp_path / "tables.py").write_text(TABLES)
    now = load(project(), folder=tmp_path, runs_code=False)
    old = {ref: as_before_the_kernel(one) for ref, one in now.functions.items()}
    recorded = replace(now, functions=old)
    writes, _ = shop.weaver.catalog.deploy(recorded)
    shop.weaver.store.apply(writes)
    before = shop.weaver.catalog.pipeline("clean").version
    shop.deploy(project())
    assert shop.versions() == [old["rules:mask"].version]
    assert shop.weaver.catalog.pipeline("clean").version == before
    assert shop.get("rules:mask")["kernel"] is None and shop.get("rules:mask")["intact"]
    shop.deploy(project(), tables="KEEP = 2\n")
    assert shop.get("rules:mask")["kernel"] is not None


def test_a_stored_source_that_was_changed_is_found_by_verify(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(RULES)
    (tmp_path / "tables.py").write_text(TABLES)
    found = load(project(), folder=tmp_path, runs_code=False)
    function = found.functions["rules:mask"]
    forged = replace(function, modules={**function.modules, "tables": "KEEP = 2\n"})
    altered = replace(found, functions={"rules:mask": forged})
    store = RocksStore(tmp_path / "weaver")
    store.apply([put("projects", found.hash, value=found)])
    store.close()
    assert verify_storage(Storage(str(tmp_path))).findings == []
    store = RocksStore(tmp_path / "weaver")
    # With a checksum as it should be: whoever wrote it could write everything.
    store.apply([put("projects", found.hash, value=altered)])
    store.close()
    codes = [finding.code for finding in verify_storage(Storage(str(tmp_path))).findings]
    assert codes == ["project.altered", "function.altered"]
