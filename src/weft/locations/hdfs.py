"""Files of HDFS. Made by `locate`.

Where a name node cannot be told from an address alone, `HADOOP_CONF_DIR` names the folder with Hadoop's own settings,
for this as for Spark.
"""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from weft.locations.location import AddressError, Location, UnreachableError
from weft.locations.remote import RemoteLocation

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer
    from hdfs_native import Client, FileReader

PATIENCE = {"dfs.client.failover.max.attempts": "5"}
"""A name node that does not answer is asked so often, for half a minute; left to itself the client takes minutes."""
SCHEME = "hdfs://"


@dataclass(frozen=True)
class HdfsLocation(RemoteLocation):
    """A path of one HDFS; renames that overwrite nothing make things whole."""

    host: str
    path: str

    @staticmethod
    def at(address: str) -> HdfsLocation:
        """The location at `hdfs://HOST:PORT/PATH`."""
        host, _, path = address.removeprefix(SCHEME).partition("/")
        if not host:
            raise AddressError(
                f"{address} names no name node.",
                hint="Write `hdfs://HOST:PORT/FOLDER`.",
                address=address,
            )
        return HdfsLocation(host, "/" + "/".join(part for part in path.split("/") if part))

    @property
    def address(self) -> str:
        return f"{SCHEME}{self.host}{self.path}"

    @property
    def _client(self) -> Client:
        return _open(self.host)

    def exists(self) -> bool:
        try:
            with _asking(self.address):
                self._client.get_file_info(self.path)
        except FileNotFoundError:
            return False
        return True

    def names(self) -> list[str]:
        try:
            with _asking(self.address):
                found = [one.path for one in self._client.list_status(self.path)]
        except FileNotFoundError:
            return []
        return sorted(path.rpartition("/")[2] for path in found)

    def files(self) -> Iterator[tuple[str, Location]]:
        for found, _ in self._all():
            yield found.path.removeprefix(f"{self.path}/"), found

    def _all(self) -> list[tuple[HdfsLocation, int]]:
        try:
            with _asking(self.address):
                listed = self._client.list_status(self.path, recursive=True)
                found = sorted((one.path, one.length) for one in listed if not one.isdir)
        except FileNotFoundError:
            return []
        return [(HdfsLocation(self.host, path), size) for path, size in found]

    def size(self) -> int:
        with _asking(self.address):
            return int(self._client.get_file_info(self.path).length)

    def read(self) -> bytes:
        with self.open() as file:
            return file.read()

    def open(self) -> io.BufferedIOBase:
        with _asking(self.address):
            return io.BufferedReader(HdfsFile(self._client.read(self.path)))

    def write(self, content: bytes) -> None:
        building = self._build(content)
        with _asking(self.address):
            self._client.rename(building, self.path, overwrite=True)

    def put(self, content: bytes) -> bool:
        building = self._build(content)
        with _asking(self.address):
            try:
                self._client.rename(building, self.path, overwrite=False)
                return True
            except FileExistsError:
                self._client.delete(building)
                return False

    def _build(self, content: bytes) -> str:
        """A file beside, with its bytes on the disks of its nodes."""
        from hdfs_native import WriteOptions

        folder, _, name = self.path.rpartition("/")
        building = f"{folder}/.{name}.{uuid.uuid4().hex[:8]}.building"
        with (
            _asking(self.address),
            self._client.create(building, WriteOptions(create_parent=True)) as file,
        ):
            file.write(content)
            file.hsync()
        return building

    def fill(self, fill: Callable[[Location], None], *, last: str) -> None:
        folder, _, name = self.path.rpartition("/")
        building = HdfsLocation(self.host, f"{folder}/.{name}.{uuid.uuid4().hex[:8]}.building")
        fill(building)
        with _asking(self.address):
            try:
                self._client.rename(building.path, self.path, overwrite=False)
            except (FileExistsError, FileNotFoundError):
                # Another try was faster, and may have cleared up; without `last` there was none.
                if not (self / last).exists():
                    raise
        for left in HdfsLocation(self.host, folder or "/").names():
            if left.startswith(f".{name}.") and left.endswith(".building"):
                HdfsLocation(self.host, f"{folder}/{left}").delete_all()

    def delete(self) -> None:
        self._delete(recursive=False)

    def delete_all(self) -> None:
        self._delete(recursive=True)

    def _delete(self, *, recursive: bool) -> None:
        with suppress(FileNotFoundError), _asking(self.address):
            self._client.delete(self.path, recursive)


class HdfsFile(io.RawIOBase):
    """A file that is being read, as Python's buffers want one: its client's does not say where a seek has led."""

    def __init__(self, file: FileReader) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._file.seek(offset, whence)
        return self._file.tell()

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        content = self._file.read(len(view))
        view[: len(content)] = content
        return len(content)


@lru_cache
def _open(host: str) -> Client:
    from hdfs_native import Client

    return Client(f"{SCHEME}{host}", PATIENCE)


@contextmanager
def _asking(address: str) -> Iterator[None]:
    """Say what HDFS could not do as an error of Weft; that a file is there or not, as Python does."""
    try:
        yield
    except (FileNotFoundError, FileExistsError):
        raise
    except (OSError, RuntimeError) as error:
        raise UnreachableError(
            f"{address} cannot be used: {str(error).partition(chr(10))[0]}.",
            hint="Its name node must answer at this address, or be named in the settings that HADOOP_CONF_DIR "
            "points to.",
            address=address,
        ) from error
