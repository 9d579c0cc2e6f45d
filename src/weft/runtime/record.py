"""What a batch wrote, as facts: committed with its rows, so that a repeated batch finds them and goes on."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from typing import Any

from weft.canonical import digest
from weft.clock import SystemClock, iso
from weft.runtime.pipeline import Pinned, RunningPipeline
from weft.runtime.tables import fingerprint
from weft.runtime.weaving import Woven
from weft.weaving.weave import Target


def find_written(run: RunningPipeline, pinned: Pinned) -> dict[str, Any] | None:
    """The facts of a batch whose stream was already committed by an earlier try, or None."""
    found = run.tables.find(run.stream.name, pinned.knot.number)
    if found is None:
        return None
    facts: dict[str, Any] = found["facts"]
    facts["outputs"][run.stream.name]["version"] = found["version"]
    return facts


def commit(
    run: RunningPipeline,
    pinned: Pinned,
    woven: Woven,
    result: Mapping[str, Any],
    *,
    started: float,
) -> dict[str, Any]:
    """Commit the written files: diverted streams first, the stream itself last, with all facts of the batch."""
    moment = run.shape.time(pinned, result)
    schemas: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    own = woven.weave.targets[-1]
    for stream, targets in _by_stream(woven.weave.targets[:-1]).items():
        written = _merge([result["outputs"][target.column] for target in targets])
        if not written["rows"] and not _is_full_stream(targets[0]):
            continue
        columns = woven.columns(targets[0])
        schemas[stream] = _schema(columns, _kind(targets[0]))
        weft = _weft(pinned, stream, moment.watermark_ms, written)
        committed = run.tables.commit(stream, columns, weft, written["files"])
        outputs[stream] = {
            **written,
            "bytes": sum(file["bytes"] for file in committed.files),
            "files": committed.files,
            "version": committed.version,
        }
    run.faults.reach("between")

    written = _output(result["outputs"][own.column])
    columns = woven.columns(own)
    schemas[own.stream] = _schema(columns, "main")
    ledger = run.shape.ledger(woven.weave, result)
    facts: dict[str, Any] = {
        "outputs": {**outputs, own.stream: {**written, "version": None}},
        "schema": schemas[own.stream]["fingerprint"],
        "schemas": schemas,
        "ledger": ledger.to_dict(),
        "watermark": moment.watermark_ms,
        "watermarks": dict(moment.detail),
        "state": pinned.knot.batch if run.shape.operator else None,
        "duration_ms": round((time.monotonic() - started) * 1000),
        "steps": [_step(run, pinned, written, ledger.rows_in)],
    }
    weft = {**_weft(pinned, own.stream, moment.watermark_ms, written), "facts": facts}
    committed = run.tables.commit(own.stream, columns, weft, written["files"])
    if committed.was_there:
        # Another worker was faster: what it committed is what there is to tell.
        found = find_written(run, pinned)
        assert found is not None
        return found
    facts["outputs"][own.stream]["version"] = committed.version
    return facts


def _step(
    run: RunningPipeline, pinned: Pinned, written: Mapping[str, Any], rows_in: int
) -> dict[str, Any]:
    rules = [rule.version for rule in pinned.knot.rules]
    return {
        "function": run.name,
        "version": digest([run.version, rules]) if rules else run.version,
        "parameters": {},
        "input_hash": run.input_hash(pinned.knot),
        "output_hash": written["hash"],
        "rows_in": rows_in,
        "rows_out": written["rows"],
        "started": pinned.knot.now,
        "ended": iso(SystemClock().now()),
        "where": f"{socket.gethostname()}/{run.worker}",
    }


def _weft(
    pinned: Pinned, stream: str, watermark_ms: int | None, written: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "knot": pinned.knot.number,
        "id": pinned.knot.id,
        "stream": stream,
        "origin": pinned.knot.stream,
        "watermark": watermark_ms,
        "rows": written["rows"],
        "hash": written["hash"],
    }


def _by_stream(targets: tuple[Target, ...]) -> dict[str, list[Target]]:
    found: dict[str, list[Target]] = {}
    for target in targets:
        found.setdefault(target.stream, []).append(target)
    return found


def _output(written: Mapping[str, Any]) -> dict[str, Any]:
    return {name: written[name] for name in ("rows", "bytes", "hash", "files")}


def _merge(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What several rules wrote to one stream, as one output."""
    total = sum(int(part["hash"], 16) for part in parts) % 2**256
    return {
        "rows": sum(part["rows"] for part in parts),
        "bytes": sum(part["bytes"] for part in parts),
        "hash": f"{total:064x}",
        "files": [file for part in parts for file in part["files"]],
    }


def _is_full_stream(target: Target) -> bool:
    """Side streams get every knot, so that what reads them sees time pass; dead and late ones only rows."""
    return target.column.startswith("_weft_side") and not target.column.endswith("_dead")


def _kind(target: Target) -> str:
    if target.column.endswith("dead"):
        return "dead"
    return "late" if target.column == "late" else "side"


def _schema(columns: Any, kind: str) -> dict[str, Any]:
    name, form = fingerprint(columns)
    return {"fingerprint": name, "kind": kind, "schema": form}
