"""Shelves of keys in memory, over tables that are written behind them."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from weft.weaver.store import Write, key
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.shelves import Shelves, partition_of, shelf_of

PARTS = st.one_of(st.sampled_from(["a", "k", "ka", "é"]), st.sampled_from([0, 7, 99, 100, 250]))
KEYS = st.builds(
    lambda first, rest: key(first, *rest), st.sampled_from("pq"), st.lists(PARTS, max_size=3)
)
WRITES = st.builds(Write, KEYS, st.one_of(st.none(), st.binary(max_size=400)))


class Behind:
    """Tables in memory."""

    def __init__(self) -> None:
        self.shelves: dict[bytes, dict[bytes, bytes]] = {}
        self.reads = 0

    def partitions(self) -> list[bytes]:
        return list({partition_of(name) for name in self.shelves})

    def names(self, partition: bytes) -> list[bytes]:
        return [name for name in self.shelves if partition_of(name) == partition]

    def entries(self, shelf: bytes) -> list[tuple[bytes, bytes]]:
        self.reads += 1
        return list(self.shelves[shelf].items())

    def write(self, write: Write) -> None:
        shelf = self.shelves.setdefault(shelf_of(write.key), {})
        shelf.pop(write.key, None)
        if write.value is not None:
            shelf[write.key] = write.value


@given(st.lists(st.tuples(WRITES, st.booleans())), st.lists(KEYS, min_size=1), st.booleans())
def test_shelves_read_like_one_sorted_list_whatever_is_in_memory(
    steps: list[tuple[Write, bool]], asked: list[bytes], reverse: bool
) -> None:
    tables, plain = Behind(), MemoryStore()
    shelves = Shelves(tables, budget=1000)
    behind: list[Write] = []
    for write, is_told in steps:
        shelves.take(write)
        plain.apply([write])
        behind.append(write)
        if is_told:
            for one in behind:
                tables.write(one)
                shelves.written(one.key, 1)
            for name in {shelf_of(one.key) for one in behind}:
                if shelves.is_empty(name):
                    shelves.forget(name)
                    del tables.shelves[name]
            behind = []
    for place in asked:
        assert shelves.get(place) == plain.get(place)
        for prefix in (b"", place, place + b"\x00", partition_of(place) + b"\x00"):
            for start in (None, place):
                found = list(shelves.scan(prefix, start=start, reverse=reverse))
                assert found == list(_sorted(plain, prefix, start, reverse))


def _sorted(
    plain: MemoryStore, prefix: bytes, start: bytes | None, reverse: bool
) -> Iterator[tuple[bytes, bytes]]:
    return plain.scan(prefix, start=start, reverse=reverse)


def test_a_long_line_lies_on_small_shelves_and_its_end_is_read_alone() -> None:
    tables = Behind()
    for number in range(10_000):
        tables.write(Write(key("line", "knot", number), b"%d" % number))
    assert max(map(len, tables.shelves.values())) == 100
    shelves = Shelves(tables)
    newest = shelves.scan(key("line", "knot", ""), start=None, reverse=True)
    assert [next(newest)[1] for _ in range(3)] == [b"9999", b"9998", b"9997"]
    assert tables.reads == 1
    assert shelves.get(key("line", "knot", 10_000)) is None
    assert tables.reads == 1


def test_what_is_asked_for_in_vain_takes_no_memory() -> None:
    shelves = Shelves(Behind())
    for number in range(1000):
        assert shelves.get(key(f"line/{number}", "knot", number)) is None
    assert not shelves._loaded and not shelves._names
