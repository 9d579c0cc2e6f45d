"""What lies in storage, against what is recorded: tables that no stream names, checkpoints that are gone or changed.

`verify` goes from the records to the files; this goes the other way, so that a store which lost its records is not
taken for one that never had any.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.lineage.chain import Line
from weft.lineage.finding import Verification
from weft.lineage.knot import Knot
from weft.streams.log import LOG_FOLDER

SUM = "user.weft.sha256"
"""The attribute of a checkpoint file that has the SHA-256 of its content."""


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


def check_tables(folder: Path, named: set[str], report: Verification) -> None:
    """Every table below a folder is that of a stream."""
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        if (path / LOG_FOLDER).is_dir():
            report.expect(
                path.name in named,
                "table.unnamed",
                f"table of {path.name}",
                "nothing is recorded of a stream of this name",
            )


def check_checkpoint(
    pipeline: PipelineRecord, folder: Path, line: Line, report: Verification
) -> None:
    """The checkpoint of a pipeline stands where its newest knot does, with the offsets of every knot that it knows."""
    newest = line.knots.get(line.head) if line.head is not None else None
    if newest is None or not pipeline.is_settled:
        return
    where = f"checkpoint of {pipeline.name}"
    if not folder.is_dir():
        report.add("checkpoint.gone", where, f"there is no directory of epoch {pipeline.epoch}")
        return
    report.counts["checkpoints"] += 1
    _check_mark(pipeline, folder, where, report)
    _check_offsets(folder, line, newest, where, report)
    for path in _files(folder):
        found = _sum(path)
        report.expect(
            found is None or found == _sha256(path),
            "checkpoint.altered",
            where,
            f"{path.relative_to(folder)} is not what was written",
        )


def _check_mark(pipeline: PipelineRecord, folder: Path, where: str, report: Verification) -> None:
    file = folder / "weft.json"
    mark = _json(file) if file.exists() else None
    report.expect(
        mark is not None and pipeline.is_named_by(mark),
        "checkpoint.foreign",
        where,
        "it does not say that it is this pipeline's, in this history",
    )


def _check_offsets(
    folder: Path, line: Line, newest: Knot, where: str, report: Verification
) -> None:
    """What Spark planned for each batch is what its knot says, and no batch is missing in between."""
    kept = {int(file.name): file for file in (folder / "offsets").glob("*") if file.name.isdigit()}
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
                (folder / "commits" / str(batch)).exists(),
                "checkpoint.altered",
                where,
                f"batch {batch} is not committed, and later ones are",
            )


def _positions(file: Path) -> list[Any] | None:
    try:
        lines = file.read_text().splitlines()[2:]
        return [None if line == "-" else json.loads(line) for line in lines]
    except (OSError, ValueError):
        return None


def _json(file: Path) -> Mapping[str, Any] | None:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _sum(path: Path) -> str | None:
    try:
        return os.getxattr(path, SUM).decode(errors="replace")
    except OSError:
        return None


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
