"""A recorded range of production, fed to the project of today: it gives what it gave, or the difference is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from weft.loading.deployed import document_of
from weft.loading.load import load
from weft.project.definition import Project
from weft.replays.in_force import rule_calls
from weft.replays.recording import (
    FedKnot,
    KnotExport,
    RecordedKnot,
    RecordingError,
    RowDifference,
    compare_lines,
    input_file,
    read_lines,
    read_recording,
    rows_file,
)
from weft.schema.weft import WEFT
from weft.sinks.document import finite, to_json
from weft.testing.playing import Play, shared_session
from weft.weaving.rule import Rule


def recorded(folder: str | Path) -> RecordedRange:
    """A range of knots that `weft history export` cut out, to be fed to the project of today."""
    return RecordedRange(Path(folder))


class RecordedRange:
    """What came into a pipeline once, and what it gave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recording = read_recording(folder)

    def differences(
        self,
        project: str | Path | Mapping[str, Any],
        *,
        storage: str | Path,
        folder: str | Path | None = None,
        spark: SparkSession | None = None,
    ) -> list[RowDifference]:
        """Feed what came in then to the pipeline as the project has it now, and compare; none: it gives what it gave.

        Rules that were in force are in force again, knot by knot, but for their guards. A pipeline without state is
        compared knot by knot, one with state by the rows of all knots together. Values that
        change with the clock or by chance (`now()`, `rand()`) differ. Only rows of the stream itself are compared.
        """
        alone = _alone(load(project, folder=folder), self.recording)
        run = Play(alone, Path(storage), spark or shared_session(), None)
        try:
            run.resume()
            made = list(self._made(run))
        finally:
            run.close()
        kept = [read_lines(rows_file(self.folder, one.knot)) for one in self.recording.knots]
        if self.recording.stateful:
            return list(compare_lines(None, chain(*kept), chain(*made)))
        pairs = zip(self.recording.knots, kept, made, strict=True)
        return [one for knot, then, now in pairs for one in compare_lines(knot.knot, then, now)]

    def _made(self, run: Play) -> Iterator[list[str]]:
        """The rows that come of each knot, with the rules in force that were in force in it."""
        before: list[Rule] = []
        for knot in self.recording.knots:
            after = self.recording.rules_of(knot)
            for call in rule_calls(before, after):
                run.post(call.path, dict(call.body))
            before = after
            yield list(self._feed(run, knot))

    def _feed(self, run: Play, knot: RecordedKnot) -> Iterator[str]:
        """Feed what a knot consumed; the rows that come of it."""
        before = len(run.knots(self.recording.stream))
        if self.recording.stateful:
            for one in knot.consumed:
                run.append(one.stream, self._records(one), watermark=one.watermark)
                run.settle()
        else:
            for name in dict.fromkeys(one.stream for one in knot.consumed):
                fed = [one for one in knot.consumed if one.stream == name]
                run.feed(name, [line for one in fed for line in self._records(one)])
        new = {one.number for one in run.knots(self.recording.stream)[before:]}
        for row in run.rows(self.recording.stream, weft=True):
            if row[WEFT]["knot"] in new:
                user = {name: value for name, value in row.items() if name != WEFT}
                yield to_json(finite(user)).decode()

    def _records(self, fed: FedKnot) -> list[str]:
        return read_lines(input_file(self.folder, fed.stream, fed.knot))


def _alone(project: Project, recording: KnotExport) -> Project:
    """The pipeline of a recording with nothing around it: what it reads is fed, and what it gives goes nowhere else."""
    spec = project.pipeline(recording.pipeline)
    fed = {one.stream for knot in recording.knots for one in knot.consumed}
    if spec.to != recording.stream or not fed <= set(spec.inputs):
        raise RecordingError(
            f"Pipeline '{spec.name}' reads {', '.join(spec.inputs)} into '{spec.to}' now, and has read "
            f"{', '.join(sorted(fed))} into '{recording.stream}' then.",
            hint="Cut out a newer range of knots.",
            pipeline=spec.name,
        )
    document = document_of(project)
    streams = {name: {**document["streams"][name], "source": {"feed": {}}} for name in spec.inputs}
    streams[spec.to] = document["streams"][spec.to]
    pipelines = {spec.name: document["pipelines"][spec.name]}
    for part in (*streams.values(), *pipelines.values()):
        part.pop("sinks", None)
        part.pop("history", None)
    whole = {**document, "streams": streams, "pipelines": pipelines, "tables": {}, "products": {}}
    return load(whole, folder=project.folder)
