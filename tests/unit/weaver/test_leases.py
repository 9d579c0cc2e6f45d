"""A pipeline is run by one worker at a time, and one that lost its lease is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from weft.clock import ManualClock
from weft.weaver.leases import LeaseLostError, Leases
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import Records


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def leases(clock: ManualClock) -> Leases:
    return Leases(Records(MemoryStore()), clock)


def test_only_one_worker_gets_a_pipeline(leases: Leases) -> None:
    first = leases.acquire("clean", "a")
    assert first is not None and leases.acquire("clean", "b") is None
    assert leases.acquire("clean", "a") == first
    assert leases.holder("clean") == "a"


def test_a_lease_that_ran_out_goes_to_another_with_a_higher_token(
    leases: Leases, clock: ManualClock
) -> None:
    first = leases.acquire("clean", "a")
    clock.advance(leases.duration + timedelta(seconds=1))
    second = leases.acquire("clean", "b")
    assert first and second and second.token > first.token
    with pytest.raises(LeaseLostError) as lost:
        leases.check("clean", "a", first.token)
    assert lost.value.code == "lease.lost" and lost.value.ids["pipeline"] == "clean"
    with pytest.raises(LeaseLostError):
        leases.renew("clean", "a", first.token)


def test_a_lease_that_ran_out_and_nobody_took_is_still_good(
    leases: Leases, clock: ManualClock
) -> None:
    first = leases.acquire("clean", "a")
    clock.advance(leases.duration * 10)
    assert first and leases.check("clean", "a", first.token) == first
    leases.renew("clean", "a", first.token)
    assert leases.holder("clean") == "a"


def test_a_lease_that_is_given_back_is_free_at_once(leases: Leases) -> None:
    first = leases.acquire("clean", "a")
    assert first
    leases.release("clean", "b", first.token)
    assert leases.holder("clean") == "a"
    leases.release("clean", "a", first.token)
    assert leases.holder("clean") is None
    second = leases.acquire("clean", "b")
    assert second and second.token == first.token + 1


def test_a_lease_that_ran_out_while_the_weaver_was_away_can_still_be_renewed_by_its_holder(
    clock: ManualClock,
) -> None:
    records = Records(MemoryStore())
    before = Leases(records, clock)
    held = before.acquire("clean", "a")
    clock.advance(3 * before.duration)
    after = Leases(records, clock)
    assert held and after.acquire("clean", "b") is None
    clock.advance(after.duration / 2)
    after.renew("clean", "a", held.token)
    clock.advance(after.duration * 2 / 3)
    assert after.holder("clean") == "a"
    clock.advance(after.duration)
    assert after.acquire("clean", "b") is not None


def test_a_clock_that_is_set_back_keeps_no_lease_alive(leases: Leases, clock: ManualClock) -> None:
    assert leases.acquire("clean", "dead")
    clock.set(datetime(2025, 12, 31, tzinfo=UTC))
    clock.advance(leases.duration)
    assert leases.holder("clean") is None
    assert leases.acquire("clean", "b") is not None


def test_a_clock_that_is_set_ahead_ends_no_lease(leases: Leases, clock: ManualClock) -> None:
    assert leases.acquire("clean", "a")
    clock.set(datetime(2027, 1, 1, tzinfo=UTC))
    assert leases.holder("clean") == "a"


def test_a_lease_that_ran_out_can_be_revoked_and_a_live_one_cannot(
    leases: Leases, clock: ManualClock
) -> None:
    held = leases.acquire("clean", "a")
    assert held
    leases.revoke("clean")
    assert leases.check("clean", "a", held.token) == held
    clock.advance(leases.duration)
    leases.revoke("clean")
    with pytest.raises(LeaseLostError):
        leases.check("clean", "a", held.token)


def test_a_worker_that_waits_knows_when_the_next_lease_of_another_runs_out(
    leases: Leases, clock: ManualClock
) -> None:
    leases.acquire("clean", "a")
    clock.advance(timedelta(seconds=1))
    leases.acquire("german", "b")
    assert leases.soonest_end(but="c") == leases.duration - timedelta(seconds=1)
    assert leases.soonest_end(but="a") == leases.duration
    clock.advance(leases.duration)
    assert leases.soonest_end(but="c") is None
