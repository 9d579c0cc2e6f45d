"""The runner of operations: whatever a step or the store does, an operation ends, or says why it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from weft import canonical
from weft.clock import SystemClock
from weft.errors import WeftError
from weft.operations import run as running
from weft.operations.cut import Cut
from weft.operations.operation import Operation, OperationStatus
from weft.operations.run import Done, OperationBusyError, OperationTakenError, Runner
from weft.operations.step import (
    CatchUp,
    CutTables,
    JoinLive,
    LetGo,
    Plan,
    Settle,
    Step,
    Stop,
    Unfill,
)
from weft.streams.table import TableConflictError
from weft.weaver.book import PARTITION, StoredBook
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import Records, _checksum
from weft.weaver.store.store import StoreFullError, Write, key

CUT = Cut("p", "s", ("s",), 1, 3, 1, 0, 0, 1)
ROLLBACK: tuple[Step, ...] = (Stop(("p",)), CutTables(CUT), Settle((CUT,), "s", 1), LetGo(("p",)))
FILL: tuple[Step, ...] = (CatchUp("r", "s", "side"), JoinLive("r", "s", "side"), LetGo(("p",)))


def operation(steps: Sequence[Step] = ROLLBACK, name: str = "rollback-1") -> Operation:
    return Operation(name, "rollback", {}, ("p",), tuple(steps), asked="2026-01-01T00:00:00Z")


class World:
    """A runner over a store in memory, and steps that do as they are told."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.book = StoredBook(Records(self.store), lambda _: None)
        self.runner = Runner(self.book, self.perform, SystemClock())
        self.done: list[Step] = []
        self.failing: Callable[[Step], Awaitable[Any] | None] = lambda _: None

    async def perform(self, _: Operation, step: Step) -> Done:
        waiting = self.failing(step)
        if waiting is not None:
            await waiting
        self.done.append(step)
        return Done()

    async def finish(self, name: str = "rollback-1") -> Operation:
        return await self.runner.finished(name, timeout=5)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FIRST_RETRY_S", 0.001)


def play(scene: Callable[[World], Awaitable[None]]) -> None:
    asyncio.run(scene(World()))


def test_a_step_that_fails_in_a_way_nobody_thought_of_fails_its_operation_with_the_reason() -> None:
    async def scene(world: World) -> None:
        def fail(step: Step) -> None:
            if isinstance(step, CutTables):
                raise OSError("the disk is gone")

        world.failing = fail
        await world.runner.begin(operation())
        failed = await world.finish()
        assert failed.status is OperationStatus.FAILED and failed.error is not None
        assert "the disk is gone" in failed.error["message"]
        world.failing = lambda _: None
        await world.runner.retry("rollback-1")
        assert (await world.finish()).status is OperationStatus.DONE
        assert world.book.hold("p") is None

    play(scene)


def test_a_table_that_an_earlier_try_still_writes_to_is_cut_again() -> None:
    async def scene(world: World) -> None:
        told = [TableConflictError("another writer was faster").to_dict()] * 4

        def conflict(step: Step) -> None:
            if isinstance(step, CutTables) and told:
                raise WeftError.from_dict(told.pop())  # as a worker answers

        world.failing = conflict
        await world.runner.begin(operation())
        assert (await world.finish()).status is OperationStatus.DONE

    play(scene)


def test_a_store_that_is_full_is_written_to_again_and_no_step_is_done_twice() -> None:
    async def scene(world: World) -> None:
        apply, refused = world.store.apply, iter([True, True, False] * 9)

        def sometimes(*given: Any, **said: Any) -> None:
            if next(refused, False):
                raise StoreFullError("no room")
            apply(*given, **said)

        await world.book.open(operation())
        world.store.apply = sometimes  # type: ignore[method-assign]
        await world.runner.resume()
        assert (await world.finish()).status is OperationStatus.DONE
        assert world.done == list(ROLLBACK)

    play(scene)


