"""What a knot adds to watched series: a mean for each, whatever the columns are and hold."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from weft.project.watch import WatchSpec
from weft.runtime import series
from weft.runtime.series import series_of
from weft.sinks.rows import TableRows


def rows(**columns: Any) -> TableRows:
    return TableRows(pa.table(columns))


def test_each_value_of_the_columns_that_tell_series_apart_has_its_mean() -> None:
    found = series_of(
        rows(cpu=[1.0, 3.0, 10.0], io=[4, None, 6], host=["a", "a", "b"], disk=[1, 1, None]),
        WatchSpec(of=("cpu", "io"), by=("host", "disk")),
    )
    assert found == {
        "cpu{host=a,disk=1}": 2.0,
        "cpu{host=b,disk=}": 10.0,
        "io{host=a,disk=1}": 4.0,
        "io{host=b,disk=}": 6.0,
    }


def test_without_them_a_column_is_one_series() -> None:
    assert series_of(rows(cpu=[1, 2, 6]), WatchSpec(of=("cpu",))) == {"cpu": 3.0}


def test_what_is_no_number_counts_for_nothing() -> None:
    values = [float("nan"), float("inf"), None, 4.0]
    assert series_of(rows(cpu=values), WatchSpec(of=("cpu",))) == {"cpu": 4.0}
    assert series_of(rows(cpu=values[:3]), WatchSpec(of=("cpu",))) == {}
    assert series_of(rows(cpu=pa.array([], pa.int64())), WatchSpec(of=("cpu",))) == {}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (True, "true"),
        (Decimal("1.50"), "1.50"),
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01 00:00:00.000000Z"),
        ("a,b=c}\x1b[31m\0", "a,b=c}?[31m?"),
    ],
)
def test_values_of_any_kind_name_a_series(value: Any, told: str) -> None:
    found = series_of(rows(n=[Decimal("2.5")], by=[value]), WatchSpec(of=("n",), by=("by",)))
    assert found == {f"n{{by={told}}}": 2.5}


def test_a_column_that_a_rule_has_dropped_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert series_of(rows(n=pa.nulls(2), by=["a", "b"]), WatchSpec(of=("n",), by=("by",))) == {}
    assert series_of(rows(n=[1, 3], by=pa.nulls(2)), WatchSpec(of=("n",), by=("by",))) == {
        "n{by=}": 2.0
    }


def test_of_too_many_the_first_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MOST_SERIES", 2)
    many = rows(n=[1, 2, 3], by=["c", "a", "b"])
    assert list(series_of(many, WatchSpec(of=("n",), by=("by",)))) == ["n{by=a}", "n{by=b}"]
