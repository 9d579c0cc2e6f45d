"""Where CSV records end: a line end inside quotes is part of a value. The kernel takes records apart by the
same rules (`CsvFields`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MOST_BYTES = 1 << 20
"""A record that is longer has a quote too many: its first line stands alone then, and says so."""


def ends_inside(line: bytes, separator: bytes, inside: bool = False) -> bool:
    """Whether a line that begins inside or outside of quotes ends inside of them.

    A quote opens a value where it is its first character; two in a row stand for one.
    """
    if b'"' not in line:
        return inside
    at = 0
    while True:
        if inside or line[at : at + 1] == b'"':
            at = _behind(line, at if inside else at + 1)
            if at < 0:
                return True
            inside = False
        at = line.find(separator, at)
        if at < 0:
            return False
        at += len(separator)


def _behind(line: bytes, at: int) -> int:
    """The place behind the quote that closes a value, or -1 when the line has none."""
    while True:
        at = line.find(b'"', at)
        if at < 0 or line[at + 1 : at + 2] != b'"':
            return at if at < 0 else at + 1
        at += 2


def _whole_line(separator: bytes) -> bytes:
    """A pattern of lines that end outside of quotes. It gives nothing back, so no line makes it slow."""
    other = b"[^" + re.escape(separator) + b"]*+"
    value = b'(?>"(?>[^"]+|"")*+"' + other + b'|(?!")' + other + b")"
    return b"(?s:" + value + b"(?>" + re.escape(separator) + value + b")*+)"


class Joiner:
    """Makes records of lines that come a few at a time. A record is a list of the lines that it is of."""

    def __init__(self, separator: bytes) -> None:
        self._separator = separator
        self._line = re.compile(_whole_line(separator)) if len(separator) == 1 else None
        self._open: list[bytes] = []
        self._size = 0

    def is_plain(self, lines: Iterable[bytes]) -> bool:
        """Whether each of these lines is a record, which is so of most."""
        if self._open:
            return False
        match = self._line.fullmatch if self._line else lambda line: None
        return all(b'"' not in line or match(line) for line in lines)

    def take(self, lines: Iterable[bytes]) -> Iterator[list[bytes]]:
        """The records that these lines complete."""
        for line in lines:
            if not self._open and b'"' not in line:
                yield [line]
                continue
            inside = ends_inside(line, self._separator, bool(self._open))
            self._open.append(line)
            self._size += len(line) + 1
            if not inside:
                yield self._whole()
            elif self._size > MOST_BYTES:
                yield from self._give_up()

    def rest(self) -> Iterator[list[bytes]]:
        """What is left when no more lines come: a record whose quote is not closed, and what follows it."""
        while self._open:
            yield from self._give_up()

    @property
    def lines(self) -> int:
        """How many lines wait for the end of their record."""
        return len(self._open)

    @property
    def size(self) -> int:
        """How many bytes those lines have, their ends included."""
        return self._size

    def _whole(self) -> list[bytes]:
        record, self._open, self._size = self._open, [], 0
        return record

    def _give_up(self) -> Iterator[list[bytes]]:
        """The first line as it is; those behind it are looked at anew."""
        first, *others = self._whole()
        yield [first]
        yield from self.take(others)
