"""Transactions of the log as events of one table, each with its place. Messages come in from `replication`, called by
`changes`."""

from __future__ import annotations

from collections.abc import Iterator

from weft.sources.postgres.capture import Capture
from weft.sources.postgres.catalogue import column_names, encoded, find_types, no_identity
from weft.sources.postgres.event import ChangePlace, TableEvents, emptied, filled
from weft.sources.postgres.lookup import completed
from weft.sources.postgres.message import (
    Delete,
    Insert,
    Message,
    Relation,
    TransactionBegin,
    TransactionEnd,
    Truncate,
    Update,
)

Placed = tuple[bytes, tuple[int, int]]
"""An event, and its place: the commit of its transaction, and its number in there."""


class Transactions:
    """Makes events of what a log tells, as long as it is read without a break."""

    def __init__(self, capture: Capture, table: int) -> None:
        self._capture = capture
        self._table = table
        self._begun: TransactionBegin | None = None
        self._serial = 0
        self._events: TableEvents | None = None
        self._names: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether a transaction has begun whose end is still to come."""
        return self._begun is not None

    def read(self, message: Message) -> Iterator[Placed]:
        """The events of one message; refuses a table that no longer has what is declared."""
        match message:
            case TransactionBegin():
                self._begun, self._serial = message, 0
            case TransactionEnd():
                self._begun = None
            case Relation():
                if message.number == self._table:
                    self._events = self._told(message)
                    self._names = tuple(one.name for one in message.columns)
            case Truncate():
                if self._table in message.relations:
                    yield emptied(self._place()), self._last()
            case _ if message.relation == self._table:
                yield from self._changed(message)

    def _changed(self, message: Insert | Update | Delete) -> Iterator[Placed]:
        events = self._events
        assert events is not None  # the log tells of a table before it tells of its rows
        match message:
            case Insert(row=row):
                yield events.created(row, self._place()), self._last()
            case Update(old=old, row=row) if old is not None and events.moves(old, row):
                yield events.deleted(old, self._place()), self._last()
                capture = self._capture
                known = filled(row, old)
                whole = completed(known, self._names, events, capture.table, capture.address)
                yield events.created(whole, self._place()), self._last()
            case Update(old=old, row=row):
                yield events.updated(filled(row, old), self._place()), self._last()
            case Delete(old=old):
                yield events.deleted(old, self._place()), self._last()

    def _place(self) -> ChangePlace:
        """The place of the next event."""
        begun = self._begun
        assert begun is not None
        self._serial += 1
        return ChangePlace(begun.commit, self._serial, begun.at_us, begun.transaction)

    def _last(self) -> tuple[int, int]:
        assert self._begun is not None
        return self._begun.commit, self._serial

    def _told(self, relation: Relation) -> TableEvents:
        """How rows are read from here on; refuses a table that has lost a column, or has another type in its place.

        A column that it has by now was added later, and is null until then.
        """
        capture = self._capture
        with capture.address.connect() as connection:
            types = find_types(connection, [one.type for one in relation.columns])
            later = column_names(connection, relation.number)
        logged = {one.name.lower() for one in relation.columns if one.is_key}
        if not {name.lower() for name in capture.key} <= logged:
            raise no_identity(capture.table, sorted(logged), capture.key, capture.address.stream)
        columns = [(one.name, types[one.type]) for one in relation.columns]
        named = encoded(columns, capture.columns, capture.table, later=later)
        return TableEvents(named, capture.key)
