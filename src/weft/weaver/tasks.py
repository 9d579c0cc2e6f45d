"""Tasks: work that needs data, asked of the weaver and done by a worker.

A request puts a task in the queue and waits; a worker takes it at its next sync and answers. Tasks live
in memory: when the weaver dies, so does the request that waited.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from weft.errors import WeftError


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


@dataclass
class Task:
    """One piece of work and the answer that its asker waits for."""

    id: int
    kind: str
    arguments: dict[str, Any]
    worker: str | None
    answer: asyncio.Future[Any]
    taken_by: str | None = field(default=None)


class Tasks:
    """The queue of work for workers."""

    def __init__(self) -> None:
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

    async def wait(self, task: Task, *, timeout: float) -> Any:
        """The worker's answer; raises what the worker raised."""
        try:
            return await asyncio.wait_for(task.answer, timeout)
        except TimeoutError as error:
            raise NoWorkerError(task.kind) from error
        finally:
            self._tasks.pop(task.id, None)

    def take(self, worker: str, connected: Collection[str]) -> list[dict[str, Any]]:
        """What this worker should do now; a task is handed out once, or again if its taker was lost."""
        taken = [task for task in self._tasks.values() if self._is_for(task, worker, connected)]
        for task in taken:
            task.taken_by = worker
        return [{"id": task.id, "kind": task.kind, "arguments": task.arguments} for task in taken]

    def waiting_for(self, worker: str, connected: Collection[str]) -> bool:
        """Whether there is something for this worker to take."""
        return any(self._is_for(task, worker, connected) for task in self._tasks.values())

    @staticmethod
    def _is_for(task: Task, worker: str, connected: Collection[str]) -> bool:
        if task.worker not in (None, worker):
            return False
        return task.taken_by is None or task.taken_by not in connected

    def answer(self, number: int, *, result: Any = None, error: dict[str, Any] | None) -> None:
        """Hand a worker's answer to whoever waits for it."""
        task = self._tasks.get(number)
        if task is None or task.answer.done():
            return
        if error is None:
            task.answer.set_result(result)
        else:
            task.answer.set_exception(WeftError.from_dict(error))
