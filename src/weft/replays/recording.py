"""A recorded range cut out as files: what came into each knot of a pipeline, and what it gave. Small, and readable.

`weft history export` writes one, `weft.testing.recorded` reads it. A folder holds `recording.json` (which knots, with
what they consumed and the rules that were in force), `project.json` (the project as it was deployed), and rows as JSON
lines: `inputs/STREAM/KNOT.jsonl` and `rows/KNOT.jsonl`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft import codec
from weft.errors import WeftError
from weft.lineage.knot import RuleRef
from weft.weaving.rule import Rule

FILE, PROJECT = "recording.json", "project.json"
MOST_EXAMPLES = 20


class RecordingError(WeftError):
    """A recorded range that cannot be cut out, or a folder that holds none."""

    code = "recording.unusable"
    domain = "user"


@dataclass(frozen=True)
class FedKnot:
    """A knot of an input, as it is fed again."""

    stream: str
    knot: int
    watermark: int | None = None


@dataclass(frozen=True)
class RecordedKnot:
    """A knot of the pipeline: what it consumed, in its order, how many rows it gave, and by which rules."""

    knot: int
    consumed: tuple[FedKnot, ...]
    rows: int
    rules: tuple[RuleRef, ...] = ()


@dataclass(frozen=True)
class KnotExport:
    """Knots in a row of one pipeline."""

    stream: str
    pipeline: str
    stateful: bool
    knots: tuple[RecordedKnot, ...]
    rules: tuple[Rule, ...] = ()
    """Each version of a rule that was in force in one of the knots."""

    def rules_of(self, knot: RecordedKnot) -> list[Rule]:
        """The rules that were in force in a knot, in their order, each for the share that it had."""
        known = {(rule.id, rule.version): rule for rule in self.rules}
        for ref in knot.rules:
            if (ref.id, ref.version) not in known:
                raise RecordingError(
                    f"The recording says that rule '{ref.id}' was in force in knot {knot.knot}, and not what it did.",
                    hint="Cut the knots out again with `weft history export`.",
                    rule=ref.id,
                    knot=knot.knot,
                )
        return [known[ref.id, ref.version].changed(percent=ref.percent) for ref in knot.rules]


@dataclass(frozen=True)
class RowDifference:
    """Rows that a knot gave then and not now, or now and not then; of a pipeline with state, all knots together."""

    knot: int | None
    missing: tuple[Mapping[str, Any], ...] = ()
    extra: tuple[Mapping[str, Any], ...] = ()


def input_file(folder: Path, stream: str, knot: int) -> Path:
    """Where the rows of an input's knot are."""
    return folder / "inputs" / stream / f"{knot:010d}.jsonl"


def rows_file(folder: Path, knot: int) -> Path:
    """Where the rows are that a knot gave."""
    return folder / "rows" / f"{knot:010d}.jsonl"


def write_recording(folder: Path, recording: KnotExport, project: Mapping[str, Any]) -> None:
    """Write what a folder of rows is the recording of."""
    (folder / FILE).write_text(json.dumps(codec.pack(recording), indent=1) + "\n")
    (folder / PROJECT).write_text(json.dumps(project, indent=1) + "\n")


def read_recording(folder: Path) -> KnotExport:
    """The recording in a folder; refuses one that is not there or not whole."""
    file = folder / FILE
    if not file.exists():
        raise RecordingError(
            f"There is no recording in {folder}: it has no {FILE}.",
            hint="Name a folder that `weft history export` has written.",
        )
    return codec.unpack(KnotExport, json.loads(file.read_text()))


def read_lines(file: Path) -> list[str]:
    """The lines of a file of rows; no file is no rows."""
    return file.read_text().splitlines() if file.exists() else []


def compare_lines(
    knot: int | None, then: Iterable[str], now: Iterable[str]
) -> Sequence[RowDifference]:
    """What differs between two lots of rows, whatever their order; nothing where nothing does."""
    before, after = Counter(map(_canonical, then)), Counter(map(_canonical, now))
    missing, extra = before - after, after - before
    if not missing and not extra:
        return ()
    return (RowDifference(knot, _examples(missing), _examples(extra)),)


def _canonical(line: str) -> str:
    return json.dumps(json.loads(line), sort_keys=True)


def _examples(lines: Counter[str]) -> tuple[Mapping[str, Any], ...]:
    return tuple(json.loads(line) for line in sorted(lines.elements())[:MOST_EXAMPLES])
