"""What a source keeps beside its stream, checked: the log of admitted files, and the segments of a journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.errors import WeftError
from weft.locations.location import Location
from weft.sources.admission import LOG, AdmissionLog
from weft.sources.segment import JOURNAL, Segments


def damage(folder: Location, position: Any) -> Iterator[str]:
    """What is not as it was written below the folder of a source that was read up to a position."""
    reached = position if isinstance(position, Mapping) else {}
    yield from _log_damage(folder / LOG, reached.get("file", 0))
    yield from _journal_damage(Segments(folder / JOURNAL), reached.get("segment", 0))


def _log_damage(log: Location, reached: int) -> Iterator[str]:
    try:
        found = len(AdmissionLog(log).entries())
    except WeftError as error:
        yield error.message
        return
    if found < reached:
        yield f"The log of admitted files {log.address} has {found} entries, and {reached} were read."


def _journal_damage(segments: Segments, reached: int) -> Iterator[str]:
    numbers = segments.numbers()
    for number in numbers:
        try:
            segments.get(number).check()
        except WeftError as error:
            yield error.message
    if not segments.folder.exists():
        return
    missing = sorted({*range(min(numbers, default=reached), reached + 1)} - {0, *numbers})
    if missing:
        yield f"The journal in {segments.folder.address} lacks segment {missing[0]}, which was read."
