"""Knots are pinned where the last one ended, and told again with the hash they had, whatever has been added since."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.samples.values import RICH_FACTS
from weft import canonical, codec
from weft.clock import SystemClock
from weft.lineage.facts import Facts, Output
from weft.lineage.knot import UNSEALED, Knot, RuleRef
from weft.lineage.ledger import Ledger
from weft.lineage.offsets import Offsets
from weft.weaver.knots import KnotRefusedError, Knots, PinRequest
from weft.weaver.leases import Leases
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import Records, _checksum
from weft.weaver.store.store import Write, key

FACTS = Facts(
    outputs={"s": Output(1, 10, "ab" * 32)},
    schema="cd" * 32,
    schemas={},
    ledger=Ledger(rows_in=1, out=1),
    steps=(),
    completed="2026-01-01T00:00:00Z",
)


def request(batch: int, start: Any, end: Any, *, epoch: int = 0) -> PinRequest:
    return PinRequest("p", "s", epoch, batch, Offsets((start,), (end,)), {})


def tied(knots: Knots, asked: PinRequest) -> Knot:
    knot, _ = knots.pin(asked, lambda _: ())
    return knots.complete(knot, FACTS, lambda _: [])


def test_a_batch_begins_where_the_newest_knot_ended() -> None:
    knots = Knots(Records(MemoryStore()), SystemClock())
    tied(knots, request(0, None, {"at": 5}))
    tied(knots, request(1, {"at": 5}, {"at": 9}))
    for start in (None, {"at": 5}, {"at": 10}):  # over again, twice, and with a gap
        with pytest.raises(KnotRefusedError) as caught:
            knots.pin(request(0, start, {"at": 12}, epoch=1), lambda _: ())
        assert caught.value.code == "knot.gap"
    assert knots.head("s").last == 2
    assert knots.pin(request(2, {"at": 9}, {"at": 12}), lambda _: ())[0].number == 3


def test_what_is_kept_of_a_knot_is_what_a_weaver_that_starts_reads() -> None:
    store = MemoryStore()
    knots = Knots(Records(store), SystemClock())
    offsets = Offsets(({"a": [1, {"b": None}]}, None), ({"a": [2.5, "x"]}, 7), {"in": 3})
    first = PinRequest("p", "s", 0, 0, replace(offsets, start=(None, None)), {"in": (0, 3)})
    rules = (RuleRef("mask", "ab" * 32, 12.5),)

    def read_anew() -> None:
        again = Knots(Records(store), SystemClock())
        assert again.head("s") == knots.head("s")
        kept, stored = knots.get("s", 1), again.get("s", 1)
        assert kept is knots.get("s", 1)
        assert (kept, kept.to_dict(), kept.sealed_form) == (
            stored,
            stored.to_dict(),
            stored.sealed_form,
        )

    pinned, _ = knots.pin(first, lambda _: rules)
    read_anew()
    balanced = replace(RICH_FACTS, ledger=Ledger(rows_in=1, out=1))
    knots.complete(pinned, balanced, lambda _: [])
    read_anew()
    assert knots.get("s", 1).is_intact()


def test_a_first_batch_begins_at_the_beginning() -> None:
    knots = Knots(Records(MemoryStore()), SystemClock())
    with pytest.raises(KnotRefusedError):
        knots.pin(request(4, {"at": 5}, {"at": 9}), lambda _: ())
    assert knots.pin(request(0, None, {"at": 9}), lambda _: ())[0].number == 1


def test_a_knot_that_a_commit_tells_has_the_hash_that_it_was_sealed_with() -> None:
    knots = Knots(Records(MemoryStore()), SystemClock())
    pinned, _ = knots.pin(request(0, None, {"at": 5}), lambda _: ())
    facts = replace(FACTS, outputs={"s": replace(FACTS.outputs["s"], version=7)})
    sealed = pinned.tied(facts)
    told = Knot.told(pinned.to_dict(), codec.to_form(FACTS), own=7)
    assert (told, told.hash, told.to_dict()) == (sealed, sealed.hash, sealed.to_dict())


def test_a_knot_of_an_older_version_is_told_with_the_hash_of_then() -> None:
    knots = Knots(Records(MemoryStore()), SystemClock())
    pinned, _ = knots.pin(request(0, None, {"at": 5}), lambda _: ())
    then = {name: value for name, value in pinned.to_dict().items() if name != "replaces"}
    facts = {**codec.to_form(FACTS), "outputs": {"s": {"rows": 1, "bytes": 10, "hash": "ab" * 32}}}
    del facts["state"]
    told = Knot.told(then, facts, own=7)
    form = {**then, **{name: facts[name] for name in facts if name not in ("schemas",)}}
    form["outputs"] = {"s": {**facts["outputs"]["s"], "version": 7}}
    covered = {name: value for name, value in form.items() if name not in UNSEALED}
    assert told.hash == canonical.digest(covered)
    assert told.is_intact() and Knot.from_dict(told.to_dict()).is_intact()


def test_a_lease_of_another_version_changes_hands() -> None:
    store = MemoryStore()
    leases = Leases(Records(store), SystemClock(), duration=timedelta())
    leases.acquire("p", "one")
    name = key("leases", "p")
    stored = store.get(name)
    assert stored is not None
    body = canonical.encode({**canonical.decode(stored[8:]), "of_later": True})
    store.apply([Write(name, _checksum(name, body) + body)])
    taken = leases.acquire("p", "two")
    assert taken is not None and (taken.worker, taken.token) == ("two", 2)
