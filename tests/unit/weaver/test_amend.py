"""Rules that are changed while operations are under way."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.weaver.chain import make_weaver, pin, tie
from weft.operations.operation import Operation
from weft.operations.run import OperationBusyError
from weft.operations.step import Stop
from weft.weaver.amend import retire
from weft.weaving.rule import Rule, RuleStatus


def test_a_rule_that_cannot_be_retired_at_once_is_not_retired_at_all() -> None:
    weaver = make_weaver()
    tie(weaver, "orders")
    weaver.rules.attach(Rule("slow", "orders", steps=()))
    pin(weaver, "orders", rule="slow")
    below = Operation(
        "rollback-1", "rollback", {}, ("clean",), (Stop(("clean",)),), asked="2026-01-01T00:00:00Z"
    )

    async def scene() -> None:
        await weaver.operations.runner._book.open(below)
        with pytest.raises(OperationBusyError) as refused:
            await retire(weaver, "slow", now=True)
        assert refused.value.ids == {"pipeline": "clean", "operation": "rollback-1"}

    asyncio.run(scene())
    assert weaver.rules.get("slow").status is RuleStatus.ACTIVE
