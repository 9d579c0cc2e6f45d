"""The runner: drives every operation from step to step, retries with back-off, goes on after a restart, and ends it.

It knows neither what steps do nor where operations are kept: `perform` does the one, a `Book` the other.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from weft.clock import Clock, iso
from weft.errors import WeftError
from weft.logs import get_logger
from weft.operations.operation import Operation, OperationStatus
from weft.operations.step import GIVE_UP, Step

log = get_logger(__name__)

FIRST_RETRY_S = 0.25
LONGEST_RETRY_S = 30.0
DEFECT_RETRIES = 2
"""How often a step that failed for no reason that is known to pass is tried again."""


class OperationMissingError(WeftError):
    """There is no such operation."""

    code = "operation.missing"
    domain = "missing"

    def __init__(self, name: str, *, kind: str = "operation") -> None:
        super().__init__(
            f"There is no {kind} '{name}'.", hint=f"See `weft {kind} list`.", operation=name
        )


class OperationBusyError(WeftError):
    """Another operation has a pipeline that this one needs."""

    code = "operation.busy"
    domain = "conflict"
    retryable = True

    def __init__(self, pipeline: str, holder: str) -> None:
        super().__init__(
            f"Pipeline '{pipeline}' is held by {holder}.",
            hint=f"Wait until that is finished; `weft operation show {holder}` says how far it is.",
            pipeline=pipeline,
            operation=holder,
        )


class OperationTakenError(WeftError):
    """Somebody else has written an operation down since it was read."""

    code = "operation.taken"
    domain = "conflict"
    retryable = True

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Operation '{name}' has gone on meanwhile.",
            hint=f"See how far it is with `weft operation show {name}`, and ask again.",
            operation=name,
        )


class OperationStateError(WeftError):
    """An operation is not in a state in which this can be done to it."""

    code = "operation.state"
    domain = "conflict"


@dataclass(frozen=True)
class Done:
    """What came of a step: the steps that follow it, where it decides on them, and what it has to tell."""

    steps: tuple[Step, ...] | None = None
    result: Mapping[str, Any] = field(default_factory=dict)


Writing = Callable[..., Awaitable[None]]
Perform = Callable[[Operation, Step], Awaitable[Done]]


class Book(Protocol):
    """Where operations and holds are written down. Each call is one atomic write within one partition."""

    async def open(self, operation: Operation, *, before: Operation | None = None) -> None:
        """Write an operation down and take its pipelines; raises OperationBusyError and writes nothing if one is held.

        `before` is the operation while it waited, if it did.
        """
        ...

    async def wait(self, operation: Operation) -> None:
        """Write an operation down that waits for its pipelines."""
        ...

    async def keep(self, operation: Operation, *, before: Operation) -> None:
        """Write down how far an operation is; raises OperationTakenError if somebody else did since `before`."""
        ...

    async def end(self, operation: Operation, *, before: Operation) -> None:
        """Write down the end of an operation and let go of what it holds."""
        ...

    async def find(self, name: str) -> Operation | None:
        """An operation by its id."""
        ...

    async def all(self) -> list[Operation]:
        """All operations, oldest first."""
        ...


class Runner:
    """The operations that are under way."""

    def __init__(self, book: Book, perform: Perform, clock: Clock) -> None:
        self._book = book
        self._perform = perform
        self._clock = clock
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._news = asyncio.Event()

    async def begin(self, operation: Operation, *, queue: bool = False) -> Operation:
        """Take the pipelines of an operation and start on its steps; refused, or queued, while one is held."""
        try:
            await self._book.open(operation)
        except OperationBusyError:
            if not queue:
                raise
            operation = replace(operation, status=OperationStatus.WAITING)
            await self._book.wait(operation)
            return operation
        self._drive(operation)
        return operation

    async def resume(self) -> None:
        """Go on with everything that is not over; called when the weaver starts."""
        for operation in await self._book.all():
            if operation.status in (OperationStatus.RUNNING, OperationStatus.ABORTING):
                log.info("%s goes on", operation.id)
                self._drive(operation)
        await self._start_waiting()

    async def finished(self, name: str, *, timeout: float) -> Operation:
        """An operation once it is over or needs a person, or as it is when the time is up."""
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            news = self._news
            operation = await self.get(name)
            left = deadline - asyncio.get_running_loop().time()
            if operation.is_over or operation.status is OperationStatus.FAILED or left <= 0:
                return operation
            try:
                await asyncio.wait_for(news.wait(), left)
            except TimeoutError:
                continue

    async def get(self, name: str) -> Operation:
        """An operation by its id."""
        operation = await self._book.find(name)
        if operation is None:
            raise OperationMissingError(name)
        return operation

    async def all(self) -> list[Operation]:
        """All operations, oldest first."""
        return await self._book.all()

    async def retry(self, name: str) -> Operation:
        """Try the step that failed again."""
        async with self._turn(name):
            operation = await self.get(name)
            if operation.status in (OperationStatus.RUNNING, OperationStatus.ABORTING):
                await self._leave(name)  # it waits for its next try, which is now
                operation = await self.get(name)  # a step may have ended meanwhile
                if operation.is_over:
                    return operation
            elif operation.status is not OperationStatus.FAILED:
                raise _not_now(operation, "retried")
            again = operation.retried()
            await self._book.keep(again, before=operation)
            self._drive(again)
            return again

    async def abort(self, name: str) -> Operation:
        """Give an operation up: what it made ready is undone, or what it began is finished."""
        async with self._turn(name):
            operation = await self.get(name)
            if operation.is_over or operation.given_up:
                raise _not_now(operation, "aborted")
            await self._leave(name)
            operation = await self.get(name)  # a step may have ended meanwhile
            if operation.is_over or operation.given_up:
                return operation
            if operation.status is OperationStatus.WAITING:
                given_up = replace(
                    operation, status=OperationStatus.ABORTED, finished=iso(self._clock.now())
                )
                await self._book.end(given_up, before=operation)
                self._tell()
                return given_up
            aborting = operation.aborting()
            await self._book.keep(aborting, before=operation)
            self._drive(aborting)
            return aborting

    def nudge(self) -> None:
        """Something has changed for the better, such as a worker that came: tries need not wait any longer."""
        self._tell()

    def stop(self) -> None:
        """Leave everything as it is; it goes on with the next weaver."""
        for task in self._driving.values():
            task.cancel()

    def _drive(self, operation: Operation) -> None:
        task = asyncio.get_running_loop().create_task(self._run(operation))
        self._driving[operation.id] = task
        task.add_done_callback(lambda _: self._driving.pop(operation.id, None))

    def _turn(self, name: str) -> asyncio.Lock:
        """Whoever leaves an operation to go on with it otherwise does so alone: it is driven once at a time."""
        return self._turns.setdefault(name, asyncio.Lock())

    async def _leave(self, name: str) -> None:
        """Stop driving an operation, at whichever step it is."""
        task = self._driving.get(name)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _run(self, operation: Operation) -> None:
        try:
            while (step := operation.step) is not None:
                try:
                    done = await self._perform(operation, step)
                except Exception as failure:  # noqa: BLE001 — whatever a step raises, its operation says so
                    error = failure if isinstance(failure, WeftError) else _defect(step, failure)
                    operation = await self._note_failure(operation, step, error)
                    if operation.status is OperationStatus.FAILED:
                        return
                    continue
                after = operation.advanced(steps=done.steps, result=done.result)
                await self._write(self._book.keep, after, operation)
                operation = after
                self._tell()
            ended = operation.ended(iso(self._clock.now()))
            await self._write(self._book.end, ended, operation)
            self._turns.pop(operation.id, None)
        except OperationTakenError:
            log.warning("%s is in other hands, and left to them", operation.id)
            return
        finally:
            self._tell()
        await self._start_waiting()

    async def _write(self, write: Writing, after: Operation, before: Operation) -> None:
        """Write down how far an operation is, as often as it takes: what was done stays done meanwhile."""
        for attempt in itertools.count():
            try:
                await write(after, before=before)
                return
            except OperationTakenError:
                raise
            except (WeftError, OSError) as error:
                log.warning("%s cannot be written down: %s", after.id, error)
                await self._pause(_wait(attempt))

    async def _note_failure(self, operation: Operation, step: Step, error: WeftError) -> Operation:
        passes = error.retryable or (
            operation.attempts < DEFECT_RETRIES and error.domain == "internal"
        )
        failed = operation.failed(error, for_good=not passes)
        if not passes and isinstance(step, GIVE_UP) and operation.status is OperationStatus.RUNNING:
            log.info("%s is given up: %s", operation.id, error.message)
            given_up = replace(failed, status=OperationStatus.RUNNING).aborting(reason=error)
            await self._write(self._book.keep, given_up, operation)
            self._tell()
            return given_up
        await self._write(self._book.keep, failed, operation)
        self._tell()
        if passes:
            wait = _wait(operation.attempts)
            log.warning("%s: %s Trying again in %.1f s.", operation.id, error.message, wait)
            await self._pause(wait)
        else:
            log.warning("%s has failed: %s", operation.id, error.message)
        return failed

    async def _pause(self, seconds: float) -> None:
        """Wait, but not longer than until something changes."""
        await asyncio.sleep(min(seconds, FIRST_RETRY_S))
        try:
            await asyncio.wait_for(self._news.wait(), max(0.0, seconds - FIRST_RETRY_S))
        except TimeoutError:
            return

    async def _start_waiting(self) -> None:
        """Start what waited, in the order in which it was asked for, as far as its pipelines are free."""
        for operation in await self._book.all():
            if operation.status is not OperationStatus.WAITING:
                continue
            ready = replace(operation, status=OperationStatus.RUNNING)
            try:
                await self._book.open(ready, before=operation)
            except OperationBusyError:
                continue
            self._drive(ready)

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


def _wait(attempt: int) -> float:
    return min(FIRST_RETRY_S * 2.0 ** min(attempt, 10), LONGEST_RETRY_S)


def _defect(step: Step, failure: Exception) -> WeftError:
    """What is told of a step that failed in a way nobody thought of."""
    log.exception("a step failed", exc_info=failure)
    return WeftError(
        f"The step '{step.kind}' failed: {type(failure).__name__}: {failure}",
        code="operation.step-failed",
        hint="See the weaver's log. When the cause is gone, retry the operation, or abort it.",
    )


def _not_now(operation: Operation, done: str) -> OperationStateError:
    return OperationStateError(
        f"{operation.id} cannot be {done}: it is {operation.status}.",
        hint=f"See `weft operation show {operation.id}`.",
        operation=operation.id,
    )
