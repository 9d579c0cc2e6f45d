"""Operations as the weaver offers them: asked for, looked at, retried, aborted; and what they mean for pipelines."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from weft.clock import iso
from weft.errors import WeftError
from weft.operations.operation import Grip, Hold, Kind, Operation, OperationStatus
from weft.operations.run import OperationBusyError, Runner
from weft.operations.step import Step
from weft.weaver.book import StoredBook
from weft.weaver.performing import Performer
from weft.weaver.planning import Planner, PlanStaleError

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

PATIENCE_S = 55.0
"""So long a request waits for its operation; then it is told how far that is."""
FRESH_PLANS = 3
"""How often an operation is planned anew when the project changes under it."""


class Operations:
    """The operations of a weaver."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._book = StoredBook(weaver.records, self._told)
        self.planner = Planner(weaver)
        self.runner = Runner(self._book, Performer(weaver), weaver.clock)

    async def plan(self, kind: Kind, request: Mapping[str, Any]) -> tuple[Step, ...]:
        """What an operation would do now; refused if one that is under way is in its way."""
        planned = await self.planner.plan(kind, request)
        for name in planned.pipelines:
            if (hold := self.hold(name)) is not None:
                raise OperationBusyError(name, hold.operation)
        return planned.steps

    async def run(
        self,
        kind: Kind,
        request: Mapping[str, Any],
        *,
        wait: float = PATIENCE_S,
        begun: Callable[[], None] = lambda: None,
        **about: Any,
    ) -> Operation:
        """Do an operation; returns at its end, or as it is when the time is up. Raises why it was given up.

        `begun` is called when it has what it needs, and before its first step.
        """
        for attempt in range(FRESH_PLANS):
            operation = await self.begin(kind, request, **about)
            begun()
            operation = await self.runner.finished(operation.id, timeout=wait)
            if operation.status is not OperationStatus.ABORTED or operation.reason is None:
                return operation
            reason = WeftError.from_dict(operation.reason)
            if reason.code != PlanStaleError.code or attempt == FRESH_PLANS - 1:
                raise reason
        raise AssertionError("unreachable")

    async def begin(
        self,
        kind: Kind,
        request: Mapping[str, Any],
        *,
        by: str | None = None,
        because: str | None = None,
        queue: bool = False,
    ) -> Operation:
        """Take what an operation needs and start on it without waiting for its end."""
        planned = await self.planner.plan(kind, request)
        operation = Operation(
            id=f"{kind}-{uuid.uuid4().hex[:8]}",
            kind=kind,
            request=request,
            pipelines=planned.pipelines,
            steps=planned.steps,
            asked=iso(self._weaver.clock.now()),
            by=by,
            because=because,
        )
        return await self.runner.begin(operation, queue=queue)

    async def abort(self, name: str) -> Operation:
        """Give an operation up; returns once that is done, or as it is when the time is up."""
        await self.runner.abort(name)
        return await self.runner.finished(name, timeout=PATIENCE_S)

    def hold(self, pipeline: str) -> Hold | None:
        """What holds a pipeline now."""
        return self._book.hold(pipeline)

    def patience(self, pipelines: Iterable[str]) -> dict[str, float]:
        """Of these pipelines those that an operation has stopped, with how long their batch in hand may go on."""
        holds = [self.hold(name) for name in pipelines]
        return {hold.pipeline: hold.patience_s for hold in holds if hold and hold.grip == "stopped"}

    def is_stopped(self, pipeline: str) -> bool:
        """Whether an operation wants nobody to run a pipeline."""
        hold = self.hold(pipeline)
        return hold is not None and hold.grip == "stopped"

    def grip(self, operation: Operation, grip: Grip) -> None:
        """Hold the pipelines of an operation tighter, or looser."""
        self._book.grip(operation, grip)

    def _told(self, operation: Operation) -> None:
        word = "started" if operation.status is OperationStatus.RUNNING else str(operation.status)
        self._weaver.events.record(
            f"{operation.kind}.{word}",
            operation=operation.id,
            because=operation.because,
            **{name: value for name, value in operation.request.items() if name in _TOLD},
        )
        self._weaver.changed()


_TOLD = ("stream", "to", "rule", "pipeline", "partitions")
