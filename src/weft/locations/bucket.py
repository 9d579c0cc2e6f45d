"""Objects of a bucket that speaks S3. Made by `locate`.

Keys and endpoint come from the environment, by the names that AWS's own tools know: `AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`; without keys, the machine's own role.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from weft.locations.location import AddressError, Location, UnreachableError
from weft.locations.remote import RemoteLocation

if TYPE_CHECKING:
    from obstore.store import S3Store

SCHEME = "s3a://"
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")


@dataclass(frozen=True)
class BucketLocation(RemoteLocation):
    """A key of a bucket: an object, or the beginning of the keys of several."""

    bucket: str
    key: str

    @staticmethod
    def at(address: str) -> BucketLocation:
        """The location at `s3a://BUCKET/KEY`."""
        bucket, _, key = address.removeprefix(SCHEME).partition("/")
        if not bucket:
            raise AddressError(
                f"{address} names no bucket.", hint="Write `s3a://BUCKET/FOLDER`.", address=address
            )
        return BucketLocation(bucket, "/".join(part for part in key.split("/") if part))

    @property
    def address(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}" if self.key else f"{SCHEME}{self.bucket}"

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def _store(self) -> S3Store:
        return _open(self.bucket, find_endpoint())

    def exists(self) -> bool:
        import obstore

        with _asking(self.address):
            try:
                obstore.head(self._store, self.key)
                return True
            except FileNotFoundError:
                return bool(self.names())

    def names(self) -> list[str]:
        import obstore

        with _using(self.address):
            found = obstore.list_with_delimiter(self._store, prefix=self.key or None)
        paths = [*found["common_prefixes"], *(one["path"] for one in found["objects"])]
        return sorted(path.rstrip("/").rpartition("/")[2] for path in paths)

    def files(self) -> Iterator[tuple[str, Location]]:
        for found, _ in self._all():
            yield found.key.removeprefix(f"{self.key}/") if self.key else found.key, found

    def _all(self) -> list[tuple[BucketLocation, int]]:
        import obstore

        with _using(self.address):
            listed = obstore.list(self._store, prefix=self.key or None)
            found = sorted((one["path"], one["size"]) for page in listed for one in page)
        return [(BucketLocation(self.bucket, key), size) for key, size in found]

    def size(self) -> int:
        import obstore

        with _asking(self.address):
            return int(obstore.head(self._store, self.key)["size"])

    def read(self) -> bytes:
        import obstore

        with _asking(self.address):
            return bytes(obstore.get(self._store, self.key).bytes())

    def open(self) -> io.BufferedIOBase:
        return io.BytesIO(self.read())

    def write(self, content: bytes) -> None:
        import obstore

        with _using(self.address):
            obstore.put(self._store, self.key, content)

    def put(self, content: bytes) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with _using(self.address):
            try:
                # A conditional write is one request: an upload in parts would be tried in several.
                obstore.put(self._store, self.key, content, mode="create", use_multipart=False)
                return True
            except AlreadyExistsError:
                return False

    def fill(self, fill: Callable[[Location], None], *, last: str) -> None:
        del last  # whoever looks at the folder looks for it
        fill(self)

    def delete(self) -> None:
        import obstore

        with _using(self.address):
            obstore.delete(self._store, self.key)

    def delete_all(self) -> None:
        import obstore

        keys = [found.key for found, _ in self._all()]
        with _using(self.address):
            if keys:
                obstore.delete(self._store, keys)


def find_endpoint() -> str | None:
    """Where buckets are asked for, if not at AWS's own."""
    return next((os.environ[name] for name in ENDPOINTS if os.environ.get(name)), None)


def delta_options(address: str) -> dict[str, str] | None:
    """What delta-rs is told of the bucket of a table, if it lies in one."""
    endpoint = find_endpoint() if address.startswith(SCHEME) else None
    if endpoint is None:
        return None
    return {
        "aws_endpoint": endpoint,
        "aws_allow_http": str(endpoint.startswith("http://")).lower(),
    }


@lru_cache
def _open(bucket: str, endpoint: str | None) -> S3Store:
    from obstore.store import S3Store

    if endpoint is None:
        return S3Store(bucket)
    return S3Store(
        bucket,
        endpoint=endpoint,
        virtual_hosted_style_request=False,
        client_options={"allow_http": endpoint.startswith("http://")},
    )


@contextmanager
def _asking(address: str) -> Iterator[None]:
    """Say what a bucket could not do as an error of Weft; that an object is not there, as Python does."""
    from obstore.exceptions import BaseError, NotFoundError

    try:
        yield
    except (FileNotFoundError, NotFoundError) as error:
        raise FileNotFoundError(address) from error
    except BaseError as error:
        raise _unreachable(address, error) from error


@contextmanager
def _using(address: str) -> Iterator[None]:
    """The same for what needs no object but a bucket."""
    try:
        with _asking(address):
            yield
    except FileNotFoundError as error:
        raise _unreachable(address, "there is no such bucket") from error


def _unreachable(address: str, why: object) -> UnreachableError:
    return UnreachableError(
        f"{address} cannot be used: {str(why).partition(chr(10))[0]}.",
        hint="Keys, region and endpoint come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and "
        "AWS_ENDPOINT_URL; the bucket must be there.",
        address=address,
    )
