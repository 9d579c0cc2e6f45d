"""What a rollback would do, planned from what a weaver has recorded."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.unit.weaver.chain import cut, make_weaver, tie
from weft.errors import WeftError
from weft.operations.operation import Operation
from weft.operations.step import Settle, Step
from weft.weaver.performing import Performer
from weft.weaver.weaver import Weaver


def settled(steps: tuple[Step, ...]) -> Settle:
    [found] = [step for step in steps if isinstance(step, Settle)]
    return found


def plan(weaver: Weaver, **request: Any) -> tuple[Step, ...]:
    return asyncio.run(weaver.operations.planner.plan("rollback", request)).steps


def guard(weaver: Weaver, *, to: int) -> tuple[Step, ...]:
    """What the rollback that the guard of rule `bad` asks for would do."""
    return plan(weaver, stream="orders", to=to, only_live=True, rules=["bad"])


def test_a_guard_rolls_back_a_rule_that_was_attached_right_after_a_rollback() -> None:
    weaver = make_weaver()
    for _ in range(5):
        tie(weaver, "orders")
    cut(weaver, "orders", keep=2)
    assert (
        tie(weaver, "orders", rule="bad") == 6
    )  # attached while knot 5 was the last, and rolled back
    kept = settled(guard(weaver, to=5)).cuts[0]
    assert (kept.stream, kept.keep) == ("orders", 2)
    assert kept.gone is not None and kept.gone.upto == 6


@pytest.mark.parametrize("ties", [0, 2])
def test_a_guard_rolls_back_nothing_that_is_gone_already(ties: int) -> None:
    weaver = make_weaver()
    for _ in range(5):
        tie(weaver, "orders")
    tie(weaver, "orders", rule="bad")
    cut(weaver, "orders", keep=2)
    for _ in range(ties):  # woven again since, without the rule
        tie(weaver, "orders")
    assert not [step for step in guard(weaver, to=5) if isinstance(step, Settle)]


def test_a_knot_does_not_come_back_without_the_knots_that_it_consumed() -> None:
    weaver = make_weaver()
    for number in range(1, 5):
        tie(weaver, "orders")
        tie(weaver, "clean", consumed={"orders": number})
    cut(weaver, "orders", keep=2)
    cut(weaver, "clean", keep=2)
    with pytest.raises(WeftError) as refused:
        plan(weaver, stream="clean", to=4)
    assert refused.value.code == "rollback.input-gone"
    assert refused.value.ids == {"stream": "clean", "knot": 4, "input": "orders", "consumed": 4}
    assert settled(plan(weaver, stream="orders", to=4)).cuts[0].keep == 4


def test_a_knot_comes_back_when_what_it_consumed_is_there() -> None:
    weaver = make_weaver()
    for number in range(1, 5):
        tie(weaver, "orders")
        tie(weaver, "clean", consumed={"orders": number})
    cut(weaver, "clean", keep=2)
    [kept] = settled(plan(weaver, stream="clean", to=4)).cuts
    assert kept.keep == 4 and kept.revive


def test_a_knot_does_not_come_back_after_its_pipeline_was_made_again() -> None:
    weaver = make_weaver()
    for number in range(1, 5):
        tie(weaver, "orders")
        tie(weaver, "clean", consumed={"orders": number})
    project = weaver.catalog.project()
    request = {"project": project.hash, "pipelines": ["clean"]}
    planned = asyncio.run(weaver.operations.planner.plan("recompute", request))
    again = Operation("recompute-1", "recompute", request, ("clean",), planned.steps, asked="")
    asyncio.run(Performer(weaver)(again, settled(planned.steps)))
    assert tie(weaver, "clean", consumed={"orders": 4}) == 5
    writes, _ = weaver.catalog.deploy(project)  # deployed again, it is still so
    weaver.store.apply(writes)
    with pytest.raises(WeftError) as refused:
        plan(weaver, stream="clean", to=4)
    assert refused.value.code == "rollback.made-anew"
    assert refused.value.ids == {"stream": "clean", "knot": 4}
    assert settled(plan(weaver, stream="clean", to=0)).cuts[0].keep == 0
