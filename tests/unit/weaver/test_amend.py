"""Rules that are changed while operations are under way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.unit.weaver.chain import make_weaver, pin, tie
from weft.errors import WeftError
from weft.operations.operation import Operation, OperationStatus
from weft.operations.run import OperationBusyError
from weft.operations.step import Stop
from weft.schema.schema import Schema
from weft.steps.compile import apply_schema
from weft.steps.step import steps_from
from weft.weaver import amend
from weft.weaver.amend import retire
from weft.weaver.attach import RuleRequest
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


@pytest.mark.parametrize("status", [OperationStatus.ABORTED, OperationStatus.RUNNING])
def test_a_rule_whose_rollback_is_not_done_is_said_not_to_be_in_force(
    monkeypatch: pytest.MonkeyPatch, status: OperationStatus
) -> None:
    weaver = make_weaver()
    tie(weaver, "orders")
    rule = Rule("late", "orders", steps=())

    async def checked(*_: Any) -> Rule:
        return rule

    async def rolled_back(*_: Any, **__: Any) -> Operation:
        return Operation("rollback-1", "rollback", {}, (), (), asked="", status=status)

    monkeypatch.setattr(amend, "checked_rule", checked)
    monkeypatch.setattr(weaver, "roll_back", rolled_back)
    with pytest.raises(WeftError) as refused:
        asyncio.run(amend.attach(weaver, RuleRequest("orders", steps=[], start=0)))
    assert refused.value.code == "rule.not-in-force"
    assert refused.value.ids == {"rule": "late", "operation": "rollback-1"}


def test_of_two_rules_at_once_the_second_is_checked_against_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first takes a column away while Spark looks at the second, which reads it."""
    weaver = make_weaver()
    adds = RuleRequest("clean", steps=[{"set": {"twice": "id * 2"}}], id="adds")
    takes = RuleRequest("clean", steps=[{"drop": ["twice"]}], id="takes")
    reads = RuleRequest("clean", steps=[{"set": {"more": "twice + 1"}}], id="reads")

    async def analyzed(kind: str, asked: dict[str, Any], **_: Any) -> dict[str, Any]:
        assert kind == "analyze"
        steps = steps_from(asked["rule"]["steps"])
        if asked["rule"]["id"] == "reads":
            await amend.attach(weaver, takes)
        return {"schema": apply_schema(steps, Schema.from_json(asked["schema"]), {}).to_json()}

    monkeypatch.setattr(weaver, "ask", analyzed)
    asyncio.run(amend.attach(weaver, adds))
    with pytest.raises(WeftError, match="twice"):
        asyncio.run(amend.attach(weaver, reads))
    assert [rule.id for rule in weaver.rules.all(active=True)] == ["adds", "takes"]
