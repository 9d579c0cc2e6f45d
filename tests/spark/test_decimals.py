"""Decimals of every width: what a stream's files hold is what came, also to readers that know nothing of Weft."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weft.testing import play
from weft.weaver.verification import verify_storage

WIDTHS = {1: 0, 5: 2, 9: 9, 10: 2, 18: 6, 19: 3, 38: 10}


def _greatest(precision: int, scale: int) -> Decimal:
    return Decimal(f"{'9' * precision}E-{scale}")  # arithmetic would round it


@pytest.mark.parametrize("form", ["plain", "nested"])
def test_decimals_are_written_as_they_came(tmp_path: Path, form: str) -> None:
    types = {f"d{width}": f"decimal({width},{scale})" for width, scale in WIDTHS.items()}
    inside = ", ".join(f"{name}: {kind}" for name, kind in types.items())
    columns = types if form == "plain" else {"all": f"array<struct<{inside}>>"}
    values = []
    for width, scale in WIDTHS.items():
        most, least = _greatest(width, scale), Decimal(f"1E-{scale}")
        both = [most, most.copy_negate(), least, least.copy_negate()]
        values.append([*both, Decimal(f"0E-{scale}"), None])
    rows = [dict(zip(types, row, strict=True)) for row in zip(*values, strict=True)]
    told = [
        {name: None if value is None else f"{value:f}" for name, value in row.items()}
        for row in rows
    ]
    records = told if form == "plain" else [{"all": told}, {"all": None}, {"all": [None]}]
    project = {
        "app_name": "decimals",
        "streams": {
            "sums": {
                "source": {"mock": {}},
                "schema": {"id": "long", **columns},
                "key": "id",
            }
        },
    }
    with play(project, storage=tmp_path / "s") as run:
        run.feed("sums", [{"id": number, **one} for number, one in enumerate(records)])
        assert run.rows("sums.dead") == []
        assert verify_storage(run.storage, deep=True).findings == []
        found = _read(tmp_path / "s")
    expected = rows if form == "plain" else [{"all": rows}, {"all": None}, {"all": [None]}]
    assert found == expected


def _read(storage: Path) -> list[dict[str, object]]:
    """The rows of the only stream, by Arrow."""
    [folder] = [path.parent for path in storage.rglob("_delta_log") if "dead" not in str(path)]
    files = sorted(folder.glob("*.parquet"))
    table = pa.concat_tables(pq.read_table(file, partitioning=None) for file in files)
    rows = sorted(table.to_pylist(), key=lambda row: row["id"])
    return [{k: v for k, v in row.items() if k not in ("id", "_weft")} for row in rows]
