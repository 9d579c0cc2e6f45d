"""Records of text files: entered anywhere, cut anywhere, always the same records."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.sources import lines, quotes
from weft.sources.lines import Place, Text
from weft.sources.quotes import Joiner, ends_inside

TEXTS = st.lists(st.sampled_from([b"", b"a", b"\r", b"long line", "é".encode()]), max_size=20)
CSV = st.lists(
    st.lists(
        st.sampled_from(["", "a", "b,c", "d\ne", 'f"g', '"', "\n", "h\r\ni"]),
        min_size=2,
        max_size=3,
    ),
    max_size=8,
)


def read(text: Text, first: Place = Place()) -> list[bytes]:  # noqa: B008
    return [record for block in lines.blocks(text, first) for record in block.records]


def in_steps(path: Path, step: int, separator: bytes | None = None) -> tuple[list[bytes], Place]:
    found: list[bytes] = []
    place, ended = Place(), False
    while not ended:
        reached = lines.reach(Text(str(path), separator=separator), place, step)
        end = None if reached.ended else reached.place.byte
        part = read(Text(str(path), end, separator), place)
        assert len(part) == reached.records <= step
        found += part
        place, ended = reached.place, reached.ended
    return found, place


@given(texts=TEXTS, step=st.integers(1, 5), ended=st.booleans(), packed=st.booleans())
def test_a_file_read_in_steps_equals_the_file(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[bytes],
    step: int,
    ended: bool,
    packed: bool,
) -> None:
    content = b"\n".join(texts) + (b"\n" if ended and texts else b"")
    path = tmp_path_factory.mktemp("lines") / ("a.gz" if packed else "a")
    path.write_bytes(gzip.compress(content) if packed else content)
    expected = content.split(b"\n")
    if not expected[-1]:
        expected.pop()
    found, place = in_steps(path, step)
    assert found == expected == read(Text(str(path)))
    assert place == Place(len(expected), len(content))
    if not packed:
        assert lines.count(Text(str(path))) == len(expected)


@given(
    rows=CSV, step=st.integers(1, 3), ended=st.booleans(), block=st.sampled_from([3, 7, 1 << 20])
)
def test_csv_records_are_those_of_a_csv_reader_however_they_are_cut(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    step: int,
    ended: bool,
    block: int,
) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows(rows)
    content = written.getvalue() if ended else written.getvalue().removesuffix("\n")
    path = tmp_path_factory.mktemp("csv") / "a"
    path.write_bytes(content.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", block)
        found, place = in_steps(path, step, b",")
        numbers = [n for b in lines.blocks(Text(str(path), None, b","), Place()) for n in b.numbers]
    assert [next(csv.reader([record.decode()])) for record in found] == rows
    assert place.byte == len(content.encode())
    starts = [content.encode().find(record) for record in found]
    assert numbers == sorted(set(numbers)) and len(numbers) == len(starts)


@pytest.mark.parametrize(
    ("line", "inside", "ends"),
    [
        (b"a,b", False, False),
        (b'a,"b', False, True),
        (b'a,"b""', False, True),
        (b'a,"b"', False, False),
        (b'a,"b"",c', False, True),
        (b'5" pipe,x', False, False),
        (b'5" pipe,"x', False, True),
        (b'end of it",b', True, False),
        (b"more of it", True, True),
        (b'a","b', True, True),
        (b'""', False, False),
        (b'"', False, True),
        (b'"', True, False),
        (b'x"y"z', False, False),
        (b'"x"y,"z', False, True),
    ],
)
def test_a_quote_opens_a_value_only_at_its_beginning(line: bytes, inside: bool, ends: bool) -> None:
    assert ends_inside(line, b",", inside) == ends


@given(
    line=st.text('a,";^]-\\ \r', max_size=12),
    separator=st.sampled_from([",", ";", "^", "]", "-", "\\", "¦"]),
)
def test_the_quick_look_at_a_line_agrees_with_the_careful_one(line: str, separator: str) -> None:
    written, between = line.encode(), separator.encode()
    quick = Joiner(between).is_plain([written])
    assert quick == (not ends_inside(written, between)) or (len(between) > 1 and not quick)


def test_a_quote_that_is_never_closed_costs_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b'1,"open\n2,b\n3,c\n')
    assert read(Text(str(path), None, b",")) == [b'1,"open', b"2,b", b"3,c"]
    assert lines.reach(Text(str(path), None, b","), Place(), 2).place == Place(2, 12)
    monkeypatch.setattr(quotes, "MOST_BYTES", 64)
    path.write_bytes(b'1,"open\n' + b"2,b\n" * 100 + b'3,"c\nd"\n')
    found = read(Text(str(path), None, b","))
    assert found == [b'1,"open', *[b"2,b"] * 100, b'3,"c\nd"']


def test_what_is_not_whole_yet_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one\ntwo\nthr")
    growing = Text(str(path), 11, whole=False)
    assert read(growing) == [b"one", b"two"]
    assert lines.reach(growing, Place(), 10) == lines.Extent(Place(2, 8), 2, ended=True)
    path.write_bytes(b'1,a\n2,"b\nc')
    growing = Text(str(path), 10, b",", whole=False)
    assert read(growing) == [b"1,a"]
    assert lines.reach(growing, Place(), 10).place == Place(1, 4)


def test_a_text_ends_where_it_is_said_to_though_the_file_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one\ntwo\nthree\n")
    assert read(Text(str(path), 8)) == [b"one", b"two"]
    assert lines.count(Text(str(path), 8)) == 2
    assert lines.count(Text(str(path), 10)) == 3


def test_a_large_file_is_split_between_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", 64)
    path = tmp_path / "a"
    path.write_bytes(b"".join(b'%d,"line\nof it"\n' % n for n in range(100)))
    size = path.stat().st_size
    text = Text(str(path), size, b",")
    parts = lines.split(text, Place(), size // 3)
    assert 2 <= len(parts) <= 3
    found = [record for first, end in parts for record in read(Text(str(path), end, b","), first)]
    assert found == read(text)
    assert len(found) == 100


@pytest.mark.parametrize("cut", [1, 9, 50, 2000])
@pytest.mark.parametrize("separator", [None, b","])
def test_a_damaged_file_gives_what_is_before_the_damage_wherever_it_is_entered(
    tmp_path: Path, cut: int, separator: bytes | None
) -> None:
    path = tmp_path / "a.gz"
    content = b"".join(b"%032x\n" % (n * 0x9E3779B97F4A7C15 % 2**128) for n in range(2000))
    path.write_bytes(gzip.compress(content)[:-cut])
    text = Text(str(path), None, separator)
    whole = list(lines.blocks(text, Place()))
    end = whole[-1]
    assert end.damage is not None
    assert lines.reach(text, Place(), 10_000).place == end.last
    place, entered = Place(), False
    while not entered:
        step = lines.reach(text, place, 300)
        entered, place = step.ended, step.place
    assert place == end.last


def test_a_compressed_file_that_takes_the_place_of_another_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\n"))
    assert read(Text(str(path))) == [b"one"]
    (tmp_path / "b").write_bytes(gzip.compress(b"two\n"))
    (tmp_path / "b").replace(path)
    assert read(Text(str(path))) == [b"two"]


def test_the_header_is_the_first_record_without_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "a"
    text = Text(str(path), None, b",")
    path.write_bytes(b"\xef\xbb\xbfid,name\r\n1,a\n")
    assert lines.read_header(text) == ("id,name", Place(1, 12))
    path.write_bytes(b"id,name")
    assert lines.read_header(text) == ("id,name", Place(1, 7))
    path.write_bytes(b'\n\n"id\nof",name\n1,a\n')
    assert lines.read_header(text) == ('"id\nof",name', Place(4, 15))
    path.write_bytes(b"")
    assert lines.read_header(text) == ("", Place())
