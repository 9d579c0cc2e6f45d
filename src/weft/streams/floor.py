"""The oldest part of a table's log let go of: knots whose rows are expired, and what was done to them.

In comes the first knot that stays, out comes a log that begins with it, and a file beside it that says so with what
later knots still need: the table's columns, and the code that knots were woven by. Other tools open the table by a
Delta checkpoint that is newer than what goes. Called by a worker; may be repeated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from weft import canonical, codec
from weft.locations.location import Location
from weft.streams import delta_checkpoint
from weft.streams.log import FLOOR, LOG_FOLDER, Commit, all_commits
from weft.streams.note import Definitions

_VERSION = re.compile(r"(\d{20})\.(json|checkpoint\.parquet)")


@dataclass(frozen=True)
class LogFloor:
    """Where a table's log begins."""

    version: int
    """The last version that is gone."""
    knot: int
    """The first knot that stays."""
    expired: int
    """The last knot whose rows were let go of by then."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Delta's description of the table as of then."""
    definitions: Definitions = field(default_factory=Definitions)
    """The newest definition of its pipeline that was told by then, and every rule."""
    sum: str = ""

    def summed(self) -> LogFloor:
        """With the checksum of all the rest."""
        form = codec.to_form(replace(self, sum=""))
        return replace(self, sum=hashlib.sha256(canonical.encode(form)).hexdigest())

    @property
    def is_intact(self) -> bool:
        """Whether it is what was written."""
        return self.sum == self.summed().sum


def find_floor(table: Location) -> LogFloor | None:
    """Where a table's log begins; None where it is whole."""
    file = table / LOG_FOLDER / FLOOR
    return codec.unpack(LogFloor, orjson.loads(file.read())) if file.exists() else None


def raise_floor(table: Location, knot: int) -> int:
    """Let go of the versions of a table's log before the commit of a knot or, without one, of the next; how many."""
    floor = _floor_at(table, knot)
    if floor is None:
        return 0
    if floor != find_floor(table):
        (table / LOG_FOLDER / FLOOR).write(orjson.dumps(codec.pack(floor)))
    # Who opens the table without our floor needs a checkpoint in place of what goes.
    delta_checkpoint.make(table.address)
    return _delete(table / LOG_FOLDER, floor.version)


def _floor_at(table: Location, knot: int) -> LogFloor | None:
    """The floor before a knot, with what the log says up to there."""
    found = find_floor(table)
    gone: list[Commit] = []
    for commit in all_commits(table):
        if commit.knot is not None and commit.knot >= knot:
            break
        if found is None or commit.version > found.version:
            gone.append(commit)
    else:
        return found  # nothing of it would be left
    if not gone:
        return found
    before = found or LogFloor(-1, 0, 0)
    rules = {(rule["id"], rule["version"]): rule for rule in before.definitions.rules}
    pipeline, metadata, expired = before.definitions.pipeline, before.metadata, before.expired
    for commit in gone:
        told = commit.weft.get("definitions") or {}
        rules |= {(rule["id"], rule["version"]): rule for rule in told.get("rules") or ()}
        pipeline = told.get("pipeline") or pipeline
        metadata = commit.metadata or metadata
        expired = max(expired, commit.expires)
    made = Definitions(pipeline, tuple(rules.values()))
    return LogFloor(gone[-1].version, knot, expired, metadata, made).summed()


def _delete(log: Location, version: int) -> int:
    """Delete versions up to one, and all Delta checkpoints but the newest."""
    found = [_VERSION.fullmatch(name) for name in log.names()]
    named = [(one[0], int(one[1]), one[2] == "json") for one in found if one is not None]
    newest = max((number for _, number, is_commit in named if not is_commit), default=-1)
    if newest < version:
        return 0  # there is no checkpoint yet; the next time there is
    gone = 0
    for name, number, is_commit in sorted(named):
        if number <= version if is_commit else number < newest:
            (log / name).delete()
            gone += 1
    return gone
