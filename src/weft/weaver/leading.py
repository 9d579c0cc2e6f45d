"""Leading: of the weavers that share a store one leads, and does everything; the others stand by and watch it.

In comes the address of a shared store, out comes a weaver for as long as this process leads. The one that leads shows
itself in the store's write log; when it was silent for longer than its term lasts, or has resigned, one of the others
takes the next term. An earlier leader that wakes up finds its writes refused, and stands by.
"""

from __future__ import annotations

import asyncio
import signal
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from starlette.types import ASGIApp

from weft.errors import WeftError
from weft.logs import get_logger
from weft.streams.storage import Storage
from weft.weaver.store.address import KeyspaceAddress, connect
from weft.weaver.store.cassandra import TERM_S, CassandraStore
from weft.weaver.store.keyspace import Keyspace
from weft.weaver.store.writelog import Seat, WriteLog
from weft.weaver.weaver import Weaver

log = get_logger(__name__)

LOOK_S = 0.5
MARGIN = 1.25
"""A standing-by weaver waits so many terms of silence, counted by its own clock, before it takes over."""


class Leading:
    """Whether this process leads, and its weaver while it does."""

    def __init__(
        self,
        storage: Storage,
        address: str,
        make_app: Callable[[Weaver], ASGIApp],
        *,
        lease: timedelta | None = None,
        metrics: tuple[int, str] | None = None,
        term_s: float = TERM_S,
    ) -> None:
        self.address = address
        self._storage = storage
        self._make_app = make_app
        self._lease = lease
        self._metrics = metrics
        self._term_s = term_s
        self._place = KeyspaceAddress.parse(storage.store)
        self._keyspace: Keyspace | None = connect(self._place)
        self._id = str(uuid.uuid4())
        self._seen: tuple[Seat, float] | None = None
        self._weaver: Weaver | None = None
        self._app: ASGIApp | None = None
        self._store: CassandraStore | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def app(self) -> ASGIApp | None:
        """What answers requests while this process leads."""
        is_leading = self._store is not None and self._store.is_leading
        return self._app if is_leading else None

    @property
    def leader(self) -> str | None:
        """The address of the weaver that leads, if that is another one."""
        seat = self._seen[0] if self._seen else None
        return seat.address if seat and seat.holder != self._id else None

    async def begin(self) -> None:
        """Watch from now on, and lead when nobody does."""
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(_end_with)

    async def end(self) -> None:
        """Stop; another weaver leads at once."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        store = self._step_down()
        if store is not None:
            await asyncio.to_thread(store.close)
        if self._keyspace is not None:
            await asyncio.to_thread(self._keyspace.close)

    async def _run(self) -> None:
        while True:
            try:
                await self._look()
            except WeftError as error:  # the store is away: it is asked again
                log.warning("%s", error)
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> None:
        if self._store is not None:
            if self._store.is_leading:
                return
            log.warning("this weaver no longer leads, and stands by")
            store = self._step_down()
            assert store is not None
            await asyncio.to_thread(store.abandon)
        if self._keyspace is None:
            self._keyspace = await asyncio.to_thread(connect, self._place)
        seat = await asyncio.to_thread(WriteLog(self._keyspace).seat)
        now = time.monotonic()
        if self._seen is None or self._seen[0] != seat:
            is_new = self._seen is None or self._seen[0].term != seat.term
            if is_new and seat.address is not None:
                log.info("the weaver at %s leads (term %d)", seat.address, seat.term)
            self._seen = (seat, now)
        is_silent = now - self._seen[1] > self._term_s * MARGIN
        if seat.holder is None or is_silent:
            await self._take(seat)

    async def _take(self, seen: Seat) -> None:
        """Lead, unless another one was first: open the store and go on with what was under way."""
        assert self._keyspace is not None
        seat = await asyncio.to_thread(
            WriteLog(self._keyspace).take, seen, holder=self._id, address=self.address
        )
        if seat is None:
            return
        self._store = await asyncio.to_thread(
            CassandraStore, self._keyspace, seat, term_s=self._term_s
        )
        self._keyspace = None  # it is the store's from here on
        try:
            weaver = Weaver(self._store, storage=self._storage)
            if self._lease is not None:
                weaver.leases.duration = self._lease
            if self._metrics is not None:
                weaver.metrics.serve(*self._metrics)
            self._weaver = weaver
            await weaver.resume()
        except BaseException:
            store = self._step_down()
            assert store is not None
            await asyncio.to_thread(store.abandon)
            raise
        self._app = self._make_app(weaver)
        log.info("this weaver leads (term %d)", seat.term)

    def _step_down(self) -> CassandraStore | None:
        """Answer no more, and end what is under way; the store is left to be closed."""
        weaver, self._weaver, self._app = self._weaver, None, None
        store, self._store = self._store, None
        if weaver is not None:
            weaver.stop()
            weaver.metrics.stop()
            weaver.changed()  # those who wait ask the store again, and are told
        self._seen = None
        return store


def _end_with(watching: asyncio.Task[None]) -> None:
    """End the process in an orderly way when watching has failed: it would neither lead nor know who does."""
    if not watching.cancelled() and (error := watching.exception()) is not None:
        log.error("this weaver ends, since it can no longer watch the others", exc_info=error)
        signal.raise_signal(signal.SIGTERM)
