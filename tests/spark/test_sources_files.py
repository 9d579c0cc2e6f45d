"""What the kernel makes of ranges of text files: the same as a few lines of Python do, whatever is in them."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.unit.sources.ranges import read_range
from weft.sources import lines
from weft.sources.admission import Admitted
from weft.sources.content import look
from weft.sources.lines import Place, Text
from weft.sources.pack import FileRange
from weft.sources.spark.files import TEXT, range_form

PIECES = (
    b"a",
    b"",
    b"b,c",
    b'"',
    b'""',
    b'"x',
    b",",
    b";",
    b"\r",
    b" ",
    b"\t",
    b"\xff",
    "é".encode(),
)
SPEC = {"format": "json", "separator": ","}


def make_range(path: Path, **said: Any) -> FileRange:
    """All of a file, or what is said of it."""
    found = look(str(path))
    assert found is not None
    file = Admitted(
        str(path), found.size, found.mtime_ns, whole=said.pop("whole", lines.is_gzip(str(path)))
    )
    first, end = said.pop("first", Place()), said.pop("end", None)
    return FileRange(file, str(path), path.name, said.pop("suffix", ""), first, end, 1, **said)


def read(spark: SparkSession, forms: list[dict[str, Any]]) -> list[tuple[str, bytes, str | None]]:
    """The records of ranges, as one task reads them."""
    rows = spark.read.format(TEXT).option("packs", json.dumps([forms])).load().collect()
    assert {row["partition"] for row in rows} <= {0}
    return [(row["position"], bytes(row["value"]), row["bad"]) for row in rows]


def values(spark: SparkSession, path: Path, **said: Any) -> list[bytes]:
    return [value for _, value, _ in read(spark, [range_form(make_range(path, **said), SPEC)])]


def test_each_line_is_a_record_named_by_its_number(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a":1}\n{"a":2}\n{"a":3}')
    assert read(spark, [range_form(make_range(path, suffix="@2"), SPEC)]) == [
        (f"a.json#{number}@2", b'{"a":%d}' % number, None) for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("blank", [b"", b"  ", b"\r", b"\t \r", b"\v", b"\f"])
def test_blank_lines_are_no_records_and_keep_their_numbers(
    spark: SparkSession, tmp_path: Path, blank: bytes
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"1\n" + blank + b"\n 3\n4\r\n")
    assert read(spark, [range_form(make_range(path), SPEC)]) == [
        ("a.json#1", b"1", None),
        ("a.json#3", b" 3", None),
        ("a.json#4", b"4", None),
    ]


def test_lines_that_end_as_those_of_windows_lose_one_return_each(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"1\r\n2\r\r\n\xff\r\n")
    assert values(spark, path) == [b"1", b"2\r", b"\xff"]


def test_records_that_cannot_be_taken_say_why(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"1\n2\n")
    form = range_form(make_range(path, reason="no header"), SPEC)
    assert [bad for _, _, bad in read(spark, [form])] == ["no header"] * 2
    assert read(spark, [range_form(make_range(path, end=9), SPEC)])[0][2] is not None  # too short


def test_any_text_is_cut_as_the_follower_cuts_it(spark: SparkSession, tmp_path: Path) -> None:
    dice = Random(5)
    forms = []
    for number in range(150):
        path = tmp_path / f"{number}.{'csv.gz' if number % 5 == 0 else 'csv'}"
        content = b"".join(dice.choice((*PIECES, b"\n", b"\n")) for _ in range(dice.randrange(60)))
        path.write_bytes(gzip.compress(content) if number % 5 == 0 else content)
        spec = {"format": dice.choice(("csv", "json")), "separator": dice.choice((",", ";", "é"))}
        quotes = spec["separator"].encode() if spec["format"] == "csv" else None
        first, step = Place(), dice.randrange(1, 9)
        while True:
            reached = lines.reach(Text(str(path), None, quotes), first, step)
            end = None if reached.ended else reached.place.byte
            forms.append(range_form(make_range(path, first=first, end=end), spec))
            if reached.ended:
                break
            first = reached.place
    expected = [record for form in forms for record in read_range(form)]
    assert len(expected) > 500
    assert read(spark, forms) == expected


def test_a_compressed_file_gives_what_can_be_had_of_it(spark: SparkSession, tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"line %d\n" % number for number in range(1000)))
    for name, content in (("cut", whole[:-900]), ("none", b"no gzip"), ("empty", b"")):
        path = tmp_path / f"{name}.json.gz"
        path.write_bytes(content)
        found = read(spark, [range_form(make_range(path), SPEC)])
        assert all(bad is None for _, _, bad in found[:-1])
        assert [value for _, value, _ in found[:-1]] == [
            b"line %d" % n for n in range(len(found) - 1)
        ]
        assert not found if name == "empty" else "cannot be read on" in str(found[-1][2])
        assert len(found) > 100 or name != "cut"


def test_a_file_that_changes_before_it_is_read_is_not_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"one\ntwo\n")
    form = range_form(make_range(path, end=8), SPEC)
    path.write_bytes(b"one\n")
    with pytest.raises(Exception, match=r"a\.json was changed when it was about to be read"):
        read(spark, [form])
    packed = tmp_path / "a.json.gz"
    packed.write_bytes(gzip.compress(b"one\n"))
    form = range_form(make_range(packed), SPEC)
    assert read(spark, [form]) == [("a.json.gz#1", b"one", None)]
    os.utime(packed, ns=(1, 1))
    with pytest.raises(Exception, match="was changed when it was about to be read"):
        read(spark, [form])
