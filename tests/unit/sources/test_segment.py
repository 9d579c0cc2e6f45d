"""Segments: whole or not at all, and never two under one number."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from weft.sources.segment import SegmentError, Segments, encode


def test_a_segment_gives_back_what_was_appended(tmp_path: Path) -> None:
    segments = Segments(tmp_path / "new")
    records = [(0, b"a\nb"), (7, b""), (0, b"\x00\xff")]
    assert segments.append(records, number=1, stated={"watermark": 5}) == 1
    assert list(segments.get(1).records()) == records
    assert segments.get(1).stated == {"watermark": 5}


def test_two_writers_of_one_number_both_keep_their_records(tmp_path: Path) -> None:
    one, other = Segments(tmp_path), Segments(tmp_path)
    assert one.append([(0, b"one")], number=1, stated={}) == 1
    assert other.append([(0, b"other")], number=1, stated={}) == 2
    assert [list(one.get(n).records()) for n in (1, 2)] == [[(0, b"one")], [(0, b"other")]]


def test_an_unfinished_segment_is_not_there(tmp_path: Path) -> None:
    (tmp_path / ".000000000001.tmp").write_bytes(b"{}\n")
    segments = Segments(tmp_path)
    assert segments.numbers() == []
    assert segments.find(1) is None
    with pytest.raises(SegmentError) as caught:
        segments.get(1)
    assert caught.value.code == "source.segment-missing"


def test_pruning_removes_only_the_oldest(tmp_path: Path) -> None:
    segments = Segments(tmp_path)
    for number in (1, 2, 3):
        segments.append([], number=number, stated={})
    segments.prune(before=3)
    assert segments.numbers() == [3]


@pytest.mark.parametrize(
    ("record", "encoded"),
    [
        (b"\xff", b"\xff"),
        ("é", "é".encode()),
        ({"a": 1, "b": None}, b'{"a":1,"b":null}'),
        ({"d": Decimal("1.10")}, b'{"d":"1.10"}'),
        ({"t": datetime(2026, 1, 1, tzinfo=UTC)}, b'{"t":"2026-01-01T00:00:00+00:00"}'),
        ({"t": date(2026, 1, 1)}, b'{"t":"2026-01-01"}'),
        ({"b": b"hi"}, b'{"b":"aGk="}'),
    ],
)
def test_a_record_is_encoded_without_loss(record: object, encoded: bytes) -> None:
    assert encode(record) == encoded  # type: ignore[arg-type]


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError):
        encode({"a": object()})
