"""What lies in storage, against what is recorded: tables that no stream names, checkpoints that are gone or changed.

`verify` goes from the records to the files; this goes the other way, so that a store which lost its records is not
taken for one that never had any.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.lineage.chain import Line
from weft.lineage.finding import Verification
from weft.lineage.knot import Knot
from weft.locations.location import Location
from weft.streams.log import LOG_FOLDER


@dataclass(frozen=True)
class PipelineRecord:
    """A pipeline as it is recorded: the stream that it writes, its epoch, and whether its checkpoint is settled."""

    name: str
    stream: str
    epoch: int
    is_settled: bool
    history: str | None = None
    """The history that the store keeps, and the generations of it that it knows."""
    generations: tuple[str, ...] = ()

    def is_named_by(self, mark: Mapping[str, Any]) -> bool:
        """Whether a mark is that of its checkpoint."""
        return (
            (mark.get("pipeline"), mark.get("epoch")) == (self.name, self.epoch)
            and mark.get("history") == self.history
            and mark.get("generation") in self.generations
        )


def check_tables(folder: Location, named: set[str], report: Verification) -> None:
    """Every table below a folder is that of a stream."""
    for name in folder.names():
        if (folder / name / LOG_FOLDER).exists():
            report.expect(
                name in named,
                "table.unnamed",
                f"table of {name}",
                "nothing is recorded of a stream of this name",
            )


def check_checkpoint(
    pipeline: PipelineRecord, folder: Location, line: Line, report: Verification
) -> None:
    """The checkpoint of a pipeline stands where its newest knot does, with the offsets of every knot that it knows."""
    newest = line.knots.get(line.head) if line.head is not None else None
    if newest is None or not pipeline.is_settled:
        return
    where = f"checkpoint of {pipeline.name}"
    if not folder.exists():
        report.add("checkpoint.gone", where, f"there is no directory of epoch {pipeline.epoch}")
        return
    report.counts["checkpoints"] += 1
    _check_mark(pipeline, folder, where, report)
    _check_offsets(folder, line, newest, where, report)
    for name, file in folder.files():
        found = file.written_sum()
        report.expect(
            found is None or found == _sha256(file),
            "checkpoint.altered",
            where,
            f"{name} is not what was written",
        )


def _check_mark(
    pipeline: PipelineRecord, folder: Location, where: str, report: Verification
) -> None:
    mark = _json(folder / "weft.json")
    report.expect(
        mark is not None and pipeline.is_named_by(mark),
        "checkpoint.foreign",
        where,
        "it does not say that it is this pipeline's, in this history",
    )


def _check_offsets(
    folder: Location, line: Line, newest: Knot, where: str, report: Verification
) -> None:
    """What Spark planned for each batch is what its knot says, and no batch is missing in between."""
    offsets = folder / "offsets"
    kept = {int(name): offsets / name for name in offsets.names() if name.isdigit()}
    committed = set((folder / "commits").names())
    report.expect(
        newest.batch in kept,
        "checkpoint.altered",
        where,
        f"it lacks batch {newest.batch}, which knot {newest.number} is of",
    )
    batches = {line.knots[n].batch: line.knots[n] for n in line.live}
    for batch in range(min(kept, default=0), newest.batch + 1):
        file, knot = kept.get(batch), batches.get(batch)
        if file is None:
            report.add("checkpoint.altered", where, f"it lacks batch {batch}")
        elif knot is not None:
            report.expect(
                _positions(file) == list(knot.offsets.end),
                "checkpoint.altered",
                where,
                f"its batch {batch} ends elsewhere than knot {knot.number}",
            )
        if batch < newest.batch:
            report.expect(
                str(batch) in committed,
                "checkpoint.altered",
                where,
                f"batch {batch} is not committed, and later ones are",
            )


def _positions(file: Location) -> list[Any] | None:
    try:
        lines = file.read().decode().splitlines()[2:]
        return [None if line == "-" else json.loads(line) for line in lines]
    except (OSError, ValueError):
        return None


def _json(file: Location) -> Mapping[str, Any] | None:
    try:
        found = json.loads(file.read())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _sha256(file: Location) -> str | None:
    try:
        with file.open() as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return None
