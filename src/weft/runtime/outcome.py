"""What a batch wrote, as facts: committed with its rows, so that a repeated batch finds them and goes on."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql.types import StructType

from weft.canonical import digest
from weft.clock import SystemClock, iso
from weft.lineage.facts import Facts, Output, Recording, StepRecord, StreamKind, StreamSchema
from weft.lineage.fingerprint import MODULUS
from weft.project.provenance import LAZY
from weft.runtime.pipeline import Pinned, RunningPipeline
from weft.runtime.spine import Written
from weft.runtime.weaving import Woven
from weft.streams.note import Note
from weft.streams.tables import fingerprint
from weft.weaving.weave import WovenOutput


def find_written(run: RunningPipeline, pinned: Pinned) -> Facts | None:
    """The facts of a batch whose stream was already committed by an earlier try, or None."""
    name = run.stream.name
    found = run.tables.find(name, pinned.knot.number, id=pinned.knot.id)
    if found is None:
        return None
    assert found.note.facts is not None
    return _with_output(
        found.note.facts, name, replace(found.note.facts.outputs[name], version=found.version)
    )


def commit(
    run: RunningPipeline, pinned: Pinned, woven: Woven, written: Written, *, started: float
) -> Facts:
    """Commit the written files: diverted streams first, the stream itself last, with all facts of the batch."""
    moment = run.shape.time(pinned, written)
    schemas: dict[str, StreamSchema] = {}
    outputs: dict[str, Output] = {}
    own = woven.weave.targets[-1]
    for stream, targets in _by_stream(woven.weave.targets[:-1]).items():
        output = _merge([written.outputs[target.column] for target in targets])
        if not output.rows and not _is_full_stream(targets[0]):
            continue
        columns = woven.columns(targets[0])
        schemas[stream] = _schema(columns, _kind(targets[0]))
        note = _note(pinned, stream, moment.value_ms, output)
        committed = run.tables.commit(stream, columns, note, output.files)
        held = sum(file.bytes for file in committed.files)
        outputs[stream] = replace(
            output,
            bytes=held,
            files=committed.files,
            version=committed.version,
            schema=schemas[stream].fingerprint,
        )
    run.faults.reach("between")

    columns = woven.columns(own)
    schemas[own.stream] = _schema(columns, "main")
    output = replace(written.outputs[own.column], schema=schemas[own.stream].fingerprint)
    ledger = run.shape.ledger(woven.weave, written)
    now = iso(SystemClock().now())
    facts = Facts(
        outputs={**outputs, own.stream: output},
        schema=schemas[own.stream].fingerprint,
        schemas=schemas,
        ledger=ledger,
        steps=(_step(run, pinned, output, ledger.rows_in, ended=now),),
        completed=now,
        watermark=moment.value_ms,
        watermarks=moment,
        state=pinned.knot.batch if run.shape.operator else None,
        duration_ms=round((time.monotonic() - started) * 1000),
        provenance=_recording(run, pinned, woven),
        columns=written.columns.get(own.column, {}),
    )
    note = replace(
        _note(pinned, own.stream, moment.value_ms, output),
        pinned=pinned.knot.to_dict(),
        facts=facts,
        definitions=run.untold(pinned),
    )
    committed = run.tables.commit(own.stream, columns, note, output.files)
    run.told(note.definitions)
    if committed.was_there:
        # Another worker was faster: what it committed is what there is to tell.
        found = find_written(run, pinned)
        assert found is not None
        return found
    return _with_output(facts, own.stream, replace(output, version=committed.version))


def _with_output(facts: Facts, stream: str, output: Output) -> Facts:
    return replace(facts, outputs={**facts.outputs, stream: output})


def _step(
    run: RunningPipeline, pinned: Pinned, output: Output, rows_in: int, *, ended: str
) -> StepRecord:
    rules = [rule.version for rule in pinned.knot.rules]
    return StepRecord(
        function=run.name,
        version=digest([run.version, rules]) if rules else run.version,
        parameters={},
        input_hash=run.input_hash(pinned.knot),
        output_hash=output.hash,
        rows_in=rows_in,
        rows_out=output.rows,
        started=pinned.knot.now,
        ended=ended,
        where=f"{socket.gethostname()}/{run.worker}",
    )


def _recording(run: RunningPipeline, pinned: Pinned, woven: Woven) -> Recording | None:
    spec = run.stream.provenance.of_knot(flagged=pinned.knot.flagged)
    if spec == LAZY:
        return None
    return Recording(spec.mode, spec.share, woven.weave.transformations)


def _note(pinned: Pinned, stream: str, watermark_ms: int | None, output: Output) -> Note:
    return Note(
        knot=pinned.knot.number,
        id=pinned.knot.id,
        stream=stream,
        origin=pinned.knot.stream,
        history=pinned.identity.history,
        generation=pinned.identity.generation,
        life=pinned.identity.life,
        watermark=watermark_ms,
        rows=output.rows,
        hash=output.hash,
    )


def _by_stream(targets: tuple[WovenOutput, ...]) -> dict[str, list[WovenOutput]]:
    found: dict[str, list[WovenOutput]] = {}
    for target in targets:
        found.setdefault(target.stream, []).append(target)
    return found


def _merge(parts: Sequence[Output]) -> Output:
    """What several rules wrote to one stream, as one output."""
    total = sum(int(part.hash, 16) for part in parts) % MODULUS
    return Output(
        rows=sum(part.rows for part in parts),
        bytes=sum(part.bytes for part in parts),
        hash=f"{total:064x}",
        files=tuple(file for part in parts for file in part.files),
    )


def _is_full_stream(target: WovenOutput) -> bool:
    """Side streams get every knot, so that what reads them sees time pass; the others only rows."""
    return target.column.startswith("_weft_side") and not target.column.endswith("_dead")


def _kind(target: WovenOutput) -> StreamKind:
    if target.column.endswith("dead"):
        return "dead"
    named: dict[str, StreamKind] = {"late": "late", "provenance": "provenance", "raw": "raw"}
    return named.get(target.column, "side")


def _schema(columns: StructType, kind: StreamKind) -> StreamSchema:
    name, form = fingerprint(columns)
    return StreamSchema(name, kind, form)
