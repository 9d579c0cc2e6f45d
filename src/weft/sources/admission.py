"""Which files a directory source has admitted, in which order. The log is append-only, so an offset
is a small number into it; a file is admitted once it is settled, and from then on it may not
change."""

from __future__ import annotations

import fcntl
import glob
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from weft.errors import WeftError
from weft.sources.segment import sync_folder

UNFINISHED = (".tmp", ".part", ".partial", ".crdownload", ".swp", "~")


class FileChangedError(WeftError):
    """A file that is not any more what it was when it was admitted."""

    code = "source.file-changed"
    domain = "external"


@dataclass(frozen=True)
class Admitted:
    """A file as it was when it was admitted."""

    path: str
    size: int
    mtime_ns: int

    def check(self) -> None:
        """Refuse a file that is gone or has changed."""
        found = _look(self.path)
        if found == self:
            return
        what = "is gone" if found is None else f"has changed (it had {self.size} bytes)"
        raise FileChangedError(
            f"File {self.path} {what} since it was admitted; its records cannot be read again.",
            hint="Put the file back as it was. New records belong into a new file.",
            file=self.path,
        )


class AdmissionLog:
    """The admitted files, each once, whoever admits them. `known` are their paths."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: list[Admitted] = []
        self.known: set[str] = set()
        self._read = 0

    def files(self) -> list[Admitted]:
        """All admitted files, in order."""
        if self._path.exists():
            with self._path.open("rb") as log:
                self._catch_up(log)
        return self._files

    def admit(self, files: list[Admitted]) -> list[Admitted]:
        """Append the files that are not there yet, durably, and return all."""
        with self._locked() as log:
            self._catch_up(log)
            log.truncate(
                self._read
            )  # a crash may have left a line without its end; no offset speaks of it
            fresh = [file for file in files if file.path not in self.known]
            if fresh:
                log.write("".join(json.dumps(asdict(file)) + "\n" for file in fresh).encode())
                log.flush()
                os.fsync(log.fileno())
                self._catch_up(log)
        return self._files

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
            file = Admitted(**json.loads(line))
            if file.path not in self.known:
                self.known.add(file.path)
                self._files.append(file)


class Watch:
    """Looks at a directory or a pattern, and says which files have settled."""

    def __init__(self, path: str, *, settle_ms: int) -> None:
        self._path = path
        self._settle_s = settle_ms / 1000
        self._seen: dict[str, tuple[Admitted, float]] = {}

    def settled(self, known: set[str]) -> list[Admitted]:
        """The files not in `known` that have stayed the same for long enough, oldest first."""
        now = time.monotonic()
        ready = []
        seen = {}
        for path in paths(self._path):
            file = None if path in known else _look(path)
            if file is None:
                continue
            before, since = self._seen.get(path, (file, now))
            seen[path] = (file, since if before == file else now)
            if before == file and path in self._seen and now - since >= self._settle_s:
                ready.append(file)
        self._seen = seen
        return sorted(ready, key=lambda file: (file.mtime_ns, file.path))


def paths(path: str) -> list[str]:
    """The finished files of a directory or a pattern."""
    if os.path.isdir(path):
        with os.scandir(path) as entries:
            found = [entry.path for entry in entries if entry.is_file()]
    else:
        found = [one for one in glob.glob(path, recursive=True) if os.path.isfile(one)]
    return [os.path.abspath(one) for one in found if is_finished(one)]


def is_finished(path: str) -> bool:
    """Whether the name of a file does not say that it is hidden or still being written."""
    name = os.path.basename(path)
    return not name.startswith((".", "_")) and not name.lower().endswith(UNFINISHED)


def _look(path: str) -> Admitted | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return Admitted(path, status.st_size, status.st_mtime_ns)
