"""Files of arrivals: both forms, and every way in which they are broken."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from weft.errors import WeftError
from weft.scaling.arrivals import Arrivals, read_arrivals, steady

COUNTS = "period,count\n1998-06-10 10:00:00,60\n1998-06-10 10:01:00,120\n1998-06-10 10:02:00,0\n"
ONE_BY_ONE = "TIMESTAMP,Tokens,Made\n" + "".join(
    f"2023-11-16 18:00:{second:02d}.{second:03d}9600,4808,10\n" for second in range(0, 60, 2)
)


def read(folder: Path, text: str, **options: object) -> Arrivals:
    file = folder / "arrivals.csv"
    file.write_text(text)
    return read_arrivals(file, **options)  # type: ignore[arg-type]


def test_counts_are_told_by_their_even_times(tmp_path: Path) -> None:
    found = read(tmp_path, COUNTS)
    assert (found.form, found.step_s, found.span_s) == ("counts", 60.0, 180.0)
    assert found.start == datetime(1998, 6, 10, 10, tzinfo=UTC)
    assert found.counts(60).tolist() == [60, 120, 0]
    assert found.counts(30).tolist() == [30, 30, 60, 60, 0, 0]


def test_records_are_counted_one_by_one(tmp_path: Path) -> None:
    found = read(tmp_path, ONE_BY_ONE)
    assert found.form == "arrivals"
    assert found.total[-1] == 30
    assert found.counts(10).tolist() == [5.0] * 6


def test_gzipped_files_and_files_without_a_header_are_read(tmp_path: Path) -> None:
    file = tmp_path / "arrivals.csv.gz"
    file.write_bytes(gzip.compress(COUNTS.partition("\n")[2].encode()))
    assert read_arrivals(file).counts(60).tolist() == [60, 120, 0]


@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_times_may_be_numbers_since_the_epoch(tmp_path: Path, unit: str, scale: float) -> None:
    times = [1_700_000_000 + 0.25 * place for place in range(240)]
    found = read(tmp_path, "at\n" + "".join(f"{int(time * scale)}\n" for time in times))
    assert found.start == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), unit
    assert found.total[-1] == 240


def test_a_step_that_is_missing_brought_nothing(tmp_path: Path) -> None:
    lines = [f"2026-01-01 00:{minute:02d}:00,5" for minute in range(60) if minute not in (7, 8)]
    found = read(tmp_path, "period,count\n" + "\n".join(lines))
    assert found.missing == 2
    assert found.counts(60)[6:10].tolist() == [5, 0, 0, 5]


def test_the_form_can_be_said_where_it_is_not_plain(tmp_path: Path) -> None:
    text = "at,tokens\n" + "".join(f"2026-01-01 00:00:{s:02d},7\n" for s in range(60))
    assert read(tmp_path, text).form == "counts"
    assert read(tmp_path, text, form="arrivals").total[-1] == 60


@pytest.mark.parametrize(
    "text",
    [
        "",
        "period,count\n",
        "period,count\nyesterday,3\ntoday,4\n",
        "period,count\n2026-01-01 00:00:00,3\n2026-01-01 00:01:00,-4\n",
        "period,count\n2026-01-01 00:00:00,3\n2026-01-01 00:01:00,\n",
        "period,count\n2026-01-01 00:00:00,3\n",
        "at\n2026-01-01 00:00:00\n1970-01-01 00:00:00\n",
        "period,count\n2026-01-01 00:00:00,3\n,4\n",
        'a,b\n"1,2\n',
        "time,count\n60,1\n120,1e300\n180,1\n",
        "time,count\n60,1\n120,inf\n180,1\n",
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(WeftError) as refused:
        read(tmp_path, text)
    assert (refused.value.code, refused.value.domain) == ("arrivals.unreadable", "user")


def test_a_file_that_is_cut_off_or_not_there_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cut.csv.gz"
    file.write_bytes(gzip.compress(ONE_BY_ONE.encode())[:60])
    for path in (file, tmp_path / "none.csv"):
        with pytest.raises(WeftError) as refused:
            read_arrivals(path)
        assert refused.value.code == "arrivals.unreadable"


def test_a_steady_load_can_be_multiplied() -> None:
    load = steady(10, seconds=60, start=datetime(2026, 1, 1, tzinfo=UTC)).scaled(2)
    assert load.counts(30).tolist() == [600, 600]


@pytest.mark.parametrize(
    "text",
    [
        "time,site,count\n" + "".join(f"{60 * n},a,{n}\n" for n in range(1, 5)),
        "time,count,site\n" + "".join(f"{60 * n},{n},a\n" for n in range(1, 5)),
        "time,count\n" + "".join(f"{60 * n},{n}\n" for n in range(4, 0, -1)),
        "time,count\n60,1\n120,1\n120,1\n180,1\n180,2\n240,4\n",
        'time,count\n60,"1"\n120,2\n180,3\n240,4\n',
    ],
    ids=["third", "second of three", "newest first", "two places", "quoted"],
)
def test_a_column_that_is_called_so_has_the_counts(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert (found.form, found.counts(60).tolist()) == ("counts", [1, 2, 3, 4])


def test_numbers_may_have_thousands(tmp_path: Path) -> None:
    assert read(tmp_path, 'time,count\n60,"1,100"\n120,2\n').counts(60).tolist() == [1100, 2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("count,time\n5,1700000000\n6,1700000060\n", "its first column is 'count'"),
        ("1,5\n99999999999,6\n", "too far away"),
    ],
)
def test_what_is_no_time_is_said_to_be_none(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(WeftError, match=why):
        read(tmp_path, text)


@pytest.mark.parametrize("form", ["counts", "arrivals"])
def test_a_gap_that_is_too_long_is_told_with_the_record_behind_it(
    tmp_path: Path, form: str
) -> None:
    text = "time,count\n600,1\n60,1\n120,1\n400000,1\n180,1\n"
    assert read(tmp_path, text, form=form, longest_s=400_000.0).form == form
    with pytest.raises(WeftError) as refused:
        read(tmp_path, text, form=form, longest_s=399_900.0)
    assert refused.value.code == "arrivals.unreadable"
    assert refused.value.ids["record"] == 4
