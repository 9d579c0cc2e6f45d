"""What the log tells: the messages of PostgreSQL's plugin `pgoutput` (version 1 of its protocol), from bytes to frozen
values. Called by `replication`. Knows no connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Final

EPOCH_US: Final = 946_684_800_000_000
"""Microseconds from 1970 to 2000, where PostgreSQL's own count begins."""

_BEGIN = Struct(">QqI")
_COMMIT = Struct(">BQQq")
_HEAD = Struct(">I")
_SHORT = Struct(">H")
_COLUMN = Struct(">Ii")
_TRUNCATE = Struct(">IB")


class _Unchanged:
    """A large value that did not change, and that the log therefore leaves out."""

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED: Final = _Unchanged()
Value = bytes | None | _Unchanged
Row = tuple[Value, ...]
"""The values of a row in the order of its relation's columns, as texts."""


@dataclass(frozen=True)
class TransactionBegin:
    """A transaction begins whose commit stands at `commit` in the log."""

    commit: int
    at_us: int
    transaction: int


@dataclass(frozen=True)
class TransactionEnd:
    """The transaction is told; `end` is the place behind it."""

    commit: int
    end: int


@dataclass(frozen=True)
class Column:
    """A column of a relation: whether it is part of the replica identity, its name, its type's number."""

    is_key: bool
    name: str
    type: int


@dataclass(frozen=True)
class Relation:
    """A table as it is from here on: told before its first change, and again when it was altered."""

    number: int
    schema: str
    name: str
    identity: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Insert:
    """A row that was made."""

    relation: int
    row: Row


@dataclass(frozen=True)
class Update:
    """A row that was changed; `old` is the row before or its key, where the log has it."""

    relation: int
    old: Row | None
    row: Row


@dataclass(frozen=True)
class Delete:
    """A row that is gone; `old` is the row, or its key alone."""

    relation: int
    old: Row


@dataclass(frozen=True)
class Truncate:
    """Tables all rows of which are gone."""

    relations: tuple[int, ...]


Message = TransactionBegin | TransactionEnd | Relation | Insert | Update | Delete | Truncate


def decode(data: bytes) -> Message | None:
    """The message that bytes are; None for one that tells of no row (a type, an origin, a message of an application).

    Raises ValueError for bytes that are no message of this protocol.
    """
    try:
        reader = _READERS.get(data[:1], _refuse)
        return reader(_Bytes(data, 1))
    except (IndexError, OverflowError) as error:
        raise ValueError(f"a message of pgoutput ends too early: {data[:40]!r}") from error


class _Bytes:
    """Bytes that are taken from the front."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, form: Struct) -> tuple[int, ...]:
        end = self.at + form.size
        if end > len(self.data):
            raise IndexError
        values: tuple[int, ...] = form.unpack_from(self.data, self.at)
        self.at = end
        return values

    def byte(self) -> bytes:
        self.at += 1
        if self.at > len(self.data):
            raise IndexError
        return self.data[self.at - 1 : self.at]

    def block(self, length: int) -> bytes:
        self.at += length
        if self.at > len(self.data):
            raise IndexError
        return self.data[self.at - length : self.at]

    def text(self) -> str:
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise IndexError
        text = self.data[self.at : end].decode()
        self.at = end + 1
        return text

    def row(self) -> Row:
        (count,) = self.take(_SHORT)
        return tuple(self._value() for _ in range(count))

    def _value(self) -> Value:
        match self.byte():
            case b"n":
                return None
            case b"u":
                return UNCHANGED
            case b"t":
                return self.block(*self.take(_HEAD))
            case kind:
                raise ValueError(f"a value of pgoutput is of an unknown kind: {kind!r}")

    def is_next(self, *kinds: bytes) -> bool:
        return self.data[self.at : self.at + 1] in kinds


def _begin(data: _Bytes) -> TransactionBegin:
    commit, at_us, transaction = data.take(_BEGIN)
    return TransactionBegin(commit, at_us + EPOCH_US, transaction)


def _commit(data: _Bytes) -> TransactionEnd:
    _, commit, end, _ = data.take(_COMMIT)
    return TransactionEnd(commit, end)


def _relation(data: _Bytes) -> Relation:
    (number,) = data.take(_HEAD)
    schema, name, identity = data.text(), data.text(), data.byte().decode()
    (count,) = data.take(_SHORT)
    columns = []
    for _ in range(count):
        is_key, column = data.byte() != b"\0", data.text()
        columns.append(Column(is_key, column, data.take(_COLUMN)[0]))
    # Tables of the catalogue itself come without the name of their schema.
    return Relation(number, schema or "pg_catalog", name, identity, tuple(columns))


def _insert(data: _Bytes) -> Insert:
    (number,) = data.take(_HEAD)
    _expect(data, b"N")
    return Insert(number, data.row())


def _update(data: _Bytes) -> Update:
    (number,) = data.take(_HEAD)
    old = None
    if data.is_next(b"K", b"O"):
        data.byte()
        old = data.row()
    _expect(data, b"N")
    return Update(number, old, data.row())


def _delete(data: _Bytes) -> Delete:
    (number,) = data.take(_HEAD)
    _expect(data, b"K", b"O")
    return Delete(number, data.row())


def _truncate(data: _Bytes) -> Truncate:
    count, _ = data.take(_TRUNCATE)
    return Truncate(tuple(data.take(_HEAD)[0] for _ in range(count)))


def _expect(data: _Bytes, *kinds: bytes) -> None:
    if (found := data.byte()) not in kinds:
        raise ValueError(f"a row of pgoutput is of an unknown kind: {found!r}")


def _refuse(data: _Bytes) -> Message:
    raise ValueError(f"a message of pgoutput is of an unknown kind: {data.data[:1]!r}")


def _pass(data: _Bytes) -> None:
    """A message that tells of no row."""


_READERS: Mapping[bytes, Callable[[_Bytes], Message | None]] = {
    b"B": _begin,
    b"C": _commit,
    b"R": _relation,
    b"I": _insert,
    b"U": _update,
    b"D": _delete,
    b"T": _truncate,
    b"Y": _pass,
    b"O": _pass,
    b"M": _pass,
}
