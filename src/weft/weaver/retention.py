"""Old rows go by themselves, and small files are put together: every so often each stream is looked at.

Started and stopped with the weaver. Each stream is an operation of its own, only where something is to go; one that is
held, or needs a worker that is not there, has its turn the next time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from weft.errors import WeftError
from weft.logs import get_logger
from weft.operations.operation import Operation
from weft.operations.step import Expire, Forget
from weft.weaver.compacting import is_due, plan_compaction
from weft.weaver.expiring import history_of
from weft.weaver.trimming import plan_trim

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

log = get_logger(__name__)

EVERY_S = 300.0
PARTS = 50
"""So little of what is kept is let go of by itself: whoever opens a table reads each commit that did so."""
BECAUSE = "the project says how much is kept"
TOGETHER = "many knots have files of their own"


class Retention:
    """What keeps the streams of a weaver within what the project says."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._task: asyncio.Task[None] | None = None

    def resume(self) -> None:
        """Begin to look at the streams every so often."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """Leave the rest to the next weaver."""
        if self._task is not None:
            self._task.cancel()

    def limited(self) -> list[str]:
        """The streams that do not keep everything."""
        names = self._streams()
        return [name for name in names if history_of(self._weaver, name).is_limited]

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            await self.look()

    async def look(self) -> None:
        """Look at every stream once: let go of what is too much, then put together what is left."""
        for stream in self.limited():
            try:
                if await self._is_worth_it(stream):
                    await self.trim(stream, because=BECAUSE)
            except WeftError as error:
                log.info("the rows of %s are looked at again later: %s", stream, error.message)
        for stream in self._streams():
            try:
                if is_due(self._weaver, stream):
                    await self.compact(stream, because=TOGETHER)
            except WeftError as error:
                log.info("the files of %s are looked at again later: %s", stream, error.message)

    def _streams(self) -> list[str]:
        catalog = self._weaver.catalog
        if catalog.find_project() is None:
            return []
        return [one.name for one in catalog.streams() if not one.dropped]

    async def _is_worth_it(self, stream: str) -> bool:
        """Whether what goes is at least a small part of what is kept."""
        steps = await plan_trim(self._weaver, {"stream": stream})
        last = self._weaver.knots.head(self._weaver.catalog.stream(stream).origin).last
        floor = self._weaver.knots.floor(stream)
        begins = floor.number if floor is not None else 1
        return any(
            (isinstance(one, Expire) and (one.upto - one.after) * PARTS >= last - one.after)
            or (isinstance(one, Forget) and (one.first - begins) * PARTS >= last - begins)
            for one in steps
        )

    async def trim(
        self, stream: str, *, by: str | None = None, because: str | None = None
    ) -> Operation | None:
        """Let go of what a stream need not keep; None where there is nothing."""
        request = {"stream": stream}
        if not await plan_trim(self._weaver, request):
            return None
        return await self._weaver.operations.run("expire", request, by=by, because=because)

    async def compact(
        self, stream: str, *, by: str | None = None, because: str | None = None
    ) -> Operation | None:
        """Put the files of a stream's old knots together; None where there are no old ones."""
        request = {"stream": stream}
        if not plan_compaction(self._weaver, request):
            return None
        return await self._weaver.operations.run("compact", request, by=by, because=because)
