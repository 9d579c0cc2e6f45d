"""What a file holds, as far as it must be known again: what the file system says of it, and prints of its
bytes, by which a file that grew is told from one that was replaced or changed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Any

HEAD = 4096
WHOLE = 4 << 20
"""Up to here every byte counts for the print of a file; of longer files samples do."""
SAMPLES = 256


@dataclass(frozen=True)
class Sight:
    """A file as the file system shows it."""

    size: int
    mtime_ns: int
    inode: int

    def is_unchanged(self, other: Sight) -> bool:
        """Whether nothing was written in between; a file that was copied with its time is the same."""
        return (self.size, self.mtime_ns) == (other.size, other.mtime_ns)


def look(path: str) -> Sight | None:
    """What the file system says of a file, or None when it is not there."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Sight(status.st_size, status.st_mtime_ns, status.st_ino)


def head_size(path: str, end: int, lines: int | None) -> int:
    """How many bytes tell one file from another: its first lines, if so many end within the first bytes."""
    with open(path, "rb") as file:
        start = file.read(min(HEAD, end))
    at = -1
    for _ in range(lines or 0):
        at = start.find(b"\n", at + 1)
        if at < 0:
            break
    return at + 1 if at >= 0 else len(start)


def head_of(path: str, size: int) -> str:
    """A print of the first bytes of a file, of so many at most."""
    with open(path, "rb") as file:
        return _hex(hashlib.sha256(file.read(min(HEAD, size))))


def print_of(path: str, size: int) -> str:
    """A print of the first so many bytes of a file; one that is shorter has another."""
    found = hashlib.sha256(str(size).encode())
    with open(path, "rb") as file:
        if size <= WHOLE:
            found.update(file.read(size))
        else:
            # Evenly over the file, its first and last bytes among them.
            for number in range(SAMPLES):
                file.seek((size - HEAD) * number // (SAMPLES - 1))
                found.update(file.read(HEAD))
    return _hex(found)


def find_inode(inode: int, folder: str) -> str | None:
    """The path in a folder that a file has now, whatever its name."""
    try:
        with os.scandir(folder) as entries:
            return next((entry.path for entry in entries if entry.inode() == inode), None)
    except FileNotFoundError:
        return None


def _hex(found: Any) -> str:
    return str(found.hexdigest()[:24])
