"""The newest row of one key of a changing stream, now or as of a knot. Runs where the data is: in a worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weft.errors import WeftError
from weft.locations.parquet import arrow_file
from weft.runtime.key_index import KeyIndex
from weft.schema.change import CHANGE
from weft.schema.weft import WEFT
from weft.sinks.document import documents, to_json
from weft.sinks.rows import FilePart
from weft.streams.current import current
from weft.streams.note import TableKnot
from weft.streams.pieces import parts_of
from weft.streams.table import EVERYTHING
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from weft.project.definition import StreamSpec
    from weft.runtime.worker import Worker


class KeyFormError(WeftError):
    """A key that cannot be one of the stream's."""

    code = "product.key"
    domain = "user"


def find_document(
    worker: Worker,
    indexes: dict[str, KeyIndex],
    *,
    stream: str,
    key: list[str],
    knot: int | None,
) -> dict[str, Any] | None:
    """The newest row of a key that a stream had at a knot (default: has now), or None where there is none.

    It comes with its id and the knot that wrote it. The row itself is the text that sinks write, so that both look the
    same, with its fields in their order. `indexes` has one for each stream that was asked before.
    """
    assert worker.project is not None
    spec = worker.project.stream(stream)
    if len(key) != len(spec.key):
        raise KeyFormError(
            f"The key of {stream!r} is {', '.join(spec.key)}; {len(key)} values were given.",
            hint=f"Give {len(spec.key)} values, with / between them.",
            stream=stream,
        )
    table = Tables(worker.spark, worker.storage).open(stream)
    if not table.exists():
        return None
    knots = table.knots(to=EVERYTHING if knot is None else knot)
    found: list[dict[str, Any]] | None = None
    if knot is None and spec.writer is not None:
        index = indexes.setdefault(stream, KeyIndex(spec.key))
        found = _indexed(index, knots, table.path, spec, key)
    if found is None:
        found = _scanned(knots, table.path, spec, key)
    newest = next(iter(current(found, spec.key)), None)
    if newest is None:
        return None
    shown = [name for name in spec.schema.names if name != CHANGE]
    document = to_json({name: newest.get(name) for name in shown}).decode()
    return {"knot": newest[WEFT]["knot"], "id": newest[WEFT]["id"], "document": document}


def _indexed(
    index: KeyIndex, knots: Sequence[TableKnot], path: str, spec: StreamSpec, key: list[str]
) -> list[dict[str, Any]] | None:
    """The rows of a key in the newest knot that has it; None: the index does not know it."""
    files = [f"{path}/{file.path}" for knot in knots[-1:] for file in knot.files]
    if not files:
        return None
    values = [one.as_py() for one in _values(files[0], spec, key)]
    number = index.find(values, knots, path)
    if number == 0:
        return []
    newest = [knot for knot in knots if knot.note.knot == number]
    return _scanned(newest, path, spec, key) or None


def _scanned(
    knots: Sequence[TableKnot], path: str, spec: StreamSpec, key: list[str]
) -> list[dict[str, Any]]:
    """The rows of a key, from the newest knot on."""
    found: list[dict[str, Any]] = []
    for together in _newest_first(knots):
        for part in parts_of(path, together):
            found += _rows(part, spec, key)
        if found and spec.writer is not None:
            break  # what a pipeline writes it writes in order: the newest knot has the newest row
    return found


def _newest_first(knots: Sequence[TableKnot]) -> Iterator[list[TableKnot]]:
    """Knots from the newest on, those that share a file together."""
    for _, together in groupby(reversed(knots), key=lambda one: one.shared or one.note.knot):
        yield list(reversed(list(together)))


def _rows(part: FilePart, spec: StreamSpec, key: list[str]) -> list[dict[str, Any]]:
    condition: pc.Expression | None = None
    for name, value in zip(spec.key, _values(part.path, spec, key), strict=True):
        equal = pc.field(name) == value
        condition = equal if condition is None else condition & equal
    table = pq.read_table(arrow_file(part.path), filters=condition, partitioning=None)
    return [row for batch in table.to_batches() for row in documents(part.of(batch))]


def _values(path: str, spec: StreamSpec, key: list[str]) -> list[pa.Scalar]:
    """The values of a key, as its columns have them; refuses a text that cannot be one."""
    names = pq.read_schema(arrow_file(path))
    found = []
    for name, text in zip(spec.key, key, strict=True):
        kind = names.field(name).type
        try:
            found.append(pa.scalar(text).cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise KeyFormError(
                f"{text!r} cannot be a {name} of {spec.name!r}: it is a {kind}.",
                hint="Write it as the column is written in JSON.",
                stream=spec.name,
            ) from error
    return found
