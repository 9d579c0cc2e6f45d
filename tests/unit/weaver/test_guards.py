"""What a guard asks for is done, whatever comes in between."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.unit.weaver.chain import make_weaver, tie
from weft.operations.operation import Operation, OperationStatus
from weft.weaver import guards
from weft.weaver.planning import PlanStaleError
from weft.weaver.weaver import Weaver
from weft.weaving.rule import Rule

RULE = Rule("bad", "orders", steps=(), guards=("rows_in < 1",), on_breach="rollback")


def broken() -> Weaver:
    """A weaver whose newest knot breaks the guard of a rule."""
    weaver = make_weaver()
    tie(weaver, "orders")
    weaver.rules.attach(RULE)
    tie(weaver, "orders", rule="bad")
    return weaver


async def begun(weaver: Weaver, count: int) -> list[Operation]:
    """The operations, once there are so many."""
    while len(found := await weaver.operations.runner.all()) < count:
        await asyncio.sleep(0.01)
    return found


def test_a_rollback_that_the_project_was_changed_under_is_begun_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weaver = broken()
    monkeypatch.setattr(guards, "FIRST_RETRY_S", 0.01)
    left = [True] * 4  # more often than a request plans anew
    plan_again = weaver.operations.planner.plan_again

    async def stale_at_first(operation: Operation) -> Any:
        if left:
            left.pop()
            raise PlanStaleError("the project was changed")
        return await plan_again(operation)

    monkeypatch.setattr(weaver.operations.planner, "plan_again", stale_at_first)

    async def scene() -> None:
        weaver.guards.check(weaver.knots.get("orders", 2))
        async with asyncio.timeout(10):
            *given_up, last = await begun(weaver, 5)
        assert {one.status for one in given_up} == {OperationStatus.ABORTED}
        assert last.status is OperationStatus.RUNNING
        assert weaver.rules.get("bad").to_undo  # until it is over
        weaver.stop()

    asyncio.run(scene())


def test_a_weaver_that_starts_again_goes_on_with_the_rollback_that_was_begun() -> None:
    weaver = broken()

    async def scene() -> None:
        weaver.guards.check(weaver.knots.get("orders", 2))
        async with asyncio.timeout(10):
            await begun(weaver, 1)
        weaver.stop()
        again = Weaver(weaver.store)
        await again.resume()
        for _ in range(20):
            await asyncio.sleep(0.01)
        [only] = await again.operations.runner.all()
        assert only.status is OperationStatus.RUNNING
        await again.operations.runner.abort(only.id)
        async with asyncio.timeout(10):
            while again.rules.get("bad").to_undo:
                await asyncio.sleep(0.01)
        again.stop()

    asyncio.run(scene())
