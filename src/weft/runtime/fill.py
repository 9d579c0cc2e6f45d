"""Filling a new stream from recorded rows: a rule applied to the knots before it, each chunk one commit, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from weft.clock import SystemClock, to_ms
from weft.lineage.facts import DataFile, FilledPart
from weft.lineage.identity import Identity
from weft.runtime import session, spine
from weft.runtime.weaving import run_stages
from weft.schema.schema import Schema
from weft.schema.weft import WEFT
from weft.streams.note import Note
from weft.streams.rows import Chunk, chunks, read
from weft.streams.table import Table
from weft.streams.tables import Tables, fingerprint
from weft.weaving.rule import Rule
from weft.weaving.weave import Moment, Weave, compile_weave

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

CHUNK_ROWS = 500_000


@dataclass(frozen=True)
class FillOwner:
    """Whose rows are filled in: the operation, the store, and the stream whose knots they stand for."""

    operation: str
    identity: Identity
    origin: str


def fill(
    worker: Worker,
    rule: Rule,
    operation: str,
    identity: Identity,
    *,
    schema: dict[str, Any],
    key: list[str],
    origin: str,
    after: int,
    upto: int,
) -> list[FilledPart]:
    """Weave the recorded rows of the knots in (after, upto] into the rule's output stream.

    Safe to repeat: a chunk that is in the table already is told of again, and not woven again.
    """
    assert rule.output is not None
    tables = Tables(worker.spark, worker.storage)
    source = tables.open(rule.stream)
    columns = Schema.from_json(schema)
    done = tables.open(rule.output)
    filled = _filled(done, rule, after, upto) if done.exists() else []
    start = max([after, *(part.knot for part in filled)])
    owner = FillOwner(operation, identity, origin)
    return filled + [
        _fill_chunk(worker, tables, rule, columns, key, chunk, owner)
        for chunk in chunks(source, rule.stream, start, upto, rows=CHUNK_ROWS)
    ]


def _filled(table: Table, rule: Rule, after: int, upto: int) -> list[FilledPart]:
    """The chunks that an earlier try has written, as it would have told of them."""
    schema = table.schema()
    user = StructType.fromJson(
        {**schema, "fields": [f for f in schema["fields"] if f["name"] != WEFT]}
    )
    return [
        _part(rule, knot.note, knot.version, knot.files, user)
        for knot in table.knots(after, upto)
        if knot.note.fill == rule.id
    ]


def _part(
    rule: Rule, note: Note, version: int, files: tuple[DataFile, ...], columns: StructType
) -> FilledPart:
    assert rule.output is not None
    name, form = fingerprint(columns)
    return FilledPart(
        stream=rule.output,
        rule=rule.id,
        first=note.first or note.knot,
        knot=note.knot,
        rows=note.rows,
        bytes=sum(file.bytes for file in files),
        hash=note.hash,
        version=version,
        files=files,
        schema=name,
        columns=form,
    )


def _fill_chunk(
    worker: Worker,
    tables: Tables,
    rule: Rule,
    schema: Schema,
    key: list[str],
    chunk: Chunk,
    owner: FillOwner,
) -> FilledPart:
    assert rule.output is not None
    now = SystemClock().now()
    weave = one_rule(schema, rule, key, worker, Moment(now, chunk.last))
    woven = run_stages(
        read(session.fork(worker.spark), chunk, schema), weave.stages, worker.functions
    )
    target = next(t for t in weave.targets if t.stream == rule.output)
    result = spine.write(
        woven,
        prefix=f"{chunk.last:010d}-fill",
        outputs={target.column: worker.storage.table(rule.output)},
        stamp={"knot": chunk.last, "at_ms": to_ms(now)},
    )
    output = result.outputs[target.column]
    made = woven.schema[target.column].dataType
    assert isinstance(made, StructType)
    identity = owner.identity
    note = Note(
        knot=chunk.last,
        id=owner.operation,
        stream=rule.output,
        origin=owner.origin,
        history=identity.history,
        generation=identity.generation,
        life=identity.life,
        watermark=chunk.watermark_ms,
        rows=output.rows,
        hash=output.hash,
        fill=rule.id,
        first=chunk.first,
    )
    # Weaving takes a while, and the operation may have been given up. Whoever gives it up from now on finds a table,
    # and a cut of it that refuses what is committed below.
    tables.create(rule.output, made)
    worker.check_operation(owner.operation, forward=True)
    committed = tables.commit(rule.output, made, note, output.files)
    return _part(rule, note, committed.version, committed.files, made)


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
