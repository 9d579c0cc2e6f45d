"""What storages across a network have in common: nothing can be put at the end of a file, so files are written whole,
and a log is one file for each piece that was appended, named by the byte at which it begins. The locations of buckets
and of HDFS are made of it."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import PurePath
from typing import BinaryIO, Self

from weft.locations.location import Location

DIGITS = 16


class RemoteLocation(ABC):
    """A location whose files are read and written whole."""

    @staticmethod
    @abstractmethod
    def at(address: str) -> RemoteLocation:
        """The location at an address."""

    @property
    @abstractmethod
    def address(self) -> str: ...

    @abstractmethod
    def read(self) -> bytes: ...

    @abstractmethod
    def write(self, content: bytes) -> None: ...

    @abstractmethod
    def put(self, content: bytes) -> bool: ...

    @abstractmethod
    def _all(self) -> list[tuple[Self, int]]:
        """Every file below it with its bytes, in the order of their names."""

    def __truediv__(self, name: str | PurePath) -> Self:
        found = self.at(f"{self.address}/{os.fspath(name)}")
        assert isinstance(found, type(self))
        return found

    @property
    def name(self) -> str:
        return self.address.rpartition("/")[2]

    def held(self) -> int:
        return sum(size for _, size in self._all())

    def writing(self) -> AbstractContextManager[BinaryIO]:
        return self._gathering()

    @contextmanager
    def _gathering(self) -> Iterator[BinaryIO]:
        content = io.BytesIO()
        yield content
        self.write(content.getvalue())

    def copy(self, target: Location) -> None:
        target.put(self.read())

    def read_from(self, start: int) -> bytes:
        content = b""
        while True:
            try:
                content += self._piece(start + len(content)).read()
            except FileNotFoundError:
                return content

    def append(self, content: bytes, *, at: int) -> bool:
        return self._piece(at).put(content)

    def _piece(self, start: int) -> Self:
        return self / f"{start:0{DIGITS}d}"

    def written_sum(self) -> str | None:
        return None

    def free(self) -> int | None:
        return None
