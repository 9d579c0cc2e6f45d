"""A process that computes beside the weaver, one thing at a time: functions with their arguments in, answers out.

Whoever started it can end it in the middle of something. It ends with the weaver.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar, cast

from weft.errors import WeftError

T = TypeVar("T")


class BesideError(WeftError):
    """The process gave no answer."""

    code = "beside.silent"
    domain = "internal"


class SideProcess:
    """The line to such a process."""

    def __init__(self) -> None:
        spawned = multiprocessing.get_context("spawn")
        self._line, other = spawned.Pipe()
        self._process = spawned.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    async def ask(self, seconds: float, work: Callable[..., T], *given: object) -> T:
        """What a function answers, if it does in so many seconds; after an error, end the process."""
        try:
            asked = asyncio.to_thread(self._ask, work, given)
            return cast(T, await asyncio.wait_for(asked, seconds))
        except TimeoutError as error:
            raise BesideError(f"There was no answer in {seconds:g} s.") from error

    def end(self) -> None:
        """End it at once; who waits for an answer gets an error."""
        self._process.kill()

    def _ask(self, work: Callable[..., Any], given: tuple[object, ...]) -> Any:
        try:
            self._line.send((work, given))
            answer = self._line.recv()
        except (EOFError, OSError) as error:
            raise BesideError("The process that was asked has ended.") from error
        if isinstance(answer, WeftError):
            raise answer
        return answer


def _serve(line: Connection) -> None:
    while True:
        try:
            work, given = line.recv()
        except EOFError:  # the weaver has ended
            return
        try:
            answer = work(*given)
        except WeftError as error:
            answer = error
        line.send(answer)
