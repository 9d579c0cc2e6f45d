"""How far a batch of the file source reaches, and what is in it. Knows the log of admitted files and looks for
more; touches no Spark but to name its tasks. The same two offsets always give the same records: what a file
holds between two places does not change, or it is told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from weft.schema.schema import Schema
from weft.sources import lines, parquet
from weft.sources.admission import AdmissionLog, Admitted, Entry, Remark
from weft.sources.content import print_of
from weft.sources.header import misfit
from weft.sources.lines import Extent, Place, Text
from weft.sources.offset import Offset, Tail
from weft.sources.pack import FileRange, Pack, pack
from weft.sources.watch import Followed, Growth, Watch

CLOSE_S = 3600.0
"""A file that has not grown for so long needs no place in every offset."""

CHANGED = (
    "the file was changed where it had been read; what was read stays, and it is read on from its end. "
    "Append new records, or put them into a new file"
)


class Follower:
    """Admits what has settled and says how far a batch goes."""

    def __init__(
        self, spec: Mapping[str, Any], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._format: str = spec["format"]
        self._has_header: bool = spec["format"] == "csv" and spec["header"]
        self._separator: str = spec.get("separator", ",")
        self._columns = Schema.from_json(spec["schema"]).names
        self._path: str = spec["path"]
        self._parallelism: int = spec["parallelism"]
        self._log = AdmissionLog(spec["log"])
        self._watch = Watch(
            self._path,
            settle_ms=spec["settle_ms"],
            is_whole=self._is_whole,
            # Files of one kind all begin with the same header: their first record is what differs.
            head_lines=2 if self._has_header else 1,
        )
        self._look_s = min(max(spec["settle_ms"] / 4000, 0.02), 1.0)
        self._next_look = 0.0
        self._ends: dict[int, Place] = {}
        self._tried: dict[int, tuple[Growth, Place]] = {}

    def ahead(self, start: Mapping[str, Any], most: int) -> dict[str, Any]:
        """The offset at most so many records ahead: first of files that were admitted, then of what grew."""
        offset = Offset.from_json(start)
        entries = self._look(offset)
        # Files that keep growing must get through when new ones keep coming.
        spared = most // 4 if self._watch.growth else 0
        left = most - spared
        while left > 0 and offset.number < len(entries):
            left -= self._take(offset, entries[offset.number], left)
        self._take_growth(offset, entries, left + spared)
        return offset.to_json()

    def _look(self, offset: Offset) -> list[Entry]:
        """The entries of the log, after a look for more; a poll that comes too soon does not look."""
        now = self._clock()
        entries = self._log.entries()
        if now < self._next_look:
            return entries
        self._next_look = now + self._look_s
        tails = {number: (tail.place.byte, tail.print) for number, tail in offset.grown.items()}
        self._watch.update(entries, tails)
        looked = self._watch.look(now, self._log.generation, lambda n: self._taken(n, offset))
        found: list[Entry] = [*looked.fresh]
        found += [self._changed(known, offset) for known in looked.changed]
        found += [self._copied(known, offset) for known in looked.copied]
        found += self._closed(offset)
        if found:
            entries = self._log.admit(found)
            self._watch.update(entries, tails)
        return entries

    def _changed(self, known: Followed, offset: Offset) -> Remark:
        """What is said of a file that was changed: from where on it is read."""
        size = known.sight.size
        before = self._begin(known.number, offset)
        # A line must not get a number that one before it had.
        line = max(lines.count(Text(known.path, size)), before.line)
        return Remark("changed", known.number, line, size, print_of(known.path, size), before.byte)

    def _copied(self, known: Followed, offset: Offset) -> Remark:
        place = self._begin(known.number, offset)
        printed = print_of(known.path, place.byte)
        inode = known.sight.inode
        return Remark("closed", known.number, place.line, place.byte, printed, place.byte, inode)

    def _closed(self, offset: Offset) -> Iterator[Remark]:
        for number, tail in offset.grown.items():
            if self._watch.idle_s(number, tail.place.byte) > CLOSE_S:
                place = tail.place
                yield Remark("closed", number, place.line, place.byte, tail.print, place.byte)

    def _take(self, offset: Offset, entry: Entry, most: int) -> int:
        """Move an offset into an entry of the log, or over it, and say how many records that are."""
        if isinstance(entry, Remark):
            place = self._begin(entry.of, offset)
            if place.byte == entry.before:
                offset.grown.pop(entry.of, None)
            else:
                # A reader that was rolled back has yet to read what others had when they said this.
                offset.grown.setdefault(entry.of, Tail(place, entry.print))
            offset.number, offset.place = offset.number + 1, Place()
            return 1 if entry.kind == "changed" else 0
        path = entry.locate()
        if path is None:
            offset.number, offset.place = offset.number + 1, Place()
            return 1
        place = self._enter(Text(path, self._end(entry), self._quotes), offset.place)
        reached = self._reach(entry, path, place, most)
        if reached.ended:
            offset.number, offset.place = offset.number + 1, Place()
        else:
            offset.place = reached.place
        return reached.records

    def _reach(self, entry: Admitted, path: str, place: Place, most: int) -> Extent:
        if self._format != "parquet":
            return lines.reach(Text(path, self._end(entry), self._quotes), place, most)
        rows = parquet.count(path)
        last = min(place.line + most, rows)
        return Extent(Place(last), last - place.line, ended=last == rows)

    def _take_growth(self, offset: Offset, entries: list[Entry], left: int) -> None:
        noted = {one.of for one in entries[offset.number :] if isinstance(one, Remark)}
        for number, growth in sorted(self._watch.growth.items()):
            if left <= 0 or number >= offset.number or number in noted:
                continue
            place = self._begin(number, offset)
            # What ends in the middle of a record is not looked at again before there is more of it.
            if growth.end <= place.byte or self._tried.get(number) == (growth, place):
                continue
            text = Text(growth.path, growth.end, self._quotes, whole=growth.still)
            reached = lines.reach(text, self._enter(text, place), left)
            if reached.place.byte > place.byte:
                printed = print_of(growth.path, reached.place.byte)
                offset.grown[number] = Tail(reached.place, printed)
                left -= reached.records
            else:
                self._tried[number] = (growth, place)

    def packs(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[Pack]:
        """The tasks that read the records between two offsets."""
        slices = list(self._slices(Offset.from_json(start), Offset.from_json(end)))
        return pack(slices, self._parallelism)

    def _slices(self, start: Offset, end: Offset) -> Iterator[FileRange]:
        share = self._share(start, end)
        entries = self._log.entries()
        for number in range(start.number, end.number + (end.place != Place())):
            entry = entries[number]
            if isinstance(entry, Remark):
                if entry.kind == "changed":
                    yield self._told(entry, number)
                continue
            first = start.place if number == start.number else Place()
            last = end.place if number == end.number else None
            yield from self._parts(entry, first, last, share)
        for number, tail in end.grown.items():
            file = entries[number]
            assert isinstance(file, Admitted)
            first = self._begin(number, start, upto=end.number)
            if tail.place.byte > first.byte:
                yield from self._parts(file, first, tail.place, share)

    def _parts(
        self, file: Admitted, first: Place, last: Place | None, share: int
    ) -> Iterator[FileRange]:
        """One range of a file, in parts if it is large."""
        path, name = file.locate(), self._name(file)
        suffix = f"@{file.generation}" if file.generation > 1 else ""
        if path is None:
            yield FileRange(file, None, name, suffix, first, None, 1, lost=True)
            return
        if self._format == "parquet":
            stop = None if last is None else last.line
            yield FileRange(file, path, name, suffix, first, stop, max(file.size, 1))
            return
        end = self._end(file) if last is None else last.byte
        text = Text(path, end, self._quotes)
        header, reason = self._header(text)
        begin = self._enter(text, first)
        for place, upto in lines.split(text, begin, share):
            size = max((file.size if upto is None else upto) - place.byte, 1)
            yield FileRange(file, path, name, suffix, place, upto, size, header, reason)

    def _told(self, note: Remark, number: int) -> FileRange:
        file = self._log.entries()[note.of]
        assert isinstance(file, Admitted)
        name, suffix = self._name(file), f"@changed-{number}"
        return FileRange(file, None, name, suffix, note.place, None, 1, reason=CHANGED, lost=True)

    def _share(self, start: Offset, end: Offset) -> int:
        """About how many bytes each task of a batch gets."""
        entries = self._log.entries()
        total = sum(
            one.size for one in entries[start.number : end.number + 1] if isinstance(one, Admitted)
        )
        total += end.place.byte - start.place.byte
        total += sum(tail.place.byte for tail in end.grown.values())
        total -= sum(tail.place.byte for tail in start.grown.values())
        return max(total, 0) // self._parallelism

    def _begin(self, number: int, offset: Offset, *, upto: int | None = None) -> Place:
        """Where a file that grows was left at an offset, and after the notes about it up to a number."""
        place = self._left(number, offset) or self._admitted_end(number)
        later = self._log.notes(number, offset.number, offset.number if upto is None else upto)
        for note in later:
            place = note.place if place.byte == note.before else place
        return place

    def _left(self, number: int, offset: Offset) -> Place | None:
        """Where a file was left, by the offset or the last note before it; None where it was admitted."""
        if number in offset.grown:
            return offset.grown[number].place
        before = self._log.notes(number, 0, offset.number)
        return before[-1].place if before else None

    def _taken(self, number: int, offset: Offset) -> int:
        """How many bytes of a file were read."""
        left = self._left(number, offset)
        entry = self._log.entries()[number]
        assert isinstance(entry, Admitted)
        return entry.size if left is None else left.byte

    def _admitted_end(self, number: int) -> Place:
        if number not in self._ends:
            file = self._log.entries()[number]
            assert isinstance(file, Admitted)
            path = file.locate()
            count = lines.count(Text(path, file.size)) if path and file.size else 0
            self._ends[number] = Place(count, file.size)
        return self._ends[number]

    def _header(self, text: Text) -> tuple[str | None, str | None]:
        """The header of a CSV file, or why it is none."""
        if not self._has_header:
            return None, None
        header, _ = lines.read_header(text)
        reason = misfit(header, self._columns, self._separator)
        return (header, None) if reason is None else (None, reason)

    def _enter(self, text: Text, place: Place) -> Place:
        """The same place, but behind the header of a CSV file; a line that is no header is a record."""
        if place != Place() or not self._has_header or self._header(text)[1] is not None:
            return place
        return lines.read_header(text)[1]

    @property
    def _quotes(self) -> bytes | None:
        return self._separator.encode() if self._format == "csv" else None

    def _is_whole(self, path: str) -> bool:
        return self._format == "parquet" or lines.is_gzip(path)

    def _end(self, file: Admitted) -> int | None:
        """Where the text of an admitted file ends; that of a compressed one is known when it is read."""
        return None if file.whole or lines.is_gzip(file.path) else file.size

    def _name(self, file: Admitted) -> str:
        """The path of a file as its records are known by: from the directory on, which may move."""
        base = self._path.split("*")[0].split("?")[0].split("[")[0]
        return os.path.relpath(file.path, base if os.path.isdir(base) else os.path.dirname(base))
