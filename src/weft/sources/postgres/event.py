"""Change events of a table, in the form that Debezium gives them, so that one decoder reads both. Rows of a snapshot
and changes of the log come in, the bytes of events go out. Called by `snapshot` and `changes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from weft.sources.postgres.message import UNCHANGED, Row, Value
from weft.sources.postgres.value import Converter

PLACEHOLDER = "__debezium_unavailable_value"


@dataclass(frozen=True)
class ChangePlace:
    """Where a change stands: the commit of its transaction, and its number in there; 0 is a snapshot's."""

    commit: int
    serial: int
    at_us: int
    transaction: int | None = None
    snapshot: str | None = None

    def source(self) -> dict[str, Any]:
        """The event's `source`: position, time and transaction as the kernel reads them."""
        said: dict[str, Any] = {
            "connector": "postgresql",
            "commit_lsn": self.commit,
            "event_serial_no": self.serial,
            "ts_us": self.at_us,
        }
        if self.transaction is not None:
            said["txId"] = self.transaction
        if self.snapshot is not None:
            said["snapshot"] = self.snapshot
        return said


@dataclass(frozen=True)
class Encoded:
    """A column of the project: its name there, its place among the values of a row, and how a value is written."""

    name: str
    place: int
    convert: Converter


class TableEvents:
    """Makes the events of one table as long as it is not altered."""

    def __init__(self, columns: Sequence[Encoded], key: Sequence[str]) -> None:
        self._columns = columns
        self._keys = [column for column in columns if column.name in key]

    @property
    def places(self) -> list[int]:
        """Where the declared columns stand in a row."""
        return [one.place for one in self._columns]

    @property
    def key_places(self) -> list[int]:
        """Where the columns of the key stand in a row."""
        return [one.place for one in self._keys]

    def read(self, row: Row, place: ChangePlace) -> bytes:
        """A row of a snapshot."""
        return _event("r", place, after=self._row(row))

    def created(self, row: Row, place: ChangePlace) -> bytes:
        """A row that was made."""
        return _event("c", place, after=self._row(row))

    def updated(self, row: Row, place: ChangePlace) -> bytes:
        """A row that was changed."""
        return _event("u", place, after=self._row(row))

    def deleted(self, old: Row, place: ChangePlace) -> bytes:
        """A row that is gone, of which the key is told."""
        before = {one.name: _value(one, old[one.place]) for one in self._keys}
        return _event("d", place, before=before)

    def moves(self, old: Row | None, row: Row) -> bool:
        """Whether an update gave a row another key, so that it is two rows: one gone, one made."""
        if old is None:
            return False
        return any(
            row[one.place] is not UNCHANGED and old[one.place] != row[one.place]
            for one in self._keys
        )

    def _row(self, row: Row) -> dict[str, Any]:
        return {one.name: _value(one, row[one.place]) for one in self._columns}


def emptied(place: ChangePlace) -> bytes:
    """Every row of the table is gone."""
    return _event("t", place)


def filled(row: Row, old: Row | None) -> Row:
    """A row with the values that the log left out, where the row before it has them."""
    if old is None or UNCHANGED not in row:
        return row
    return tuple(
        before if now is UNCHANGED and before is not None else now
        for now, before in zip(row, old, strict=True)
    )


def _value(column: Encoded, value: Value) -> Any:
    if value is None:
        return None
    return column.convert(value) if isinstance(value, bytes) else PLACEHOLDER


def _event(op: str, place: ChangePlace, **rows: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"op": op, **rows, "source": place.source()})
