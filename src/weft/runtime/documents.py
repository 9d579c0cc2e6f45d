"""The newest row of one key of a changing stream, now or as of a knot. Runs where the data is: in a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weft.errors import WeftError
from weft.schema.change import CHANGE
from weft.schema.weft import WEFT
from weft.sinks.document import documents, to_json
from weft.streams.current import current
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
    worker: Worker, *, stream: str, key: list[str], knot: int | None
) -> dict[str, Any] | None:
    """The newest row of a key that a stream had at a knot (default: has now), or None where there is none.

    It comes with its id and the knot that wrote it. The row itself is the text that sinks write, so that both look the
    same, with its fields in their order.
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
    found: list[dict[str, Any]] = []
    for one in reversed(table.knots(to=EVERYTHING if knot is None else knot)):
        for file in one.files:
            found += _rows(f"{table.path}/{file.path}", spec, key)
        if found and spec.writer is not None:
            break  # what a pipeline writes it writes in order: the newest knot has the newest row
    newest = next(iter(current(found, spec.key)), None)
    if newest is None:
        return None
    shown = [name for name in spec.schema.names if name != CHANGE]
    document = to_json({name: newest.get(name) for name in shown}).decode()
    return {"knot": newest[WEFT]["knot"], "id": newest[WEFT]["id"], "document": document}


def _rows(path: str, spec: StreamSpec, key: list[str]) -> list[dict[str, Any]]:
    names = pq.read_schema(path)
    condition: pc.Expression | None = None
    for name, text in zip(spec.key, key, strict=True):
        try:
            value = pa.scalar(text).cast(names.field(name).type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise KeyFormError(
                f"{text!r} cannot be a {name} of {spec.name!r}: it is a {names.field(name).type}.",
                hint="Write it as the column is written in JSON.",
                stream=spec.name,
            ) from error
        equal = pc.field(name) == value
        condition = equal if condition is None else condition & equal
    table = pq.read_table(path, filters=condition)
    return [row for batch in table.to_batches() for row in documents(batch)]
