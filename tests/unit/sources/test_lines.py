"""Lines of files: entered anywhere, cut anywhere, always the same lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.sources import lines
from weft.sources.lines import Place

TEXTS = st.lists(st.sampled_from([b"", b"a", b"\r", b"long line", "é".encode()]), max_size=20)


def read(path: Path, first: Place = Place(), last: Place | None = None) -> list[bytes]:  # noqa: B008
    return [line for block in lines.blocks(str(path), first, last) for line in block.lines]


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
    found: list[bytes] = []
    place, reached = Place(), lines.Reach(Place(), ended=False)
    while not reached.ended:
        reached = lines.reach(str(path), place, step)
        part = read(path, place, reached.place)
        assert len(part) <= step
        found += part
        place = reached.place
    assert found == expected == read(path)
    assert place == Place(len(expected), len(content))


def test_a_large_file_is_split_between_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", 64)
    path = tmp_path / "a"
    path.write_bytes(b"".join(b"line %d\n" % n for n in range(100)))
    parts = lines.split(str(path), Place(), None, 3)
    assert len(parts) == 3
    numbered = [(first.line, read(path, first, last)) for first, last in parts]
    assert [n for n, _ in numbered] == [0, len(numbered[0][1]), 100 - len(numbered[2][1])]
    assert [line for _, part in numbered for line in part] == read(path)


@pytest.mark.parametrize("cut", [1, 9, 50, 2000])
def test_a_damaged_file_gives_what_is_before_the_damage_wherever_it_is_entered(
    tmp_path: Path, cut: int
) -> None:
    path = tmp_path / "a.gz"
    text = b"".join(b"%032x\n" % (n * 0x9E3779B97F4A7C15 % 2**128) for n in range(2000))
    path.write_bytes(gzip.compress(text)[:-cut])
    whole = list(lines.blocks(str(path), Place()))
    end = whole[-1]
    assert end.damage is not None
    reached = lines.reach(str(path), Place(), 10_000)
    assert reached == lines.Reach(end.last, ended=True)
    place, entered = Place(), False
    while not entered:
        step = lines.reach(str(path), place, 300)
        entered, place = step.ended, step.place
    assert place == end.last


def test_the_header_is_the_first_line_without_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfid,name\r\n1,a\n")
    assert lines.read_header(str(path)) == ("id,name", Place(1, 12))
    path.write_bytes(b"id,name")
    assert lines.read_header(str(path)) == ("id,name", Place(1, 7))
    path.write_bytes(b"")
    assert lines.read_header(str(path)) == ("", Place())
