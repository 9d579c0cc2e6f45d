"""Which files a directory source has admitted, in which order. The log is append-only, so an offset
is a small number into it. What a file grows by afterwards is told by the offsets themselves."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Literal

from weft.errors import WeftError
from weft.sources.content import find_inode, head_of, look, print_of
from weft.sources.lines import Place
from weft.sources.segment import sync_folder


class FileChangedError(WeftError):
    """A file that is gone before it was read to its end."""

    code = "source.file-changed"
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
class Note:
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


Entry = Admitted | Note


class AdmissionLog:
    """The admitted files, each once, whoever admits them, and the notes about them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: list[Entry] = []
        self._notes: dict[int, list[tuple[int, Note]]] = {}
        self._generations: dict[str, int] = {}
        self._read = 0

    def entries(self) -> list[Entry]:
        """All entries, in order."""
        if self._path.exists():
            with self._path.open("rb") as log:
                self._catch_up(log)
        return self._entries

    def notes(self, of: int, first: int, last: int) -> list[Note]:
        """What is said of a file in the entries from one number on and up to another."""
        return [note for number, note in self._notes.get(of, ()) if first <= number < last]

    def generation(self, path: str) -> int:
        """How many files were admitted under a path."""
        return self._generations.get(path, 0)

    def admit(self, entries: list[Entry]) -> list[Entry]:
        """Append the entries that are not there yet, durably, and return all."""
        with self._locked() as log:
            self._catch_up(log)
            log.truncate(
                self._read
            )  # a crash may have left a line without its end; no offset speaks of it
            for entry in entries:
                if self._is_fresh(entry):
                    log.write(json.dumps(_to_dict(entry)).encode() + b"\n")
                    log.flush()
                    self._catch_up(log)
            os.fsync(log.fileno())
        return self._entries

    def _is_fresh(self, entry: Entry) -> bool:
        if isinstance(entry, Admitted):
            return entry.generation == self.generation(entry.path) + 1
        return entry not in self.notes(entry.of, 0, len(self._entries))

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """The log for appending, held against another process that admits files too."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = not self._path.exists()
        with self._path.open("a+b") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            if new:
                sync_folder(self._path.parent)
            yield log

    def _catch_up(self, log: IO[bytes]) -> None:
        log.seek(self._read)
        for line in log:
            if not line.endswith(b"\n"):
                break
            self._read += len(line)
            entry = _from_dict(json.loads(line))
            if isinstance(entry, Admitted):
                if entry.generation <= self.generation(entry.path):
                    continue
                self._generations[entry.path] = entry.generation
            else:
                self._notes.setdefault(entry.of, []).append((len(self._entries), entry))
            self._entries.append(entry)


def _to_dict(entry: Entry) -> dict[str, Any]:
    return asdict(entry)


def _from_dict(form: dict[str, Any]) -> Entry:
    return Note(**form) if "of" in form else Admitted(**form)
