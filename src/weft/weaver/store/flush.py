"""One flush of the store for all who wait: a thousand batches a second would else wait for a thousand flushes."""

from __future__ import annotations

import asyncio

from weft.weaver.store.store import Store


class Flush:
    """Makes what was written durable, for everyone who asks at about the same time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._next: asyncio.Task[None] | None = None

    async def wait(self) -> None:
        """Return when everything that was written until now is durable."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_task(self._flush())
        await asyncio.shield(self._next)

    async def _flush(self) -> None:
        await asyncio.sleep(0)  # requests that are about to run share this one
        self._next = None  # later ones need the next
        if self._store.takes_long:
            await asyncio.to_thread(self._store.flush)
        else:
            self._store.flush()
