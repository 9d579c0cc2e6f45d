"""A file or folder by its address, whatever keeps it: the small protocol that everything below a storage goes through.

In comes the address of a folder, on a disk, in a bucket or on HDFS, out comes a `Location`. What is written is there
whole or not at all, and durable when the call returns. Called by sources, streams, the runtime and the commands that
read a storage; what Spark and the kernel read and write by the same addresses goes through Hadoop.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import BufferedIOBase
from pathlib import PurePath
from typing import BinaryIO, Protocol

from weft.errors import Domain, WeftError


class AddressError(WeftError):
    """An address at which nothing can be stored."""

    code = "storage.address"
    domain = "user"


class UnreachableError(WeftError):
    """A storage does not answer, or not as it should."""

    code = "storage.unreachable"
    domain: Domain = "external"
    retryable = True


class Location(Protocol):
    """A file or folder that may be there or not; folders are there as soon as something is in them."""

    @property
    def address(self) -> str:
        """What Spark, the kernel and people call it."""
        ...

    @property
    def name(self) -> str:
        """The last part of its address."""
        ...

    def __truediv__(self, name: str | PurePath) -> Location:
        """What lies below under this name."""
        ...

    def exists(self) -> bool:
        """Whether it is there, as a file or a folder."""
        ...

    def names(self) -> list[str]:
        """The names right below it, in their order; none when it is not there."""
        ...

    def files(self) -> Iterator[tuple[str, Location]]:
        """Every file below it, each with its name from here on, in the order of these names."""
        ...

    def size(self) -> int:
        """The bytes of a file; raises FileNotFoundError when it is not there."""
        ...

    def held(self) -> int:
        """The bytes of all files below it; one that lies there under several names counts once."""
        ...

    def read(self) -> bytes:
        """The content of a file; raises FileNotFoundError when it is not there."""
        ...

    def open(self) -> BufferedIOBase:
        """A file to read here and there; raises FileNotFoundError when it is not there."""
        ...

    def write(self, content: bytes) -> None:
        """Make this the content of a file, whether it was there or not; names that share the old content keep it."""
        ...

    def writing(self) -> AbstractContextManager[BinaryIO]:
        """A file to write piece by piece, which is there when that has ended well, as with `write`."""
        ...

    def put(self, content: bytes) -> bool:
        """Make a file of this content unless there is one, whoever else tries; says whether it did."""
        ...

    def copy(self, target: Location) -> None:
        """Make a file that is never changed in place be there under another name too, unless that name is taken."""
        ...

    def fill(self, fill: Callable[[Location], None], *, last: str) -> None:
        """Make a folder by a function that fills the one it is given; only with its file `last` is it whole.

        Where a folder can be moved in one step it is there whole or not at all; elsewhere whoever looks for `last` sees
        whether it is. Several may be at it at once: the first to be done wins, or all write the same.
        """
        ...

    def delete(self) -> None:
        """Delete a file, if it is there."""
        ...

    def delete_all(self) -> None:
        """Delete a folder with all below it, if it is there."""
        ...

    def read_from(self, start: int) -> bytes:
        """What a log holds from a byte on; a log is a file that only `append` writes."""
        ...

    def append(self, content: bytes, *, at: int) -> bool:
        """Put content at the end of a log, which is at this byte; False when others have appended meanwhile."""
        ...

    def written_sum(self) -> str | None:
        """The SHA-256 that was noted beside a file when it was written, where such notes are kept."""
        ...

    def free(self) -> int | None:
        """How many bytes there is room for, where that is known."""
        ...


Addressed = str | os.PathLike[str] | Location
"""What names a location, or is one."""


def locate(address: Addressed) -> Location:
    """The location at an address: a path on this machine, `file:…`, `s3a://BUCKET/…` or `hdfs://HOST/…`."""
    if not isinstance(address, str | os.PathLike):
        return address
    text = os.fspath(address)
    scheme, found, _ = text.partition("://")
    if not found or scheme == "file":
        from weft.locations.local import LocalLocation

        return LocalLocation(text.removeprefix("file://").removeprefix("file:"))
    if scheme == "s3a":
        from weft.locations.bucket import BucketLocation

        return BucketLocation.at(text)
    if scheme == "hdfs":
        from weft.locations.hdfs import HdfsLocation

        return HdfsLocation.at(text)
    raise AddressError(
        f"Nothing can be stored at {text}: its kind, '{scheme}', is not known.",
        hint="Storage is a folder, `s3a://BUCKET/FOLDER` or `hdfs://HOST:PORT/FOLDER`.",
        address=text,
    )


def is_local(address: str) -> bool:
    """Whether an address names a folder of this machine, or one that is mounted there."""
    scheme, found, _ = address.partition("://")
    return not found or scheme == "file"
