"""Files on this machine's disks, or on a disk that machines share. Made by `locate`."""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path, PurePath
from typing import BinaryIO

from weft.locations.location import Location

SUM = "user.weft.sha256"
"""The attribute of a checkpoint file in which the kernel notes the SHA-256 of its content."""


@dataclass(frozen=True)
class LocalLocation:
    """A path; hard links stand for copies, and renames make things whole."""

    address: str

    @property
    def path(self) -> Path:
        """The path as such."""
        return Path(self.address)

    @property
    def name(self) -> str:
        return self.path.name

    def __truediv__(self, name: str | PurePath) -> LocalLocation:
        return LocalLocation(os.path.join(self.address, os.fspath(name)))

    def exists(self) -> bool:
        return os.path.exists(self.address)

    def names(self) -> list[str]:
        try:
            return sorted(os.listdir(self.address))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def files(self) -> Iterator[tuple[str, Location]]:
        found = (
            os.path.join(folder, name)
            for folder, _, names in os.walk(self.address)
            for name in names
        )
        for path in sorted(found):
            yield os.path.relpath(path, self.address), LocalLocation(path)

    def size(self) -> int:
        return os.stat(self.address).st_size

    def held(self) -> int:
        seen: dict[int, int] = {}
        for folder, _, names in os.walk(self.address):
            for name in names:
                try:
                    found = os.stat(os.path.join(folder, name))
                except FileNotFoundError:  # Spark cleans up meanwhile
                    continue
                seen[found.st_ino] = found.st_size
        return sum(seen.values())

    def read(self) -> bytes:
        return self.path.read_bytes()

    def open(self) -> BufferedIOBase:
        return self.path.open("rb")

    def write(self, content: bytes) -> None:
        building = self._build(content)
        building.replace(self.path)
        sync_folder(self.path.parent)

    @contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        building = self._begin()
        try:
            with building.open("xb") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            building.replace(self.path)
        finally:
            building.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def put(self, content: bytes) -> bool:
        building = self._build(content)
        try:
            os.link(building, self.address)
        except FileExistsError:
            return False
        finally:
            building.unlink()
        sync_folder(self.path.parent)
        return True

    def _build(self, content: bytes) -> Path:
        """A file beside, with its bytes on the disk."""
        building = self._begin()
        with building.open("xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        return building

    def _begin(self) -> Path:
        """The path of a file beside, which nobody else has."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.path.with_name(f".{self.name}.{uuid.uuid4().hex[:8]}.building")

    def copy(self, target: Location) -> None:
        assert isinstance(target, LocalLocation)
        try:
            os.link(self.address, target.address)
        except FileExistsError:
            return
        except FileNotFoundError:
            if not self.exists():
                raise
            target.path.parent.mkdir(parents=True, exist_ok=True)
            self.copy(target)

    def fill(self, fill: Callable[[Location], None], *, last: str) -> None:
        building = self.path.with_name(f".{self.name}.{uuid.uuid4().hex[:8]}.building")
        building.mkdir(parents=True)
        try:
            fill(LocalLocation(str(building)))
            sync_folder(building)
            building.rename(self.path)
        except OSError:
            if not self.exists():  # else another try was faster, and has cleared up
                raise
        for left in self.path.parent.glob(f".{self.name}.*building"):
            shutil.rmtree(left, ignore_errors=True)
        sync_folder(self.path.parent)

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)

    def delete_all(self) -> None:
        shutil.rmtree(self.address, ignore_errors=True)

    def read_from(self, start: int) -> bytes:
        try:
            with self.open() as log:
                log.seek(start)
                return log.read()
        except FileNotFoundError:
            return b""

    def append(self, content: bytes, *, at: int) -> bool:
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        new = not self.exists()
        with self.path.open("a+b") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            log.seek(at)
            # A crash may have left a line without its end, of which nobody was told.
            if b"\n" in log.read():
                return False
            log.truncate(at)
            log.write(content)
            log.flush()
            os.fsync(log.fileno())
            if new:
                sync_folder(folder)
        return True

    def written_sum(self) -> str | None:
        try:
            return os.getxattr(self.address, SUM).decode(errors="replace")
        except OSError:
            return None

    def free(self) -> int | None:
        return shutil.disk_usage(self.address).free


def sync_folder(folder: Path) -> None:
    """Make the names of a folder durable, not only the content of its files."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
