"""A recorded range of a pipeline written to a folder, read from a storage: for tests of what the pipeline gives today.

Called by `weft history export`, also while a weaver runs; needs no worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.lineage.chain import live_numbers
from weft.lineage.knot import Knot
from weft.loading.deployed import document_of
from weft.locations.location import locate
from weft.project.definition import Project
from weft.replays.recording import (
    FedKnot,
    KnotExport,
    RecordedKnot,
    RecordingError,
    input_file,
    rows_file,
    write_recording,
)
from weft.schema.weft import WEFT
from weft.sinks.document import documents, to_json
from weft.streams.compacted import Compactions, batches_of
from weft.streams.log import compactions
from weft.streams.storage import Storage
from weft.streams.verify import StreamRecord
from weft.weaver.catalog import Deployed, NameMissingError
from weft.weaver.store.opening import read_store
from weft.weaver.store.records import Records
from weft.weaver.verification import StoredRecords
from weft.weaving.rule import Rule


def export(storage: Storage, stream: str, first: int, last: int, out: Path) -> KnotExport:
    """Write what came into the knots from `first` to `last` of a stream, and what they gave, to a new folder."""
    with read_store(storage.store) as store:
        source = _Source(storage, StoredRecords(store), Records(store))
        return source.export(stream, first, last, out)


class _Source:
    def __init__(self, storage: Storage, recorded: StoredRecords, records: Records) -> None:
        self._storage = storage
        self._recorded = recorded
        self._records = records
        deployed = records.get(Deployed, "catalog", "project")
        self._project = records.get(Project, "projects", deployed.hash)
        self._streams: Mapping[str, StreamRecord] = {one.name: one for one in recorded.streams()}
        self._lines: dict[str, dict[int, Knot]] = {}
        self._shared: dict[str, Compactions] = {}

    def export(self, stream: str, first: int, last: int, out: Path) -> KnotExport:
        pipeline = self._pipeline(stream)
        live = self._live(stream)
        for end in (first, last):
            if end not in live:
                raise RecordingError(
                    f"Stream '{stream}' has no live knot {end}.",
                    hint=f"`weft stream log {stream}` shows which it has.",
                    stream=stream,
                    knot=end,
                )
        chosen = [live[number] for number in sorted(live) if first <= number <= last]
        spec = self._project.pipeline(pipeline)
        if spec.stateful and chosen[0].previous is not None:
            raise RecordingError(
                f"Pipeline '{pipeline}' keeps state, and what it had before knot {first} cannot be cut out.",
                hint=f"Cut out knots from {min(live)} on.",
                stream=stream,
                knot=min(live),
            )
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise RecordingError(f"{out} is there already.", hint="Name a folder that is not.")
        for knot in chosen:
            self._check(knot)
        rules = self._rules(chosen)
        try:
            recording = KnotExport(
                *(stream, pipeline, spec.stateful),
                knots=tuple(self._write(knot, out) for knot in chosen),
                rules=rules,
            )
            write_recording(out, recording, document_of(self._project))
        except OSError as error:
            raise RecordingError(
                f"{out} cannot be written: {error.strerror or error}.",
                hint="Name a folder that can be made.",
            ) from error
        return recording

    def _pipeline(self, stream: str) -> str:
        """The pipeline of a stream whose knots can be fed again."""
        if stream not in self._streams:
            raise NameMissingError("stream", stream, list(self._streams))
        spec = self._project.streams.get(stream)
        if spec is None or spec.writer is None:
            raise RecordingError(
                f"Stream '{stream}' is not written by a pipeline that reads streams.",
                hint="Cut out a stream of a pipeline; its input comes along.",
                stream=stream,
            )
        inputs = [self._project.stream(name) for name in self._project.pipeline(spec.writer).inputs]
        if spec.changing or any(one.changing for one in inputs):
            raise RecordingError(
                f"The rows of stream '{stream}', or of what it is made of, replace one another, and are not cut out.",
                hint="Cut out a stream whose records stand for themselves.",
                stream=stream,
            )
        return spec.writer

    def _live(self, stream: str) -> Mapping[int, Knot]:
        origin = self._streams[stream].origin
        if origin not in self._lines:
            knots = {one.number: one for one in self._recorded.knots(origin)}
            head, _ = self._recorded.head(origin)
            self._lines[origin] = {one: knots[one] for one in live_numbers(knots, head)}
        return self._lines[origin]

    def _check(self, knot: Knot) -> None:
        """Refuse a knot of which something is gone."""
        for stream, one in [(knot.stream, knot), *self._consumed(knot)]:
            expired = self._streams[stream].expired
            output = one.outputs.get(stream)
            if one.number <= expired and output is not None and output.rows:
                raise RecordingError(
                    f"The rows of knot {one.number} of stream '{stream}' are gone: they are kept from knot "
                    f"{expired + 1} on.",
                    code="history.rows-gone",
                    hint="Choose later knots.",
                    stream=stream,
                    knot=expired + 1,
                )

    def _rules(self, knots: Sequence[Knot]) -> tuple[Rule, ...]:
        """Each version of a rule that was in force in one of the knots."""
        versions = dict.fromkeys((ref.id, ref.version) for knot in knots for ref in knot.rules)
        return tuple(self._records.get(Rule, "rules", "version", *one) for one in versions)

    def _consumed(self, knot: Knot) -> Iterator[tuple[str, Knot]]:
        """The knots of its inputs that a knot has consumed."""
        for parent in knot.parents:
            live = self._live(parent.stream)
            for number in range(parent.first, parent.last + 1):
                if number in live:
                    yield parent.stream, live[number]

    def _write(self, knot: Knot, out: Path) -> RecordedKnot:
        consumed = []
        for stream, one in self._consumed(knot):
            self._copy(stream, one, input_file(out, stream, one.number))
            consumed.append(FedKnot(stream, one.number, one.watermark))
        rows = self._copy(knot.stream, knot, rows_file(out, knot.number))
        return RecordedKnot(knot.number, tuple(consumed), rows, knot.rules)

    def _copy(self, stream: str, knot: Knot, file: Path) -> int:
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = list(self._lines_of(stream, knot))
        file.write_bytes(b"".join(line + b"\n" for line in lines))
        return len(lines)

    def _lines_of(self, stream: str, knot: Knot) -> Iterator[bytes]:
        output, folder = knot.outputs.get(stream), locate(self._storage.table(stream))
        if stream not in self._shared:
            self._shared[stream] = compactions(folder)
        shared = self._shared[stream].find(knot.number)
        files = [one.path for one in output.files] if output is not None else []
        for path in [shared.path] if shared is not None else files:
            for batch in batches_of(folder / path, knot.number if shared is not None else None):
                yield from (to_json(_user(record)) for record in documents(batch))


def _user(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != WEFT}