def test_an_abort_while_tables_are_being_cut_finishes_the_cut() -> None:
    async def scene(world: World) -> None:
        begun = asyncio.Event()

        def cutting(step: Step) -> Awaitable[Any] | None:
            if isinstance(step, CutTables) and not begun.is_set():
                begun.set()
                return asyncio.Event().wait()  # half of it is done, and then nothing more
            return None

        world.failing = cutting
        await world.runner.begin(operation())
        await begun.wait()
        await world.runner.abort("rollback-1")
        ended = await world.finish()
        assert (ended.status, ended.finishes) == (OperationStatus.DONE, True)
        assert world.done == list(ROLLBACK)

    play(scene)


def test_an_abort_before_anything_was_changed_changes_nothing() -> None:
    async def scene(world: World) -> None:
        world.failing = lambda step: asyncio.Event().wait() if isinstance(step, Stop) else None
        await world.runner.begin(operation())
        await world.runner.abort("rollback-1")
        ended = await world.finish()
        assert ended.status is OperationStatus.ABORTED
        assert world.done == [LetGo(("p",))]
        with pytest.raises(WeftError, match="cannot be aborted"):
            await world.runner.abort("rollback-1")

    play(scene)


@pytest.mark.parametrize("other", ["abort", "retry"])
def test_an_abort_and_another_request_at_the_same_moment_are_one_abort(other: str) -> None:
    async def scene(world: World) -> None:
        world.failing = lambda step: asyncio.Event().wait() if isinstance(step, Stop) else None
        await world.runner.begin(operation())
        await asyncio.sleep(0)  # its first step is under way
        requests = (world.runner.abort("rollback-1"), getattr(world.runner, other)("rollback-1"))
        await asyncio.gather(*requests, return_exceptions=True)
        ended = await world.finish()
        assert ended.status is OperationStatus.ABORTED
        assert world.done == [LetGo(("p",))]
        assert world.book.hold("p") is None

    play(scene)


def test_an_operation_that_gives_itself_up_says_why_at_its_end() -> None:
    async def scene(world: World) -> None:
        def fail(step: Step) -> None:
            if isinstance(step, Plan):
                raise WeftError(
                    "there is nothing to do", code="rollback.nothing", domain="conflict"
                )

        world.failing = fail
        await world.runner.begin(operation((Stop(("p",)), Plan(), LetGo(("p",)))))
        ended = await world.finish()
        assert ended.status is OperationStatus.ABORTED
        assert ended.reason is not None and ended.reason["code"] == "rollback.nothing"

    play(scene)


def test_a_fill_that_is_given_up_is_taken_out_also_when_its_abort_fails_first() -> None:
    async def scene(world: World) -> None:
        refuses = [WeftError("cannot be joined", domain="user"), WeftError("no", domain="user")]

        def fail(step: Step) -> None:
            if isinstance(step, JoinLive | Unfill) and refuses:
                raise refuses.pop(0)

        world.failing = fail
        await world.runner.begin(operation(FILL))
        failed = await world.finish()
        assert (failed.status, failed.given_up) == (OperationStatus.FAILED, True)
        await world.runner.retry("rollback-1")
        ended = await world.finish()
        assert ended.status is OperationStatus.ABORTED
        assert world.done == [FILL[0], Unfill("r", "side"), LetGo(("p",))]

    play(scene)


def test_an_operation_of_an_older_version_is_gone_on_with_and_ended() -> None:
    async def scene(world: World) -> None:
        await world.book.open(operation())
        name = key(PARTITION, "operation", "rollback-1")
        stored = world.store.get(name)
        assert stored is not None
        form = canonical.decode(stored[8:])
        del form["given_up"], form["finishes"], form["attempts"]
        body = canonical.encode(form)
        world.store.apply([Write(name, _checksum(name, body) + body)])
        await world.runner.resume()
        assert (await world.finish()).status is OperationStatus.DONE

    play(scene)


def test_of_two_who_write_an_operation_down_the_second_is_told() -> None:
    async def scene(world: World) -> None:
        first = operation()
        await world.book.open(first)
        await world.book.keep(replace(first, done=1), before=first)
        with pytest.raises(OperationTakenError):
            await world.book.keep(replace(first, done=2), before=first)
        with pytest.raises(OperationBusyError):
            await world.book.open(operation(name="rollback-2"))
        await world.book.end(
            replace(first, done=1, status=OperationStatus.DONE), before=replace(first, done=1)
        )
        world.book.grip(first, "stopped")  # somebody who slept through its end takes nothing back
        assert world.book.hold("p") is None

    play(scene)
