"""The tables of a pipeline's streams: each knot is one commit, whoever writes it and however often."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from weft.errors import WeftError
from weft.lineage.facts import DataFile
from weft.schema.change import KEY_PROPERTY
from weft.schema.schema import Schema
from weft.schema.weft import WEFT
from weft.streams.note import Note, TableKnot
from weft.streams.storage import Storage
from weft.streams.table import Table, TableConflictError


class SchemaConflictError(WeftError):
    """A column would change its type, which a stream's table cannot do."""

    code = "table.schema-conflict"
    domain = "user"


class OtherKnotError(WeftError):
    """A table holds a knot under a number that the weaver gave to another one."""

    code = "table.other-history"
    domain = "conflict"

    def __init__(self, stream: str, knot: int, *, found: str, expected: str) -> None:
        super().__init__(
            f"Knot {knot} of stream '{stream}' is in its table already, and it is another one: the "
            f"table has {found}, the weaver's store {expected}. The store is older than the table.",
            hint="Stop Weft and run `weft store rebuild`, which brings the store up to its tables.",
            stream=stream,
            knot=knot,
        )


@dataclass(frozen=True)
class Committed:
    """A knot in a table: its version and files, by whoever committed it."""

    version: int
    files: tuple[DataFile, ...]
    was_there: bool = False
    """Whether an earlier try or another worker had committed the knot, with files of its own."""


class Tables:
    """Opens tables once, creates them when first written, and commits knots to them."""

    def __init__(
        self,
        spark: SparkSession,
        storage: Storage,
        keys: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`keys` are those of changing streams; their tables say them."""
        self._spark = spark
        self._storage = storage
        self._keys = keys or {}
        self._open: dict[str, Table] = {}
        self._schemas: dict[str, dict[str, Any]] = {}

    def open(self, stream: str) -> Table:
        """The table of a stream, which may not exist yet."""
        if stream not in self._open:
            self._open[stream] = Table(self._spark, self._storage.table(stream))
        return self._open[stream]

    def find(self, stream: str, knot: int, *, id: str | None = None) -> TableKnot | None:
        """What was committed for a knot, or None; with `id`, refuses a knot of that number that is another one."""
        table = self.open(stream)
        found = table.find(knot) if table.exists() else None
        if found is not None and id is not None and found.note.id != id:
            raise OtherKnotError(stream, knot, found=found.note.id, expected=id)
        return found

    def commit(
        self, stream: str, columns: StructType, note: Note, files: Sequence[DataFile]
    ) -> Committed:
        """Commit a knot's files once; if it is there already, that commit stands and is returned.

        Put-if-absent by version fences other writers: whoever loses looks again, and gives way to a commit
        of the same knot (the same batch woven by the same rules has the same rows).
        """
        table = self.open(stream)
        schema = self._merge(stream, table, columns)
        while True:
            known = self.find(stream, note.knot, id=note.id)
            if known is not None:
                return Committed(known.version, known.files, was_there=True)
            head = table.head()
            if head is not None and head.note.knot > note.knot:
                raise WeftError(
                    f"Stream '{stream}' already has knot {head.note.knot}; knot {note.knot} "
                    "comes too late.",
                    code="table.fenced",
                    domain="conflict",
                    hint="Another worker has taken over; this one stops.",
                    stream=stream,
                )
            if head is not None and _is_filled(head.note, note):
                raise TableConflictError(
                    f"Knots of rule '{note.fill}' from {note.first} on are in stream '{stream}' already, by "
                    "an earlier try that was still under way.",
                    stream=stream,
                )
            version = table.version()
            try:
                made = table.commit(version, note, files, schema=schema)
                return Committed(made, tuple(files))
            except TableConflictError:
                if table.version() == version:  # nobody was faster: the knot itself is refused
                    raise

    def create(self, stream: str, columns: StructType) -> None:
        """Create the table of a stream with these columns, if there is none."""
        table = self.open(stream)
        if not table.exists():
            self._merge(stream, table, columns)

    def _merge(self, stream: str, table: Table, columns: StructType) -> dict[str, Any] | None:
        """The table's schema with new columns added, or None when it has them all."""
        wanted = nullable(columns.jsonValue())
        if self._schemas.get(stream) == wanted:
            return None
        if not table.exists():
            key = self._keys.get(stream)
            table.create(wanted, None if key is None else {KEY_PROPERTY: json.dumps(list(key))})
            self._schemas[stream] = wanted
            return None
        current = table.schema()
        known = {field["name"].lower(): field for field in current["fields"]}
        added = []
        for field in wanted["fields"]:
            before = known.get(field["name"].lower())
            if before is None:
                added.append(field)
            elif before["type"] != field["type"]:
                raise SchemaConflictError(
                    f"Column '{field['name']}' of stream '{stream}' is {before['type']} and "
                    f"cannot become {field['type']}.",
                    hint="Write it under another name, or into a side stream.",
                    stream=stream,
                    column=field["name"],
                )
        self._schemas[stream] = wanted
        if not added:
            return None
        # `_weft` stays last, as in every stream.
        user = [field for field in current["fields"] if field["name"] != WEFT]
        weft = [field for field in current["fields"] if field["name"] == WEFT]
        return {**current, "fields": [*user, *added, *weft]}


def _is_filled(newest: Note, note: Note) -> bool:
    """Whether a table has been filled beyond the first knot that a commit stands for: its rows would be there twice."""
    return (
        note.fill is not None
        and newest.fill == note.fill
        and newest.knot >= (note.first or note.knot)
    )


def nullable(form: Any) -> Any:
    """A type in Spark's JSON form with everything in it nullable, as tables keep it."""
    if isinstance(form, list):
        return [nullable(item) for item in form]
    if not isinstance(form, dict):
        return form
    flags = {"nullable": True, "containsNull": True, "valueContainsNull": True}
    return {name: flags.get(name) or nullable(value) for name, value in form.items()}


def fingerprint(columns: StructType) -> tuple[str, dict[str, Any]]:
    """The user's columns of a stream row as a schema: its fingerprint, and its JSON form."""
    user = StructType([field for field in columns if field.name != WEFT])
    schema = Schema.from_json(nullable(user.jsonValue()))
    return schema.fingerprint, schema.to_json()
