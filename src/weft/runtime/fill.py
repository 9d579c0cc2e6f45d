"""Filling a new stream from recorded rows: a rule applied to the knots before it, each chunk one commit, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from weft.clock import SystemClock, to_ms
from weft.runtime import kernel, session
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

    Safe to repeat: a chunk that is in the table already is not woven again.
    """
    assert rule.output is not None
    tables = Tables(worker.spark, worker.storage)
    source = tables.open(rule.stream)
    columns = Schema.from_json(schema)
    done = tables.open(rule.output)
    head = done.head() if done.exists() else None
    start = max(after, head["knot"]) if head else after
    return [
        _fill_chunk(worker, tables, rule, columns, key, chunk)
        for chunk in chunks(source, rule.stream, start, upto, rows=CHUNK_ROWS)
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
