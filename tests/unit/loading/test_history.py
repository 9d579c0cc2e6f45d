"""What may be said of a stream's history: raw records only where a source gives bytes."""

from __future__ import annotations

from typing import Any

import pytest

from weft.loading.load import load
from weft.loading.problem import ProjectError

COLUMNS = {"schema": {"id": "long"}}
RAW = {"history": {"raw": 0.5}}


def project(**streams: Any) -> dict[str, Any]:
    clean = {"from": "orders", "steps": [{"filter": "id > 0"}], "to": "clean-orders"}
    orders = {"source": {"mock": {}}, **COLUMNS}
    return {
        "app_name": "x",
        "streams": {"orders": orders, **streams},
        "pipelines": {"clean": clean},
    }


def test_a_stream_with_a_source_keeps_a_share_and_no_limit() -> None:
    found = (
        load(project(orders={"source": {"mock": {}}, **COLUMNS, **RAW})).stream("orders").history
    )
    assert found.raw == 0.5 and not found.is_limited


@pytest.mark.parametrize(
    "streams",
    [
        {"clean-orders": RAW},
        {"side": {"source": {"rule": {}}, **COLUMNS, **RAW}},
        {"rows": {"source": {"files": {"path": "in", "format": "parquet"}}, **COLUMNS, **RAW}},
    ],
    ids=["written by a pipeline", "written by rules", "typed"],
)
def test_where_there_are_no_raw_records_none_are_kept(streams: dict[str, Any]) -> None:
    with pytest.raises(ProjectError) as caught:
        load(project(**streams))
    assert [problem.code for problem in caught.value.problems] == ["project.no-raw"]
