"""A log where nothing can be put at the end of a file: one file for each piece that was appended, named by the byte at
which it begins. Called by the locations of buckets and of HDFS."""

from __future__ import annotations

from weft.locations.location import Location

DIGITS = 16


def read_from(log: Location, start: int) -> bytes:
    """What a log holds from a byte on, at which a piece begins."""
    content = b""
    while True:
        try:
            content += _piece(log, start + len(content)).read()
        except FileNotFoundError:
            return content


def append(log: Location, content: bytes, *, at: int) -> bool:
    """Put a piece at the end of a log; False when there is one already."""
    return _piece(log, at).put(content)


def _piece(log: Location, start: int) -> Location:
    return log / f"{start:0{DIGITS}d}"
