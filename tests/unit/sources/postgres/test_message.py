"""Messages of `pgoutput`, as a server of version 18 has sent them."""

from __future__ import annotations

import pytest

from weft.sources.postgres.message import (
    UNCHANGED,
    Column,
    Delete,
    Insert,
    Message,
    Relation,
    TransactionBegin,
    TransactionEnd,
    Truncate,
    Update,
    decode,
)

# create table t (id int primary key, a text, n numeric); the transaction of an insert and a commit.
BEGIN = b"B\x00\x00\x00\x00\x01q\xee`\x00\x03\x03b\xc7\x8f2/\x00\x00\x02\xf2"
COMMIT = b"C\x00\x00\x00\x00\x00\x01q\xee`\x00\x00\x00\x00\x01q\xee\x90\x00\x03\x03b\xc7\x8f2/"
RELATION = (
    b"R\x00\x00@\x00public\x00t\x00d\x00\x03\x01id\x00\x00\x00\x00\x17\xff\xff\xff\xff"
    b"\x00a\x00\x00\x00\x00\x19\xff\xff\xff\xff\x00n\x00\x00\x00\x06\xa4\xff\xff\xff\xff"
)
INSERT = b"I\x00\x00@\x00N\x00\x03t\x00\x00\x00\x011t\x00\x00\x00\x03a\nbn"
UPDATE = b"U\x00\x00@\x00N\x00\x03t\x00\x00\x00\x011ut\x00\x00\x00\x03NaN"
MOVE = b"U\x00\x00@\x00K\x00\x03t\x00\x00\x00\x011nnN\x00\x03t\x00\x00\x00\x012t\x00\x00\x00\x01xn"
FULL = b"D\x00\x00@\x00O\x00\x03t\x00\x00\x00\x011t\x00\x00\x00\x00n"
DELETE = b"D\x00\x00@\x00K\x00\x03t\x00\x00\x00\x012nn"
TRUNCATE = b"T\x00\x00\x00\x02\x01\x00\x00@\x00\x00\x00@\x07"
MESSAGES = [BEGIN, COMMIT, RELATION, INSERT, UPDATE, MOVE, FULL, DELETE, TRUNCATE]
COLUMNS = (Column(True, "id", 23), Column(False, "a", 25), Column(False, "n", 1700))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (BEGIN, TransactionBegin(24243808, 1_794_832_519_860_783, 754)),
        (COMMIT, TransactionEnd(24243808, 24243856)),
        (RELATION, Relation(16384, "public", "t", "d", COLUMNS)),
        (INSERT, Insert(16384, (b"1", b"a\nb", None))),
        (UPDATE, Update(16384, None, (b"1", UNCHANGED, b"NaN"))),
        (MOVE, Update(16384, (b"1", None, None), (b"2", b"x", None))),
        (FULL, Delete(16384, (b"1", b"", None))),
        (DELETE, Delete(16384, (b"2", None, None))),
        (TRUNCATE, Truncate((16384, 16391))),
    ],
)
def test_a_message_is_what_the_server_meant(data: bytes, message: Message) -> None:
    assert decode(data) == message


@pytest.mark.parametrize("data", [b"Y\x00\x00@\x00public\x00mood\x00", b"O\0\0\0\0\0\0\0\0a\0"])
def test_what_tells_of_no_row_is_passed_over(data: bytes) -> None:
    assert decode(data) is None


@pytest.mark.parametrize("data", MESSAGES)
def test_a_message_that_ends_too_early_is_none(data: bytes) -> None:
    for end in range(1, len(data)):
        with pytest.raises(ValueError):
            decode(data[:end])


@pytest.mark.parametrize(
    "data",
    [b"", b"Z\x00", b"S\x00\x00\x02\xf2\x01", INSERT.replace(b"N", b"X"), INSERT[:-1] + b"b"],
)
def test_what_is_not_of_the_protocol_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode(data)
