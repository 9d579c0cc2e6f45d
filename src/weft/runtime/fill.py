"""Filling a new stream from recorded rows: a rule applied to the knots before it, each chunk one commit, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from weft.clock import SystemClock, to_ms
from weft.runtime import kernel, session
from weft.runtime.kernel import Table
from weft.runtime.recorded import Chunk, chunks, read
from weft.runtime.tables import Tables, fingerprint
from weft.runtime.weaving import run_stages
from weft.weaving.rule import Rule
from weft.weaving.schema import Schema
from weft.weaving.weave import Moment, Weave, compile_weave

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

CHUNK_ROWS = 500_000


def fill(
    worker: Worker, rule: Rule, *, schema: dict[str, Any], key: list[str], after: int, upto: int
) -> list[dict[str, Any]]:
    """Weave the recorded rows of the knots in (after, upto] into the rule's output stream.

    Safe to repeat: a chunk that is in the table already is told of again, and not woven again.
    """
    assert rule.output is not None
    tables = Tables(worker.spark, worker.storage)
    source = tables.open(rule.stream)
    columns = Schema.from_json(schema)
    done = tables.open(rule.output)
    filled = _filled(done, rule, after, upto) if done.exists() else []
    start = max([after, *(fact["knot"] for fact in filled)])
    return filled + [
        _fill_chunk(worker, tables, rule, columns, key, chunk)
        for chunk in chunks(source, rule.stream, start, upto, rows=CHUNK_ROWS)
    ]


def _filled(table: Table, rule: Rule, after: int, upto: int) -> list[dict[str, Any]]:
    """The chunks that an earlier try has written, as it would have told of them."""
    schema = table.schema()
    user = StructType.fromJson(
        {**schema, "fields": [f for f in schema["fields"] if f["name"] != "_weft"]}
    )
    name, form = fingerprint(user)
    return [
        {
            "rows": knot["weft"]["rows"],
            "bytes": sum(file["bytes"] for file in knot["files"]),
            "hash": knot["weft"]["hash"],
            "files": knot["files"],
            "version": knot["version"],
            "stream": rule.output,
            "rule": rule.id,
            "first": knot["weft"]["first"],
            "knot": knot["weft"]["knot"],
            "schema": name,
            "columns": form,
        }
        for knot in table.knots(after, upto)
        if knot["weft"].get("fill") == rule.id
    ]


def _fill_chunk(
    worker: Worker, tables: Tables, rule: Rule, schema: Schema, key: list[str], chunk: Chunk
) -> dict[str, Any]:
    assert rule.output is not None
    now = SystemClock().now()
    weave = one_rule(schema, rule, key, worker, Moment(now, chunk.last))
    woven = run_stages(read(session.fork(worker.spark), chunk, schema), weave, worker.functions)
    target = next(t for t in weave.targets if t.stream == rule.output)
    result = kernel.write(
        woven,
        prefix=f"{chunk.last:010d}-fill",
        outputs={target.column: worker.storage.table(rule.output)},
        stamp={"knot": chunk.last, "at_ms": to_ms(now)},
    )
    output = result["outputs"][target.column]
    made = woven.schema[target.column].dataType
    assert isinstance(made, StructType)
    fact = {name: output[name] for name in ("rows", "bytes", "hash", "files")}
    weft = {
        "knot": chunk.last,
        "stream": rule.output,
        "fill": rule.id,
        "first": chunk.first,
        "watermark": chunk.watermark_ms,
        "rows": fact["rows"],
        "hash": fact["hash"],
    }
    committed = tables.commit(rule.output, made, weft, fact["files"])
    name, form = fingerprint(made)
    return {
        **fact,
        "bytes": sum(file["bytes"] for file in committed.files),
        "files": committed.files,
        "version": committed.version,
        "stream": rule.output,
        "rule": rule.id,
        "first": chunk.first,
        "knot": chunk.last,
        "schema": name,
        "columns": form,
    }


def one_rule(schema: Schema, rule: Rule, key: list[str], worker: Worker, moment: Moment) -> Weave:
    """A weave of nothing but this rule, on rows of its stream as they were recorded."""
    return compile_weave(
        schema,
        stream=rule.stream,
        key=key,
        steps=(),
        rules=(rule,),
        functions=worker.functions,
        moment=moment,
    )
