"""Segments: numbered files of raw records that are written whole or not at all, and never change.
The feed and the journal of Python sources write them; the kernel reads the same form."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from weft.errors import WeftError
from weft.locations.location import Addressed, Location, locate

Record = Mapping[str, Any] | str | bytes
"""What a record may be given as: a mapping becomes a JSON object, text and bytes are taken as they
are."""

JOURNAL = PurePath("source") / "journal"
"""The place of a journal's segments in the folder of a source."""

_NAME = re.compile(r"(\d{12})\.segment")
_PREFIX = struct.Struct(">ii")


class SegmentError(WeftError):
    """A segment that cannot be read or written."""

    code = "source.segment"
    domain = "external"


@dataclass(frozen=True)
class Segment:
    """A segment that is on disk: its number, what was stated beside its records, and the sum over both."""

    number: int
    file: Location
    stated: Mapping[str, Any]
    sha256: str

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Each record's partition and bytes, in order; refuses those that are not what was written."""
        content = self.check()
        at = 0
        while at < len(content):
            partition, length = _PREFIX.unpack_from(content, at)
            at += _PREFIX.size
            yield partition, content[at : at + length]
            at += length

    def check(self) -> bytes:
        """The bytes of its records; refuses a segment that is not as it was written."""
        content = self.file.read().partition(b"\n")[2]
        if _sum(self.stated, content) != self.sha256:
            raise _altered(self.file)
        return content


class Segments:
    """A folder of segments, numbered from 1 on without gaps but for pruned ones at the
    beginning."""

    def __init__(self, folder: Addressed) -> None:
        self.folder = locate(folder)

    def file(self, number: int) -> Location:
        """The file of this segment, whether it is there or not."""
        return self.folder / f"{number:012d}.segment"

    def numbers(self) -> list[int]:
        """The numbers of the segments that are there, rising."""
        found = (_NAME.fullmatch(name) for name in self.folder.names())
        return sorted(int(match[1]) for match in found if match)

    def find(self, number: int) -> Segment | None:
        """The segment of this number, or None when there is none."""
        try:
            with self.file(number).open() as file:
                head = json.loads(file.readline())
            return Segment(number, self.file(number), head["stated"], head["sha256"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise _altered(self.file(number)) from error

    def get(self, number: int) -> Segment:
        """The segment of this number; refuses one that is not there."""
        segment = self.find(number)
        if segment is None:
            raise SegmentError(
                f"Segment {number} is not in {self.folder.address}: it was never written, or pruned.",
                code="source.segment-missing",
                domain="missing",
                hint="Keep more segments (`keep`) if batches that old are to be run again.",
                segment=number,
            )
        return segment

    def append(
        self,
        records: Iterable[tuple[int, bytes]],
        *,
        number: int,
        stated: Mapping[str, Any],
        only: bool = False,
    ) -> int:
        """Write a segment durably under this number, or unless it is to have this one `only` under the next free
        one, and return which."""
        content = b"".join(_PREFIX.pack(partition, len(v)) + v for partition, v in records)
        head = {"stated": dict(stated), "sha256": _sum(stated, content)}
        whole = json.dumps(head).encode() + b"\n" + content
        while not self.file(number).put(whole):
            if only:
                raise _taken(self.file(number))
            number += 1
        return number

    def prune(self, *, before: int) -> None:
        """Remove the segments with a number below `before`."""
        for number in self.numbers():
            if number < before:
                self.file(number).delete()


def _sum(stated: Mapping[str, Any], content: bytes) -> str:
    return hashlib.sha256(json.dumps(dict(stated)).encode() + b"\n" + content).hexdigest()


def _taken(file: Location) -> SegmentError:
    return SegmentError(
        f"Segment {file.address} was written by another worker, which has the source now.",
        code="source.segment-taken",
        domain="conflict",
        retryable=True,
        hint="What was read here is read again, from where that one stands.",
        path=file.address,
    )


def _altered(file: Location) -> SegmentError:
    return SegmentError(
        f"Segment {file.address} is not as it was written: it was altered or damaged.",
        code="source.segment-altered",
        hint="Put it back from a backup; its records can be had nowhere else.",
        path=file.address,
    )


def encode(record: Record) -> bytes:
    """The bytes of a record."""
    if isinstance(record, bytes):
        return record
    if isinstance(record, str):
        return record.encode()
    return json.dumps(dict(record), default=_plain, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """The JSON form, which our parser reads back without loss, of a value that JSON has no form
    for."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"a record cannot hold a {type(value).__name__}")
