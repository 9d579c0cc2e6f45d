"""Tasks: work that needs data, asked of the weaver and done by a worker.

A request puts a task in the queue and waits; a worker takes it at its next sync and answers. Tasks live
in memory: when the weaver dies, so does the request that waited.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.errors import WeftError

LOOK_S = 0.1
TAKEN_WITHIN_S = 5.0
"""So long a request waits for a worker while none is there."""
CALL_OFF_S = 30.0
"""For so long a worker may take to end a task that was called off."""


class NoWorkerError(WeftError):
    """No worker is connected that could do the work."""

    code = "worker.none"
    domain = "external"
    retryable = True

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"This needs a worker ({kind}), and none answered in time.",
            hint="Start one with `weft worker`, or look at `weft worker list`.",
        )


@dataclass(frozen=True)
class TaskOrder:
    """A task as a worker gets it."""

    id: int
    kind: str
    arguments: Mapping[str, Any]


@dataclass
class Task:
    """One piece of work and the answer that its asker waits for."""

    id: int
    kind: str
    arguments: dict[str, Any]
    worker: str | None
    answer: asyncio.Future[Any]
    taken_by: str | None = field(default=None)
    is_called_off: bool = field(default=False)


class Tasks:
    """The queue of work for workers."""

    def __init__(self, connected: Callable[[], Collection[str]]) -> None:
        self._connected = connected
        self._numbers = itertools.count(1)
        self._tasks: dict[int, Task] = {}

    def submit(self, kind: str, arguments: dict[str, Any], *, worker: str | None = None) -> Task:
        """Queue work, for one worker or for whichever comes first."""
        task = Task(
            id=next(self._numbers),
            kind=kind,
            arguments=arguments,
            worker=worker,
            answer=asyncio.get_running_loop().create_future(),
        )
        self._tasks[task.id] = task
        return task

    async def wait(self, task: Task, *, timeout: float, taken_within: float | None = None) -> Any:
        """The worker's answer; raises what the worker raised.

        With `taken_within` nobody waits longer than that while there is no worker at all.
        """
        try:
            if not await self._is_answered(task, timeout, taken_within):
                task.is_called_off = True
                raise NoWorkerError(task.kind)
            return task.answer.result()
        except asyncio.CancelledError:
            task.is_called_off = True
            if task.taken_by in self._connected():
                await asyncio.wait([task.answer], timeout=CALL_OFF_S)
            raise
        finally:
            self._tasks.pop(task.id, None)

    async def _is_answered(self, task: Task, timeout: float, alone: float | None) -> bool:
        now = asyncio.get_running_loop().time
        deadline = now() + timeout
        company = now()
        while not task.answer.done() and now() < deadline:
            await asyncio.wait([task.answer], timeout=min(LOOK_S, deadline - now()))
            there = self._connected() if task.worker is None else self._is_there(task.worker)
            company = now() if there else company
            if alone is not None and now() - company > alone:
                break
        return task.answer.done()

    def _is_there(self, worker: str) -> bool:
        return worker in self._connected()

    def take(self, worker: str) -> list[TaskOrder]:
        """What this worker should do now; a task is handed out once, or again if its taker was lost."""
        taken = [task for task in self._tasks.values() if self._is_for(task, worker)]
        for task in taken:
            task.taken_by = worker
        return [TaskOrder(task.id, task.kind, task.arguments) for task in taken]

    def called_off(self, worker: str) -> list[int]:
        """The tasks that this worker should give up."""
        return [
            task.id
            for task in self._tasks.values()
            if task.is_called_off and task.taken_by == worker
        ]

    def waiting_for(self, worker: str) -> bool:
        """Whether there is something for this worker to take, or to give up."""
        return bool(self.called_off(worker)) or any(
            self._is_for(task, worker) for task in self._tasks.values()
        )

    def _is_for(self, task: Task, worker: str) -> bool:
        if task.is_called_off or task.worker not in (None, worker):
            return False
        return task.taken_by is None or task.taken_by not in self._connected()

    def answer(self, number: int, *, result: Any = None, error: Mapping[str, Any] | None) -> None:
        """Hand a worker's answer to whoever waits for it."""
        task = self._tasks.get(number)
        if task is None or task.answer.done():
            return
        if error is None:
            task.answer.set_result(result)
        else:
            task.answer.set_exception(WeftError.from_dict(error))
