"""The log of a stream's table as it lies on disk: a Delta log, read line by line, each commit as it was written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from weft import codec
from weft.lineage.facts import DataFile
from weft.lineage.finding import Verification
from weft.locations.location import Location
from weft.streams.compacted import CompactedFile, Compactions

LOG_FOLDER = "_delta_log"
FLOOR = "_weft_floor.json"
"""The file of a log that says where it begins; other tools pass it over."""
_NAME = re.compile(r"(\d{20})\.json")
_SUM = re.compile(rb'\\"sum\\":\\"([0-9a-f]{64})\\"')


@dataclass(frozen=True)
class Commit:
    """One version of a table: a knot, a rollback, an expiry, a compaction or its creation.

    `flaw` is what is wrong with its text.
    """

    version: int
    weft: Mapping[str, Any]
    adds: tuple[DataFile, ...]
    removes: tuple[str, ...]
    flaw: str | None
    metadata: Mapping[str, Any] | None = None
    """Delta's description of the table that it sets."""

    @property
    def knot(self) -> int | None:
        """The number of the knot that it holds."""
        number = self.weft.get("knot")
        return number if isinstance(number, int) else None

    @property
    def expires(self) -> int:
        """The last knot whose rows it takes out of the table for their age or size; 0 when it takes none."""
        number = self.weft.get("expire")
        return number if isinstance(number, int) else 0

    @property
    def compacts(self) -> tuple[CompactedFile, ...]:
        """The files that it puts in the place of those of several knots."""
        return tuple(codec.from_form(CompactedFile, one) for one in self.weft.get("compact") or ())

    def span(self, turn: Literal["cut", "restore"]) -> range:
        """The knots that it takes out of the table, or brings back."""
        keep, head = self.weft.get(turn, (0, 0))
        return range(keep + 1, head + 1)


def first_version(table: Location) -> int:
    """The first version that a table's log has; those before it may be gone with their knots."""
    try:
        text = (table / LOG_FOLDER / FLOOR).read()
    except FileNotFoundError:
        return 0
    return int(orjson.loads(text)["version"]) + 1


def commits(table: Location) -> Iterator[Commit]:
    """Every version of a table from the first that it has, in order."""
    first = first_version(table)
    return (commit for commit in all_commits(table) if commit.version >= first)


def all_commits(table: Location) -> Iterator[Commit]:
    """Every version of a table that is stored, in order, also those that go now."""
    folder = table / LOG_FOLDER
    for name in folder.names():
        if found := _NAME.fullmatch(name):
            yield _parse(int(found[1]), (folder / name).read())


def compactions(table: Location) -> Compactions:
    """Which knots of a table share a file now."""
    found = Compactions()
    for commit in commits(table):
        found.add(commit.compacts)
    return found


def _parse(version: int, data: bytes) -> Commit:
    try:
        actions = [orjson.loads(line) for line in data.splitlines() if line]
        info = next(action["commitInfo"] for action in actions if "commitInfo" in action)
        flaw = _find_flaw(data)
        return Commit(
            version,
            # What was changed is not gone by.
            weft={} if flaw else orjson.loads(info["userMetadata"]).get("weft") or {},
            adds=tuple(_file(action["add"]) for action in actions if "add" in action),
            removes=tuple(action["remove"]["path"] for action in actions if "remove" in action),
            flaw=flaw,
            metadata=next((one["metaData"] for one in actions if "metaData" in one), None),
        )
    except (ValueError, KeyError, StopIteration, TypeError, AttributeError) as error:
        return Commit(version, {}, (), (), f"it cannot be read: {type(error).__name__}: {error}")


def _find_flaw(data: bytes) -> str | None:
    """A commit names the SHA-256 of its own text, taken with zeros in the sum's place."""
    found = _SUM.search(data)
    if found is None:
        return "it has no checksum: another tool wrote it, or it was changed"
    start, end = found.span(1)
    blank = data[:start] + b"0" * 64 + data[end:]
    same = hashlib.sha256(blank).hexdigest().encode() == found[1]
    return None if same else "its text is not what was written"


def _file(add: Mapping[str, Any]) -> DataFile:
    """A file of a commit as knots record files."""
    return DataFile(
        path=add["path"],
        rows=orjson.loads(add["stats"])["numRecords"],
        bytes=add["size"],
        sha256=add["tags"]["weft.sha256"],
        root=add["tags"].get("weft.root"),
    )


def sha256_of(path: Location) -> str:
    """The SHA-256 of a file."""
    with path.open() as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checkpoint_name(version: int) -> str:
    """The file name that Delta gives to a checkpoint of a version."""
    return f"{version:020d}.checkpoint.parquet"


def check_checkpoint(
    table: Location, version: int, files: Mapping[str, DataFile], report: Verification
) -> None:
    """A Delta checkpoint of a version, which other tools read in the log's place, has the same files."""
    path = table / LOG_FOLDER / checkpoint_name(version)
    where = f"checkpoint {version} of the table in {table.name}"
    try:
        with path.open() as file:
            adds = pq.read_table(file, columns=["add"]).column("add").to_pylist()
    except (OSError, pa.ArrowException) as error:
        report.add("table.checkpoint", where, f"it cannot be read: {error}")
        return
    held = {(add["path"], add["size"]) for add in adds if add is not None}
    report.expect(
        held == {(name, file.bytes) for name, file in files.items()},
        "table.checkpoint",
        where,
        "its files are not those of the log",
    )
