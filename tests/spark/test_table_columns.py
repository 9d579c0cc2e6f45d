"""Tables whose columns change while they are read: what is dropped or gets another type stops the table, and nothing
else."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.products.log import Log
from tests.spark.test_products import PROJECT, USERS, user
from weft.errors import WeftError
from weft.loading.load import load
from weft.testing import play


def told(log: Log, op: str, **row: Any) -> dict[str, Any]:
    """A change with the schema of its row around it, as Kafka Connect writes it."""
    kinds = {int: "int32", bool: "boolean"}
    fields = [{"field": name, "type": kinds.get(type(one), "string")} for name, one in row.items()]
    sides = [{"field": side, "type": "struct", "fields": fields} for side in ("before", "after")]
    return {"schema": {"type": "struct", "fields": sides}, "payload": log(op, **row)}


def test_a_dropped_column_stops_its_table_and_nothing_else(tmp_path: Path) -> None:
    log = Log()
    narrow = {**USERS, "columns": {"email": "string"}}
    plain = {**PROJECT, "products": {"people": {"root": "users"}, "projects": {"root": "repos"}}}
    after = {
        **plain,
        "tables": {**PROJECT["tables"], "users": narrow},
        "products": {**plain["products"], "people": {"root": "users", "fields": []}},
    }
    with play(plain, storage=tmp_path) as run:
        run.feed("users", [told(log, "c", email="ann@x", username="ann")])
        with pytest.raises(WeftError) as stopped:
            run.feed("users", [told(log, "c", email="bob@x")])
        assert stopped.value.code == "source.table-changed"
        assert stopped.value.ids["column"] == "username"
        run.append("repos", [told(log, "c", owner="o", name="a", about="A")])
        deadline = time.monotonic() + 60
        while not run.documents("projects") and time.monotonic() < deadline:
            time.sleep(0.02)
        assert run.documents("projects") and len(run.documents("people")) == 1
        response = run.api.put("/project", json=load(after).to_dict(), params={"recompute": True})
        assert response.status_code == 200, response.text
        run.project = load(after)
        while len(run.documents("people")) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert sorted(row["email"] for row in run.documents("people")) == ["ann@x", "bob@x"]


def test_a_column_may_be_declared_before_it_is_used_and_not_be_of_another_kind(
    tmp_path: Path,
) -> None:
    log = Log()
    wider = {**USERS, "columns": {**USERS["columns"], "age": "int"}}  # type: ignore[dict-item]
    project = {**PROJECT, "tables": {"users": wider}, "products": {"people": {"root": "users"}}}
    with play(project, storage=tmp_path) as run:
        run.feed("users", [told(log, "c", **user("ann"))])
        run.feed("users", [told(log, "u", **user("ann"), age=36)])
        assert [row["age"] for row in run.documents("people")] == [36]
        with pytest.raises(WeftError) as stopped:
            run.feed("users", [told(log, "u", **user("ann"), age=True)])
        assert stopped.value.code == "source.table-changed"
        assert [row["age"] for row in run.documents("people")] == [36]
