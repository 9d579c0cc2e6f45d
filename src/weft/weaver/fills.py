"""Rules from a past knot into a new stream: recorded rows first, then live ones, joined at one exact knot."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from weft.clock import iso
from weft.logs import get_logger
from weft.weaver.attach import schema_now
from weft.weaver.catalog import Stream
from weft.weaver.store.records import put
from weft.weaving.rule import Rule

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

log = get_logger(__name__)

NOT_YET = 2**62
"""The knot from which a rule is in force while its stream is still being filled."""
CLOSE = 3
"""So few knots behind, the stream is joined to the live flow."""


class Fills:
    """The streams that are being filled."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._gates: dict[str, asyncio.Event] = {}
        self._running: dict[str, asyncio.Task[Rule]] = {}

    async def run(self, rule: Rule, after: int) -> Rule:
        """Attach a rule whose output holds the rows after a past knot too; returns when it has joined."""
        pending = self._weaver.rules.attach(replace(rule, since=NOT_YET, filled_after=after))
        self._weaver.declare_side(pending)
        return await asyncio.shield(self._start(pending))

    def resume(self) -> None:
        """Go on with what was under way when the weaver died."""
        for rule in self._weaver.rules.all(active=True):
            if rule.since == NOT_YET and rule.id not in self._running:
                self._start(rule)

    async def passage(self, pipeline: str) -> None:
        """Wait while a stream of this pipeline is being joined; pins pass here."""
        gate = self._gates.get(pipeline)
        if gate is not None:
            await gate.wait()

    def _start(self, rule: Rule) -> asyncio.Task[Rule]:
        task = asyncio.get_running_loop().create_task(self._fill(rule))
        self._running[rule.id] = task
        task.add_done_callback(lambda _: self._running.pop(rule.id, None))
        return task

    async def _fill(self, rule: Rule) -> Rule:
        weaver = self._weaver
        stream = weaver.catalog.stream(rule.stream)
        done = rule.filled_after or 0
        try:
            while (head := weaver.knots.head(stream.origin).number or 0) - done > CLOSE:
                await self._weave(rule, done, head)
                done = head
            gate = self._gates[stream.pipeline] = asyncio.Event()
            try:
                await self._between_batches(stream)
                head = weaver.knots.head(stream.origin).number or 0
                await self._weave(rule, done, head)
                return self._join(rule, stream)
            finally:
                del self._gates[stream.pipeline]
                gate.set()
        except BaseException:
            if not asyncio.current_task().cancelling():  # type: ignore[union-attr]
                weaver.rules.retire(rule.id, because="its stream could not be filled")
            raise

    async def _between_batches(self, stream: Stream) -> None:
        """Wait until the batch in hand, if there is one, has tied its knot."""
        while True:
            head = self._weaver.knots.head(stream.origin)
            knot = self._weaver.knots.find(stream.origin, head.last)
            if knot is None or not knot.is_open:
                return
            if self._weaver.leases.holder(stream.pipeline) is None:
                return
            await asyncio.sleep(0.005)

    async def _weave(self, rule: Rule, after: int, upto: int) -> None:
        weaver = self._weaver
        filled = await weaver.ask(
            "fill",
            {
                "rule": rule.to_dict(),
                "schema": schema_now(weaver, rule.stream).to_json(),
                "key": weaver.key_of(rule.stream),
                "after": after,
                "upto": upto,
            },
            timeout=3600,
        )
        weaver.store.apply([write for fact in filled for write in self._noted(fact)])

    def _noted(self, fact: dict[str, Any]) -> list[Any]:
        columns = fact.pop("columns")
        stream = self._weaver.catalog.stream(fact["stream"])
        return [
            put("fill", fact["stream"], fact["knot"], record=fact),
            put("schema", fact["schema"], record=columns),
            put("stream", stream.name, record=asdict(replace(stream, schema=fact["schema"]))),
        ]

    def _join(self, rule: Rule, stream: Stream) -> Rule:
        last = self._weaver.knots.head(stream.origin).last
        entry = {
            "at": iso(self._weaver.clock.now()),
            "did": "joined the live flow",
            "knot": last + 1,
        }
        joined = replace(rule, since=last + 1, history=(*rule.history, entry))
        self._weaver.rules.replace(joined, "rule.joined", knot=last + 1)
        return joined
