"""Text files as numbered records that can be entered at any of them: how far a batch reaches, how it is
split, what is in it. A record is a line; of CSV, all lines up to the end of its quotes. Plain or gzip; for a
gzip file bytes are counted after decompression."""

from __future__ import annotations

import functools
import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from gzip import GzipFile
from io import BufferedReader

from weft.sources.quotes import Joiner

BLOCK = 1 << 20
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


@dataclass(frozen=True)
class Place:
    """A place between two records: how many lines and how many bytes of the file are before it."""

    line: int = 0
    byte: int = 0


@dataclass(frozen=True)
class Text:
    """A file, up to where it is read: `end` is a byte, or None for the end of the file.

    With a separator its records are those of CSV. What stands last without a line end, or in quotes that are
    not closed, is a record if the text is `whole`; else more of it is to come, and it is left.
    """

    path: str
    end: int | None = None
    separator: bytes | None = None
    whole: bool = True


@dataclass(frozen=True)
class Extent:
    """How far a batch reaches into a text, how many records that are, and whether the text ends there."""

    place: Place
    records: int
    ended: bool


@dataclass(frozen=True)
class Block:
    """Records of a file without their line ends, the line that each begins with, and the places around them.

    `damage` says why the file cannot be read on; such a block is what there is of one record.
    """

    records: list[bytes]
    numbers: list[int]
    first: Place
    last: Place
    damage: str | None = None

    def place(self, count: int) -> Place:
        """The place behind the first so many records."""
        if count >= len(self.records):
            return self.last
        ahead = sum(map(len, self.records[:count])) + count
        return Place(self.numbers[count] - 1, self.first.byte + ahead)


def reach(text: Text, place: Place, most: int) -> Extent:
    """The place at most so many records ahead."""
    if text.separator is None and not is_gzip(text.path):
        return _reach_lines(text, place, most)
    done = 0
    for block in blocks(text, place):
        if done + len(block.records) > most:
            return Extent(block.place(most - done), most, ended=False)
        done += len(block.records)
        place = block.last
    return Extent(place, done, ended=True)


def _reach_lines(text: Text, first: Place, most: int) -> Extent:
    """The same where each line is a record: line ends are counted, and no line is taken out."""
    for place, rest, piece in _pieces(text, first):
        left = most - (place.line - first.line)
        if not piece:
            is_record = rest > 0 and text.whole
            if is_record and left > 0:
                place = Place(place.line + 1, place.byte + rest)
            return Extent(place, place.line - first.line, ended=left > 0 or not is_record)
        if piece.count(b"\n") > left:
            if left == 0:
                return Extent(place, most, ended=False)
            ahead = rest + len(piece) - len(piece.split(b"\n", left)[-1])
            return Extent(Place(place.line + left, place.byte + ahead), most, ended=False)
    raise AssertionError("the last piece is empty")


def _pieces(text: Text, first: Place) -> Iterator[tuple[Place, int, bytes]]:
    """A text from a place on, piece by piece, the last of them empty. With each goes the place behind the last line end
    before it, and how many bytes are between."""
    place, rest, left = first, 0, None if text.end is None else text.end - first.byte
    with _open(text.path) as file:
        file.seek(first.byte)
        while piece := file.read(BLOCK if left is None else min(BLOCK, left)):
            yield place, rest, piece
            left = None if left is None else left - len(piece)
            if ended := piece.rfind(b"\n") + 1:
                place = Place(place.line + piece.count(b"\n"), place.byte + rest + ended)
                rest = len(piece) - ended
            else:
                rest += len(piece)
    yield place, rest, b""


def read_header(text: Text) -> tuple[str, Place]:
    """The first record of a text that is not blank, and the place behind it."""
    for block in blocks(text, Place()):
        for number, record in enumerate(block.records):
            if record.strip():
                header = record.decode("utf-8-sig", errors="replace").rstrip("\r")
                return header, block.place(number + 1)
    return "", Place()


def split(text: Text, first: Place, size: int) -> list[tuple[Place, int | None]]:
    """Ranges of about so many bytes from a place on, each with the byte where it ends."""
    cuts = [first]
    if size >= BLOCK and not is_gzip(text.path):
        for place in _places(text, first):
            if place.byte - cuts[-1].byte >= size:
                cuts.append(place)
    return list(zip(cuts, [*(cut.byte for cut in cuts[1:]), text.end], strict=True))


