"""A replay over a past that somebody has edited: it names the place, and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.spark.test_replay import PROJECT, orders
from weft.lineage.knot import Knot
from weft.testing import Play, play
from weft.weaver.knots import store_knot
from weft.weaver.store.records import put

CODE = "def keep(record):\n    return record if record['total'] > 0 else None\n"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Play]:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "shop.py").write_text(CODE)
    clean = {"from": "orders", "steps": [{"function": "shop:keep"}], "to": "clean-orders"}
    project = {**PROJECT, "pipelines": {"clean": clean}}
    with play(project, storage=tmp_path / "s", folder=folder) as running:
        running.feed("orders", orders(0))
        running.attach(stream="clean-orders", id="vat", steps=[{"set": {"total": "total * 2"}}])
        running.feed("orders", orders(1))
        running.feed("orders", orders(2))
        yield running


def refused(run: Play) -> dict[str, Any]:
    response = run.api.post("/replays", json={"stream": "clean-orders", "after": 0})
    assert response.status_code == 409, response.json()
    answer: dict[str, Any] = response.json()
    return answer


def test_an_altered_knot_is_named(run: Play) -> None:
    weaver = run._server.weaver
    knot = weaver.knots.get("clean-orders", 2)
    form = knot.to_dict()
    form["ledger"] = {**form["ledger"], "out": form["ledger"]["out"] + 1}
    weaver.store.apply([store_knot(Knot.from_dict(form))])
    answer = refused(run)
    assert answer["code"] == "replay.altered-knot"
    assert answer["ids"]["knot"] == 2


def test_an_altered_function_is_named(run: Play) -> None:
    weaver = run._server.weaver
    project = weaver.catalog.project()
    [function] = project.functions.values()
    other = replace(function, modules={"shop": CODE.replace("> 0", "> 1")})
    altered = replace(project, functions={"shop:keep": other})
    weaver.store.apply([put("projects", project.hash, value=altered)])
    weaver.catalog._loaded = None
    answer = refused(run)
    assert answer["code"] == "replay.altered-definition"


def test_an_altered_rule_is_named(run: Play) -> None:
    weaver = run._server.weaver
    rule = weaver.rules.get("vat")
    other = rule.changed(steps=rule.steps * 2)
    altered = replace(other, version=rule.version)
    weaver.store.apply([put("rules", "version", "vat", rule.version, value=altered)])
    answer = refused(run)
    assert answer["code"] == "replay.altered-definition"
    assert answer["ids"]["rule"] == "vat"
