"""Text files as numbered lines that can be entered at any byte: how far a batch reaches, how it is
split, what is in it. Plain or gzip; for a gzip file bytes are counted after decompression."""

from __future__ import annotations

import functools
import gzip
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from gzip import GzipFile
from io import BufferedReader

BLOCK = 1 << 20
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)


@dataclass(frozen=True)
class Place:
    """A place between two lines: how many lines and how many bytes of the file are before it."""

    line: int = 0
    byte: int = 0


@dataclass(frozen=True)
class Reach:
    """How far a batch reaches into a file, and whether the file ends there."""

    place: Place
    ended: bool


@dataclass(frozen=True)
class Block:
    """Lines of a file without their ends, and the places before and after them.

    `damage` says why the file cannot be read on; such a block is what there is of one line.
    """

    lines: list[bytes]
    first: Place
    last: Place
    damage: str | None = None


def reach(path: str, place: Place, most: int) -> Reach:
    """The place at most so many lines ahead."""
    goal = place.line + most
    for block in blocks(path, place):
        if block.last.line > goal:
            count = goal - block.first.line
            ahead = sum(map(len, block.lines[:count])) + count
            return Reach(Place(goal, block.first.byte + ahead), ended=False)
        place = block.last
    return Reach(place, ended=True)


def read_header(path: str) -> tuple[str, Place]:
    """The first line of a file, and the place behind it."""
    for block in blocks(path, Place()):
        if block.lines:
            line = block.lines[0]
            whole = len(block.lines) > 1 or block.last.byte > len(line)
            header = line.decode("utf-8-sig", errors="replace").rstrip("\r")
            return header, Place(1, len(line) + whole)
    return "", Place()


def split(
    path: str, first: Place, last: Place | None, parts: int
) -> list[tuple[Place, Place | None]]:
    """About equal ranges of lines between two places; a `last` of None is the end of the file."""
    cuts = [first]
    size = (os.path.getsize(path) if last is None else last.byte) - first.byte
    share = size // parts
    if share >= BLOCK and not is_gzip(path):
        for block in blocks(path, first, last):
            if block.first.byte - cuts[-1].byte >= share:
                cuts.append(block.first)
    return list(zip(cuts, [*cuts[1:], last], strict=True))


def blocks(path: str, first: Place, last: Place | None = None) -> Iterator[Block]:
    """The lines between two places, about a megabyte at a time."""
    file = _open(path)
    try:
        yield from _blocks(file, first, last)
    finally:
        if not is_gzip(path):
            file.close()


def _blocks(file: BufferedReader | GzipFile, first: Place, last: Place | None) -> Iterator[Block]:
    place, rest = first, b""
    left = BLOCK if last is None else last.byte - first.byte
    try:
        file.seek(first.byte)
        # read1 hands out what there is before it meets damage; read would lose it.
        while left and (chunk := file.read1(min(BLOCK, left))):
            left -= 0 if last is None else len(chunk)
            lines = (rest + chunk).split(b"\n")
            size = len(rest) + len(chunk) - len(lines[-1])
            rest = lines.pop()
            after = Place(place.line + len(lines), place.byte + size)
            if lines:
                yield Block(lines, place, after)
            place = after
    except DAMAGED as damage:
        if last is None or last.line > place.line:
            after = Place(place.line + 1, place.byte + len(rest))
            yield Block([rest], place, after, damage=f"the file cannot be read on: {damage}")
        return
    if rest:
        yield Block([rest], place, Place(place.line + 1, place.byte + len(rest)))


def is_gzip(path: str) -> bool:
    """Whether the name of a file says that it is compressed."""
    return path.endswith(".gz")


def _open(path: str) -> BufferedReader | GzipFile:
    return _open_gzip(path) if is_gzip(path) else open(path, "rb")


@functools.lru_cache(maxsize=4)
def _open_gzip(path: str) -> GzipFile:
    """A compressed file stays open between batches, or each would decompress it from its beginning
    again."""
    return GzipFile(path, "rb")
