"""What sources keep has sums: a bit that changed is found, and so is what was put in or taken out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.locations.location import locate
from weft.sources.admission import LOG, AdmissionLog, Admitted, LogAlteredError, Remark
from weft.sources.kept import damage
from weft.sources.segment import JOURNAL, SegmentError, Segments


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The folder of a source that has admitted files, and of one that has journaled records."""
    log = AdmissionLog(tmp_path / LOG)
    log.admit([Admitted(f"/data/{n}.json", size=10, mtime_ns=n) for n in range(3)])
    log.admit([Remark("closed", of=1, line=2, byte=9, print="p", before=10)])
    segments = Segments(tmp_path / JOURNAL)
    for number in (1, 2, 3):
        segments.append([(0, b"one"), (1, b"two")], number=number, stated={"position": number})
    return tmp_path


def test_what_is_as_it_was_written_is_not_complained_about(source: Path) -> None:
    assert list(damage(locate(source), None)) == []
    assert list(damage(locate(source), {"file": 4, "line": 0, "byte": 0})) == []
    assert list(damage(locate(source), {"segment": 3})) == []
    assert list(damage(source / "none", {"file": 0})) == []


def test_any_changed_byte_of_a_log_is_found(source: Path) -> None:
    path = source / LOG
    written = path.read_bytes()
    for place in range(len(written)):
        path.write_bytes(written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :])
        assert list(damage(locate(source), {"file": 4})), f"byte {place}"


def _without_first(lines: list[str]) -> list[str]:
    return lines[1:]


def _swapped(lines: list[str]) -> list[str]:
    return [lines[1], lines[0], *lines[2:]]


def _without_last(lines: list[str]) -> list[str]:
    return lines[:-1]


def _with_another(lines: list[str]) -> list[str]:
    return [*lines, json.dumps({"path": "/etc/passwd", "size": 1, "mtime_ns": 1})]


@pytest.mark.parametrize("change", [_without_first, _swapped, _without_last, _with_another])
def test_lines_cannot_be_put_in_or_taken_out(
    source: Path, change: Callable[[list[str]], list[str]]
) -> None:
    path = source / LOG
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")
    assert list(damage(locate(source), {"file": 4}))


def test_a_log_that_was_altered_is_neither_read_nor_written(source: Path) -> None:
    path = source / LOG
    path.write_text(path.read_text().replace("/data/1", "/data/9"))
    with pytest.raises(LogAlteredError):
        AdmissionLog(path).entries()
    with pytest.raises(LogAlteredError):
        AdmissionLog(path).admit([Admitted("/data/new.json", size=1, mtime_ns=1)])


def test_any_changed_byte_of_a_segment_is_found(source: Path) -> None:
    path = Path(Segments(source / JOURNAL).file(2).address)
    written = path.read_bytes()
    for place in range(len(written)):
        path.write_bytes(written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :])
        assert list(damage(locate(source), {"segment": 3})), f"byte {place}"
    path.write_bytes(written[:-1])
    with pytest.raises(SegmentError):
        list(Segments(source / JOURNAL).get(2).records())


def test_a_segment_that_was_read_and_is_gone_is_missed(source: Path) -> None:
    segments = Segments(source / JOURNAL)
    segments.file(2).delete()
    assert list(damage(locate(source), {"segment": 3}))
    segments.file(1).delete()
    assert list(damage(locate(source), {"segment": 3})) == []  # pruned
    segments.file(3).delete()
    assert list(damage(locate(source), {"segment": 3}))
