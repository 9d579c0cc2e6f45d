"""Guards: rules that a knot shows to do harm are retired, and those that ask for it are rolled back, whatever happens.

That a rule's effects are to be undone is written down with its retirement, and crossed out once the rollback is over: a
weaver that dies in between finds it when it starts again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.lineage.knot import Knot
from weft.logs import get_logger
from weft.operations.operation import OperationStatus
from weft.weaver.planning import PlanStaleError
from weft.weaving.rule import Rule

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

log = get_logger(__name__)

FIRST_RETRY_S = 0.5
LONGEST_RETRY_S = 30.0


class Guards:
    """What watches over the rules of a weaver."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._undoing: set[asyncio.Task[None]] = set()

    def check(self, knot: Knot) -> None:
        """Retire the rules whose guards this knot breaks; roll back, once, what those that ask for it have done."""
        if not knot.rules:
            return
        rules = self._weaver.rules
        found = self._weaver.watching.between(knot.stream, knot.number, knot.number)
        anomalies = sum(not one.accepted for one in found)
        broken = [
            rules.retire(rule.id, because=reason, to_undo=rule.on_breach == "rollback")
            for rule, reason in rules.guarded(knot, anomalies=anomalies)
        ]
        self._undo([rule for rule in broken if rule.to_undo], knot.stream)

    def resume(self) -> None:
        """Look again at what a weaver that stopped may not have seen to."""
        weaver = self._weaver
        owed: dict[str, list[Rule]] = {}
        for rule in weaver.rules.all():
            if rule.to_undo:
                owed.setdefault(weaver.catalog.stream(rule.stream).origin, []).append(rule)
        for stream, rules in owed.items():
            self._undo(rules, stream)
        for stream in {stream.origin for stream in weaver.catalog.streams()}:
            if (newest := weaver.knots.newest(stream)) is not None:
                self.check(newest)

    def stop(self) -> None:
        """Leave the rest to the next weaver."""
        for task in self._undoing:
            task.cancel()

    def _undo(self, rules: list[Rule], stream: str) -> None:
        if rules:
            task = asyncio.get_running_loop().create_task(self._begin(rules, stream))
            self._undoing.add(task)
            task.add_done_callback(self._undoing.discard)

    async def _begin(self, rules: list[Rule], stream: str) -> None:
        """Have the rollback done, however often that must be tried, unless a person gives it up."""
        request = {
            "stream": stream,
            "to": min(rule.since for rule in rules) - 1,
            "only_live": True,
            "rules": [rule.id for rule in rules],
        }
        because = "; ".join(rule.retired_because or rule.id for rule in rules)
        wait = FIRST_RETRY_S
        while True:
            try:
                if not await self._is_under_way(request):
                    await self._weaver.operations.run(
                        "rollback", request, because=because, queue=True, wait=math.inf
                    )
                break
            except WeftError as error:
                log.warning(
                    "What rule %s did cannot be rolled back: %s", rules[0].id, error.message
                )
                if not error.retryable and error.code != PlanStaleError.code:
                    facts = {"stream": stream, "reason": error.message}
                    self._weaver.events.record("rollback.refused", rule=rules[0].id, **facts)
                    break
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_RETRY_S)
        for rule in rules:
            now = self._weaver.rules.get(rule.id)
            self._weaver.rules.replace(replace(now, to_undo=False), "rule.undone")

    async def _is_under_way(self, request: Mapping[str, Any]) -> bool:
        """Whether the weaver before this one had begun with a rollback; returns once that is over or needs a person."""
        runner = self._weaver.operations.runner
        for operation in await runner.all():
            undoes = set(request["rules"]) <= set(operation.request.get("rules", ()))
            if undoes and not operation.is_over:
                ended = await runner.finished(operation.id, timeout=math.inf)
                return ended.reason is None or ended.status is OperationStatus.FAILED
        return False
