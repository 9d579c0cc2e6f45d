"""What every store must do, run over each implementation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack.stores import new_store
from weft.weaver.leases import Lease
from weft.weaver.store import Store, StoreConflictError, Write, key, key_range
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import RecordCorruptError, Records, put
from weft.weaver.store.rocks import RocksStore, StoreBusyError

ON_STACK = [pytest.mark.stack, pytest.mark.xdist_group("stack")]


@pytest.fixture(params=["memory", "rocks", pytest.param("cassandra", marks=ON_STACK)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store
    if request.param == "memory":
        opened = MemoryStore()
    elif request.param == "rocks":
        opened = RocksStore(tmp_path)
    else:
        opened = new_store(request.getfixturevalue("cassandra"))
    yield opened
    opened.close()


def fill(store: Store, *names: str) -> None:
    store.apply([Write(name.encode(), name.upper().encode()) for name in names])


def test_a_written_key_is_read_back(store: Store) -> None:
    fill(store, "a")
    assert store.get(b"a") == b"A"
    assert store.get(b"b") is None


def test_a_removed_key_is_gone(store: Store) -> None:
    fill(store, "a", "b")
    store.apply([Write(b"a", None), Write(b"absent", None)])
    assert store.get(b"a") is None
    assert [k for k, _ in store.scan(b"")] == [b"b"]


def test_scan_goes_in_key_order_within_its_prefix(store: Store) -> None:
    fill(store, "x/3", "x/1", "y/1", "x/2", "w/9")
    assert [k for k, _ in store.scan(b"x/")] == [b"x/1", b"x/2", b"x/3"]
    assert [k for k, _ in store.scan(b"x/", reverse=True)] == [b"x/3", b"x/2", b"x/1"]
    assert [k for k, _ in store.scan(b"x/", start=b"x/2")] == [b"x/2", b"x/3"]
    assert [k for k, _ in store.scan(b"x/", start=b"x/2", reverse=True)] == [b"x/2", b"x/1"]
    assert [k for k, _ in store.scan(b"x/", limit=1)] == [b"x/1"]
    assert list(store.scan(b"z")) == []


def test_numbers_in_keys_sort_as_numbers(store: Store) -> None:
    store.apply([Write(key("k", n), str(n).encode()) for n in (10, 9, 100, 1)])
    assert [v for _, v in store.scan(key_range("k"))] == [b"1", b"9", b"10", b"100"]


def test_a_failed_expectation_writes_nothing(store: Store) -> None:
    fill(store, "p\x00a")
    with pytest.raises(StoreConflictError):
        store.apply([Write(b"p\x00b", b"1"), Write(b"p\x00a", b"2")], expect={b"p\x00a": b"other"})
    assert store.get(b"p\x00b") is None
    assert store.get(b"p\x00a") == b"P\x00A"
    store.apply([Write(b"p\x00b", b"1")], expect={b"p\x00a": b"P\x00A", b"p\x00b": None})
    assert store.get(b"p\x00b") == b"1"


def test_a_group_is_as_large_as_it_must_be(store: Store) -> None:
    names = [key("p", "x", n) for n in range(300)]
    store.apply([Write(name, bytes([n % 256]) * 9000) for n, name in enumerate(names)])
    assert [(k, v[0]) for k, v in store.scan(key_range("p"))] == [
        (name, n % 256) for n, name in enumerate(names)
    ]


def test_scan_goes_in_key_order_through_numbers_of_all_kinds(store: Store) -> None:
    keys = [
        *(key("p", "k", n) for n in (0, 99, 100, 12_345, 10**19)),
        *(key("p", "k", 100, m) for m in (0, 250)),
        *(key("p", "k", 100, m, "tail") for m in (0, 250)),
        *(key("p", word) for word in ("a", "k", "ka", "z")),
        *(key("q", 7), key("p")),
    ]
    store.apply([Write(name, name) for name in keys])
    inside = sorted(name for name in keys if name.startswith(key_range("p")))
    assert [k for k, _ in store.scan(b"")] == sorted(keys)
    assert [k for k, _ in store.scan(b"", reverse=True)] == sorted(keys, reverse=True)
    assert [k for k, _ in store.scan(key_range("p"))] == inside
    assert [k for k, _ in store.scan(key_range("p"), reverse=True)] == inside[::-1]
    for place in inside:
        after = [k for k, _ in store.scan(key_range("p"), start=place, limit=3)]
        assert after == inside[inside.index(place) :][:3]
        before = [k for k, _ in store.scan(key_range("p"), start=place, limit=3, reverse=True)]
        assert before == inside[: inside.index(place) + 1][::-1][:3]


def test_conditions_stay_within_one_partition(store: Store) -> None:
    fill(store, "p\x00a")
    with pytest.raises(ValueError, match="partitions"):
        store.apply([Write(b"q\x00b", b"1")], expect={b"p\x00a": b"P\x00A"})
    assert store.get(b"q\x00b") is None
    store.apply([Write(b"p\x00c", b"1"), Write(b"q\x00b", b"1")])
    assert store.get(b"q\x00b") == b"1"


def test_a_changed_byte_of_a_record_is_noticed(store: Store) -> None:
    store.apply([put("leases", "clean", value=Lease("clean", "w", 17))])
    records = Records(store)
    assert records.find(Lease, "leases", "clean") == Lease("clean", "w", 17)
    value = store.get(key("leases", "clean")) or b""
    store.apply([Write(key("leases", "clean"), value.replace(b"17", b"18"))])
    with pytest.raises(RecordCorruptError) as caught:
        records.find(Lease, "leases", "clean")
    assert caught.value.ids == {"record": "leases/clean"}


def test_rocksdb_keeps_what_was_applied_after_reopening(tmp_path: Path) -> None:
    first = RocksStore(tmp_path)
    fill(first, "a")
    with pytest.raises(StoreBusyError):
        RocksStore(tmp_path)
    first.close()
    second = RocksStore(tmp_path)
    assert second.get(b"a") == b"A"
    second.close()


def test_what_was_not_durable_at_once_is_there_after_a_flush(tmp_path: Path) -> None:
    store = RocksStore(tmp_path)
    store.apply([Write(b"a", b"A")], durable=False)
    assert store.get(b"a") == b"A"
    store.flush()
    store.close()
    again = RocksStore(tmp_path)
    assert again.get(b"a") == b"A"
    again.close()
