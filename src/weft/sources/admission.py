"""Which files a directory source has admitted, in which order. The log is append-only, so an offset
is a small number into it. What a file grows by afterwards is told by the offsets themselves."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from weft import codec
from weft.errors import WeftError
from weft.locations.location import Addressed, locate
from weft.sources.content import find_inode, head_of, look, print_of
from weft.sources.lines import Place

LOG = PurePath("source") / "admitted.jsonl"
"""The log's place in the folder of a source."""


class FileChangedError(WeftError):
    """A file that is gone before it was read to its end."""

    code = "source.file-changed"
    domain = "external"


class LogAlteredError(WeftError):
    """A log of admitted files that is not as it was written."""

    code = "source.log-altered"
    domain = "external"


@dataclass(frozen=True)
class Admitted:
    """A file as it was when it was admitted: so many of its bytes, and what tells it from others.

    Each time that another file takes its path the generation rises. Entries of older logs say neither inode
    nor head.
    """

    path: str
    size: int
    mtime_ns: int
    generation: int = 1
    inode: int | None = None
    head: str | None = None
    """A print of its first bytes, of `seen` at most."""
    print: str | None = None
    """A print of all `size` bytes."""
    seen: int = 0
    whole: bool = False
    """Whether it is read as a whole: another size or other bytes make it another file."""

    def locate(self) -> str | None:
        """Where the file is now, also when it was renamed; None when another has taken its place."""
        found = look(self.path)
        if found is not None and self._is_here(self.path):
            return self.path
        if self.inode is not None:
            other = find_inode(self.inode, os.path.dirname(self.path))
            if other is not None and self._is_here(other):
                return other
        if found is None:
            raise FileChangedError(
                f"File {self.path} is gone since it was admitted; its records cannot be read.",
                hint="Put the file back as it was.",
                file=self.path,
            )
        return None

    def _is_here(self, path: str) -> bool:
        found = look(path)
        if found is None or found.size < self.size:
            return False
        if self.whole and found.mtime_ns != self.mtime_ns:
            return found.size == self.size and print_of(path, self.size) == self.print
        return self.head is None or head_of(path, self.seen) == self.head


@dataclass(frozen=True)
class Remark:
    """Something that is said of an admitted file later, of which `of` is the number.

    `closed`: it was taken up to this place, and offsets need not say so any more. `changed`: what was read of
    it is not what is in it now; it is read on from this place. Both hold for readers that had taken `before`
    bytes; after a rollback one may come by that is behind. An `inode` is the one that it has from now on.
    """

    kind: Literal["closed", "changed"]
    of: int
    line: int
    byte: int
    print: str
    before: int
    inode: int | None = None

    @property
    def place(self) -> Place:
        """Where the file is read on, should it grow."""
        return Place(self.line, self.byte)


Entry = Admitted | Remark


class AdmissionLog:
    """The admitted files, each once, whoever admits them, and the notes about them.

    Each line has the hash of itself and the one before it, so that none can be changed, put in or taken out.
    """

    def __init__(self, log: Addressed) -> None:
        self._log = locate(log)
        self._entries: list[Entry] = []
        self._notes: dict[int, list[tuple[int, Remark]]] = {}
        self._generations: dict[str, int] = {}
        self._read = 0
        self._sum = ""

    def entries(self) -> list[Entry]:
        """All entries, in order."""
        # What has no end yet is being written, or was when a crash came.
        for line in self._log.read_from(self._read).split(b"\n")[:-1]:
            entry = self._next(line)
            self._read += len(line) + 1
            if isinstance(entry, Admitted):
                if entry.generation <= self.generation(entry.path):
                    continue
                self._generations[entry.path] = entry.generation
            else:
                self._notes.setdefault(entry.of, []).append((len(self._entries), entry))
            self._entries.append(entry)
        return self._entries

    def notes(self, of: int, first: int, last: int) -> list[Remark]:
        """What is said of a file in the entries from one number on and up to another."""
        return [note for number, note in self._notes.get(of, ()) if first <= number < last]

    def generation(self, path: str) -> int:
        """How many files were admitted under a path."""
        return self._generations.get(path, 0)

    def admit(self, entries: list[Entry]) -> list[Entry]:
        """Append the entries that are not there yet, durably, and return all."""
        while True:
            self.entries()  # another process may admit files too
            lines = self._lines(entries)
            if not lines or self._log.append(lines, at=self._read):
                return self.entries()

    def _lines(self, entries: Sequence[Entry]) -> bytes:
        """The lines of those entries that are not in the log, to follow its last."""
        lines, after = [], self._sum
        fresh: dict[str, int] = {}
        said: list[Entry] = []
        for entry in entries:
            if isinstance(entry, Admitted):
                if entry.generation != fresh.get(entry.path, self.generation(entry.path)) + 1:
                    continue
                fresh[entry.path] = entry.generation
            elif entry in said or entry in self.notes(entry.of, 0, len(self._entries)):
                continue
            said.append(entry)
            form = codec.pack(entry)
            lines.append(line_of(form, after=after))
            after = _sum(after, form)
        return b"".join(lines)

    def _next(self, line: bytes) -> Entry:
        """The entry of a line that follows the one before it."""
        try:
            form = json.loads(line)
            told = form.pop("sum")
            if told != _sum(self._sum, form):
                raise ValueError("the sum is another")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LogAlteredError(
                f"The log of admitted files {self._log.address} is not as it was written, from byte {self._read} on.",
                hint="Put it back from a backup: it tells which records of which files were read.",
                path=self._log.address,
            ) from error
        self._sum = told
        return codec.unpack(Remark, form) if "of" in form else codec.unpack(Admitted, form)


def line_of(form: Mapping[str, Any], *, after: str) -> bytes:
    """The line of an entry in its stored form, which comes after the line of this sum."""
    return json.dumps({**form, "sum": _sum(after, form)}).encode() + b"\n"


def _sum(before: str, form: Mapping[str, Any]) -> str:
    return hashlib.sha256((before + json.dumps(form)).encode()).hexdigest()