def _places(text: Text, first: Place) -> Iterator[Place]:
    """Places between records about a megabyte apart, behind each of which there is one."""
    if text.separator is not None:
        yield from (block.first for block in blocks(text, first))
    else:
        yield from (place for place, _, piece in _pieces(text, first) if piece)


def count(text: Text) -> int:
    """How many lines a text has; what stands last without an end is one."""
    found, ended = 0, True
    with _open(text.path) as file:
        left = text.end
        while chunk := file.read(BLOCK if left is None else min(BLOCK, left)):
            found += chunk.count(b"\n")
            ended = chunk.endswith(b"\n")
            left = None if left is None else left - len(chunk)
    return found + (not ended)


def blocks(text: Text, first: Place) -> Iterator[Block]:
    """The records of a text from a place on, about a megabyte at a time."""
    file = _unpacked(text.path) if is_gzip(text.path) else _open(text.path)
    try:
        yield from (
            _blocks(file, text, first)
            if text.separator is None
            else _joined(_blocks(file, text, first), text)
        )
    finally:
        if not is_gzip(text.path):
            file.close()


def _blocks(file: BufferedReader | GzipFile, text: Text, first: Place) -> Iterator[Block]:
    place, rest = first, b""
    left = None if text.end is None else text.end - first.byte
    try:
        file.seek(first.byte)
        # read1 hands out what there is before it meets damage; read would lose it.
        while left != 0 and (chunk := file.read1(BLOCK if left is None else min(BLOCK, left))):
            left = None if left is None else left - len(chunk)
            lines = (rest + chunk).split(b"\n")
            size = len(rest) + len(chunk) - len(lines[-1])
            rest = lines.pop()
            if lines:
                yield _block(lines, place, size)
                place = Place(place.line + len(lines), place.byte + size)
    except DAMAGED as damage:
        after = Place(place.line + 1, place.byte + len(rest))
        said = f"the file cannot be read on: {damage}"
        yield Block([rest], [place.line + 1], place, after, damage=said)
        return
    if rest and text.whole:
        yield _block([rest], place, len(rest))


def _block(lines: list[bytes], first: Place, size: int) -> Block:
    last = Place(first.line + len(lines), first.byte + size)
    return Block(lines, list(range(first.line + 1, last.line + 1)), first, last)


def _joined(found: Iterator[Block], text: Text) -> Iterator[Block]:
    """Blocks of lines as blocks of CSV records."""
    assert text.separator is not None
    joiner = Joiner(text.separator)
    place = last = Place()
    for block in found:
        place = place if joiner.lines else block.first
        last = block.last
        if block.damage is not None:
            break
        if joiner.is_plain(block.records):
            yield block
            continue
        made = _records(list(joiner.take(block.records)), place)
        if made is not None:
            # Its last line may have no end, so that only the block knows where it ends.
            made = made if joiner.lines else replace(made, last=block.last)
            yield made
            place = made.last
    else:
        if text.whole and joiner.lines:
            made = _records(list(joiner.rest()), place)
            if made is not None:
                yield replace(made, last=last)
        return
    left = _records(list(joiner.rest()), place)
    if left is not None:
        yield left
    yield block


def _records(joined: list[list[bytes]], first: Place) -> Block | None:
    if not joined:
        return None
    records, numbers, line, byte = [], [], first.line, first.byte
    for lines in joined:
        record = lines[0] if len(lines) == 1 else b"\n".join(lines)
        records.append(record)
        numbers.append(line + 1)
        line += len(lines)
        byte += len(record) + 1
    return Block(records, numbers, first, Place(line, byte))


def is_gzip(path: str) -> bool:
    """Whether the name of a file says that it is compressed."""
    return path.endswith(".gz")


def _open(path: str) -> BufferedReader:
    return open(path, "rb")


def _unpacked(path: str) -> GzipFile:
    status = os.stat(path)
    return _open_gzip(path, status.st_ino, status.st_mtime_ns)


@functools.lru_cache(maxsize=4)
def _open_gzip(path: str, inode: int, mtime_ns: int) -> GzipFile:
    """A compressed file stays open between batches, or each would decompress it from its beginning
    again. One that takes its place is another."""
    return GzipFile(path, "rb")
