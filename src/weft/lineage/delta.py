"""The log of a stream's table as it lies on disk: a Delta log, read line by line, each commit as it was written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

LOG_FOLDER = "_delta_log"
_NAME = re.compile(r"(\d{20})\.json")
_SUM = re.compile(rb'\\"sum\\":\\"([0-9a-f]{64})\\"')


class CommitUnreadableError(Exception):
    """A commit that is not what a writer of Weft writes."""


@dataclass(frozen=True)
class Commit:
    """One version of a table: a knot, a rollback, or its creation."""

    version: int
    weft: Mapping[str, Any]
    adds: tuple[Mapping[str, Any], ...]
    removes: tuple[str, ...]

    @property
    def knot(self) -> int | None:
        """The number of the knot that it holds."""
        number = self.weft.get("knot")
        return number if isinstance(number, int) else None


def versions(table: Path) -> list[int]:
    """The versions of a table that lie on disk, in order."""
    folder = table / LOG_FOLDER
    names = (_NAME.fullmatch(entry.name) for entry in folder.iterdir()) if folder.is_dir() else ()
    return sorted(int(name[1]) for name in names if name)


def read_commit(table: Path, version: int) -> Commit:
    """One version of a table; raises CommitUnreadableError when it is not as it was written."""
    data = (table / LOG_FOLDER / f"{version:020d}.json").read_bytes()
    _check_sum(data)
    try:
        actions = [orjson.loads(line) for line in data.splitlines() if line]
        infos = [action["commitInfo"] for action in actions if "commitInfo" in action]
        note = orjson.loads(infos[0]["userMetadata"])
        return Commit(
            version,
            weft=note.get("weft") or {},
            adds=tuple(_file(action["add"]) for action in actions if "add" in action),
            removes=tuple(action["remove"]["path"] for action in actions if "remove" in action),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise CommitUnreadableError(f"it cannot be read ({type(error).__name__}: {error})") from None


def _check_sum(data: bytes) -> None:
    """The commit names the SHA-256 of its own text, taken with zeros in the sum's place."""
    found = _SUM.search(data)
    if found is None:
        raise CommitUnreadableError("it has no checksum: another tool wrote it, or it was changed")
    start, end = found.span(1)
    blank = data[:start] + b"0" * 64 + data[end:]
    if hashlib.sha256(blank).hexdigest().encode() != found[1]:
        raise CommitUnreadableError("its text is not what was written")


def _file(add: Mapping[str, Any]) -> dict[str, Any]:
    """A file of a commit in the form in which knots record files."""
    return {
        "path": add["path"],
        "rows": orjson.loads(add["stats"])["numRecords"],
        "bytes": add["size"],
        "sha256": add["tags"]["weft.sha256"],
    }


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def commits(table: Path) -> Iterator[tuple[int, Commit | CommitUnreadableError]]:
    """Every version of a table with its commit, or with what is wrong with it."""
    for version in versions(table):
        try:
            yield version, read_commit(table, version)
        except CommitUnreadableError as error:
            yield version, error
