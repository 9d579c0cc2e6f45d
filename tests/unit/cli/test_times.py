"""Times of any year at the terminal: what Python's years do not hold is shown all the same."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from weft.cli.output import moment, moment_ms
from weft.cli.rows import newest_rows
from weft.locations.location import locate

YEAR_10000_MS = 253_402_300_800_000


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (None, "-"),
        (0, "1970-01-01 00:00:00.000"),
        (-1, "1969-12-31 23:59:59.999"),
        (1_767_225_600_123, "2026-01-01 00:00:00.123"),
        (951_782_400_000, "2000-02-29 00:00:00.000"),
        (YEAR_10000_MS - 1, "9999-12-31 23:59:59.999"),
        (YEAR_10000_MS, "10000-01-01 00:00:00.000"),
        (-62_135_596_800_000, "0001-01-01 00:00:00.000"),
        (-62_135_596_800_001, "0000-12-31 23:59:59.999"),
        (2**63 - 1, "292278994-08-17 07:12:55.807"),
        (-(2**63), "-292275055-05-16 16:47:04.192"),
    ],
)
def test_a_time_in_milliseconds_is_shown_with_its_year_as_it_is(
    milliseconds: int | None, shown: str
) -> None:
    assert moment_ms(milliseconds) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, "-"),
        ("2026-01-01T12:00:00.5+02:00", "2026-01-01 10:00:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01 00:00:00"),
        ("0001-01-01T00:00:00+02:00", "0001-01-01T00:00:00+02:00"),
        ("10000-01-01T00:00:00Z", "10000-01-01T00:00:00Z"),
        ("-0002-11-27T00:00:00Z", "-0002-11-27T00:00:00Z"),
    ],
)
def test_a_time_that_python_cannot_hold_is_shown_as_it_was_written(
    text: str | None, shown: str
) -> None:
    assert moment(text) == shown


def test_rows_with_times_of_any_year_are_shown(tmp_path: Path) -> None:
    stamps = pa.array([0, YEAR_10000_MS * 1000], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    days = pa.array([0, -720_000], pa.int32()).cast(pa.date32())
    write_deltalake(tmp_path, pa.table({"at": stamps, "on": days}))
    assert newest_rows(locate(tmp_path), "orders", limit=10) == [
        {"at": "1970-01-01T00:00:00Z", "on": "1970-01-01"},
        {"at": "10000-01-01 00:00:00.000000Z", "on": "-0002-09-16"},
    ]


def test_a_time_now_is_shown_as_ever() -> None:
    now = datetime(2026, 11, 15, 12, 2, 58, 999_999, tzinfo=UTC)
    assert moment(now.isoformat()) == "2026-11-15 12:02:58"
