"""The store in a real Cassandra: what the next leader finds, and what an earlier one can no longer do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.stack.stores import new_keyspace, open_store
from weft.cli.root import cli
from weft.servers.cassandra import Cassandra
from weft.servers.process import wait_until
from weft.streams.storage import Storage
from weft.weaver.store import StoreConflictError, Write, key, key_range
from weft.weaver.store.address import KeyspaceAddress, connect
from weft.weaver.store.cassandra import CassandraStore
from weft.weaver.store.copied import read_copy
from weft.weaver.store.keyspace import Keyspace, KeyspaceMissingError, StoreAwayError
from weft.weaver.store.rocks import RocksStore
from weft.weaver.store.writelog import CHUNK, StoreLostError, WriteLog
from weft.weaver.weaver import Weaver

MANY = 3 * CHUNK - 100


def fill(store: CassandraStore, *numbers: int) -> None:
    for number in numbers:
        store.apply(
            [Write(key("line", "knot", number), b"%d" % number), Write(key("head"), b"%d" % number)]
        )


def found(store: Any) -> dict[bytes, bytes]:
    return dict(store.scan(b""))


def wait_for_tables(store: CassandraStore) -> None:
    wait_until(lambda: store._applied == store._head, what="the tables lack something", seconds=20)


def test_the_next_leader_finds_what_was_acknowledged_in_the_log_and_in_the_tables(
    cassandra: Cassandra,
) -> None:
    address = new_keyspace(cassandra)
    first = open_store(address)
    fill(first, *range(95, 105))
    wait_for_tables(first)
    fill(first, 105)
    first.apply([Write(key("line", "knot", 96), None)])
    first.apply([Write(key("line", "knot", 106), b"never flushed")], durable=False)
    expected = {key("line", "knot", n): b"%d" % n for n in (95, *range(97, 106))}
    expected[key("head")] = b"105"
    first.abandon()
    second = open_store(address)
    assert found(second) == expected
    assert second.get(key("line", "knot", 96)) is None
    fill(second, 106)
    wait_for_tables(second)
    copy = found(read_copy(KeyspaceAddress.parse(address)))
    assert copy == found(second) and copy[key("line", "knot", 106)] == b"106"
    second.close()


def test_a_leader_that_was_followed_by_another_writes_nothing(cassandra: Cassandra) -> None:
    address = new_keyspace(cassandra)
    first = open_store(address)
    fill(first, 1)
    second = open_store(address)
    fill(second, 2)
    before = found(second)
    with pytest.raises(StoreLostError):
        first.apply([Write(key("line", "knot", 1), b"late")])
    with pytest.raises(StoreLostError):
        first.get(key("line", "knot", 1))
    assert not first.is_leading
    first.close()
    assert second.is_leading  # and nobody resigned for it
    fill(second, 3)
    second.close()
    third = open_store(address)
    assert found(third) == {**before, key("line", "knot", 3): b"3", key("head"): b"3"}
    third.close()


class Forgetful(Keyspace):
    """A connection that breaks, sometimes, after what was asked is done, or before."""

    breaks: list[str]

    def decide(self, statement: str, *values: Any) -> tuple[bool, Any]:
        how = self.breaks.pop(0) if "writes" in statement and self.breaks else ""
        if how == "before":
            raise StoreAwayError("the network")
        answer = super().decide(statement, *values)
        if how == "after":
            raise StoreAwayError("the network")
        return answer


def test_a_transaction_whose_outcome_is_not_known_is_done_once(cassandra: Cassandra) -> None:
    address = new_keyspace(cassandra)
    keyspace = Forgetful(KeyspaceAddress.parse(address))
    keyspace.breaks = ["after", "before", "after", "", "before", "after"]
    log = WriteLog(keyspace)
    seat = log.take(log.seat(exactly=True), holder="test", address="")
    assert seat is not None
    store = CassandraStore(keyspace, seat)
    store.apply([Write(key("p", "a"), b"1")], expect={key("p", "a"): None})
    store.apply([Write(key("p", "a"), b"2")], expect={key("p", "a"): b"1"})
    with pytest.raises(StoreConflictError):
        store.apply([Write(key("p", "a"), b"3")], expect={key("p", "a"): b"1"})
    store.apply([Write(key("p", "b"), bytes(MANY))])
    assert not keyspace.breaks
    assert log.seat(exactly=True).head == 5  # two groups of one row, one of three
    store.abandon()
    again = open_store(address)
    assert again.get(key("p", "a")) == b"2"
    assert again.get(key("p", "b")) == bytes(MANY)
    again.close()


def test_tables_that_do_not_answer_change_nothing(
    cassandra: Cassandra, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = new_keyspace(cassandra)
    first = open_store(address)
    fill(first, 1, 250)
    wait_for_tables(first)
    first.apply([Write(key("other"), b"")])  # whose entry in the log says how far the tables are
    first.abandon()
    store = open_store(address)
    writes = [Write(key("line", "knot", n), b"new") for n in (300, 1, 250)]
    with monkeypatch.context() as patched:
        patched.setattr(store._tables, "entries", _away)
        with pytest.raises(StoreAwayError):
            store.apply(writes)
    assert store.is_leading
    assert [v for _, v in store.scan(key_range("line"))] == [b"1", b"250"]
    store.apply(writes)
    assert [v for _, v in store.scan(key_range("line"))] == [b"new"] * 3
    store.close()


def _away(shelf: bytes) -> Any:
    raise StoreAwayError("the network")


def test_of_two_that_would_lead_one_does(cassandra: Cassandra) -> None:
    address = new_keyspace(cassandra)
    keyspace = connect(KeyspaceAddress.parse(address))
    log = WriteLog(keyspace)
    seen = log.seat(exactly=True)
    first = log.take(seen, holder="a", address="http://a")
    assert first is not None and first.term == seen.term + 1
    assert log.take(seen, holder="b", address="http://b") is None
    assert log.seat().holder == "a"
    keyspace.close()


def test_shelves_that_are_empty_are_no_longer_listed(cassandra: Cassandra) -> None:
    store = open_store(new_keyspace(cassandra))
    for number in range(0, 500, 50):
        store.apply([Write(key("events", number), b"x")], durable=False)
    store.flush()
    wait_for_tables(store)
    store.apply([Write(key("events", number), None) for number in range(0, 400, 50)])
    wait_for_tables(store)
    assert [row.shelf[-1:] for row in store._keyspace.run("SELECT shelf FROM @shelves")] == [b"4"]
    store.apply([Write(key("events", 50), b"again")])
    assert [k for k, _ in store.scan(key_range("events"))] == [
        key("events", number) for number in (50, 400, 450)
    ]
    store.close()


def weft(*words: str) -> tuple[int, Any]:
    """What a command ends with, and what it prints as JSON."""
    ended = CliRunner().invoke(cli, [*words, "--output", "json"])
    return ended.exit_code, json.loads(ended.stdout or ended.stderr)


def test_a_history_is_taken_from_a_folder_into_a_keyspace_that_is_new(
    cassandra: Cassandra, tmp_path: Path
) -> None:
    storage = Storage(str(tmp_path))
    weaver = Weaver(RocksStore(Path(storage.store)))
    weaver.events.record("project.deployed", hash="0")
    history = weaver.identity.history
    address = cassandra.address("moved")
    assert weft("store", "create", "--store", address, "--replicas", "1")[0] == 0
    copy = ("store", "copy", address, "--storage", storage.root)
    assert weft(*copy)[1]["code"] == "store.busy"
    kept = dict(weaver.store.scan(b""))
    weaver.store.close()
    assert weft(*copy) == (0, {"store": address, "records": len(kept)})
    assert weft(*copy)[1]["code"] == "store.used"
    assert weft("store", "create", "--store", address, "--replicas", "1")[0] == 0
    assert weft("store", "show", "--store", address)[1]["history"] == history
    store = open_store(address)
    assert found(store) == kept
    assert Weaver(store).identity.history == history
    store.close()
    assert weft("store", "rebuild", "--store", address)[1]["code"] == "rebuild.refused"


def test_a_keyspace_that_was_not_made_is_named(cassandra: Cassandra) -> None:
    with pytest.raises(KeyspaceMissingError) as caught:
        connect(KeyspaceAddress.parse(cassandra.address("nowhere")))
    assert "weft store create" in caught.value.hint


def test_a_cluster_that_is_away_ends_the_term_and_keeps_what_it_acknowledged(
    cassandra: Cassandra,
) -> None:
    address = new_keyspace(cassandra)
    store = open_store(address, term_s=2)
    fill(store, 1, 2)
    cassandra.kill()
    try:
        wait_until(lambda: not store.is_leading, what="it went on leading", seconds=30)
        with pytest.raises(StoreLostError):
            fill(store, 3)
        store.close()
        with pytest.raises(StoreAwayError):
            connect(KeyspaceAddress.parse(address))
    finally:
        cassandra.start()
    again = open_store(address)
    assert again.get(key("head")) == b"2"
    fill(again, 3)
    again.close()
