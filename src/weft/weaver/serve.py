"""The weaver as a server: on its own in a process, or in a thread beside a worker."""

from __future__ import annotations

import socket
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from weft.clock import Clock
from weft.errors import WeftError
from weft.streams.storage import Storage
from weft.weaver.app import make_app
from weft.weaver.gatehouse import Gatehouse
from weft.weaver.store.rocks import RocksStore
from weft.weaver.weaver import Weaver

LOOPBACK = "127.0.0.1"


class PortTakenError(WeftError):
    """The port is in use."""

    code = "weaver.port-taken"
    domain = "user"


class _Uvicorn(uvicorn.Server):
    """A server that says when it listens, and when it is about to end."""

    def __init__(
        self,
        config: uvicorn.Config,
        begin: Callable[[], Awaitable[None]],
        end: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(config)
        self._begin = begin
        self._end = end

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._begin()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._end()
        await super().shutdown(sockets)


@dataclass
class Server:
    """A weaver that answers at an address."""

    weaver: Weaver
    address: str
    _uvicorn: uvicorn.Server
    _socket: socket.socket
    _thread: threading.Thread | None = None

    def run(self) -> None:
        """Serve until a signal comes."""
        try:
            self._uvicorn.run(sockets=[self._socket])
        finally:
            self.weaver.store.close()

    def start(self) -> None:
        """Serve from a thread of this process."""
        self._thread = threading.Thread(target=self.run, name="weaver", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread that `start` made."""
        self._uvicorn.should_exit = True
        # Event streams and waiting workers would hold the server open.
        self._uvicorn.force_exit = True
        if self._thread is not None:
            self._thread.join(timeout=10)


@dataclass
class SharingServer:
    """One of several weavers that share a store, at an address: it leads, or hands on to the one that does."""

    address: str
    _uvicorn: uvicorn.Server
    _socket: socket.socket

    def run(self) -> None:
        """Serve until a signal comes."""
        self._uvicorn.run(sockets=[self._socket])


def make_server(
    storage: Storage, *, port: int, metrics_port: int | None = None, clock: Clock | None = None
) -> Server:
    """A weaver on loopback over the store in a storage; port 0 takes a free one."""
    listening = _listen(port)
    try:
        storage.make()
        weaver = Weaver(RocksStore(Path(storage.store)), clock=clock, storage=storage)
    except BaseException:
        listening.close()
        raise
    if metrics_port is not None:
        weaver.metrics.serve(metrics_port, LOOPBACK)

    async def end() -> None:
        weaver.stop()

    server = _Uvicorn(_config(make_app(weaver)), weaver.resume, end)
    return Server(weaver, _address(listening), server, listening)


def make_sharing_server(
    storage: Storage, *, port: int, lease: timedelta, metrics_port: int | None = None
) -> SharingServer:
    """A weaver on loopback over a store that it shares with others."""
    from weft.weaver.forwarding import Forwarding
    from weft.weaver.leading import Leading

    listening = _listen(port)
    try:
        storage.make()
        leading = Leading(
            storage,
            _address(listening),
            make_app,
            lease=lease,
            metrics=None if metrics_port is None else (metrics_port, LOOPBACK),
        )
    except BaseException:
        listening.close()
        raise
    forwarding = Forwarding(leading)

    async def end() -> None:
        await leading.end()
        await forwarding.close()

    server = _Uvicorn(_config(Gatehouse(forwarding)), leading.begin, end)
    return SharingServer(_address(listening), server, listening)


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise PortTakenError(
            f"The weaver cannot listen on port {port}: {error.strerror}.",
            hint="Stop what uses it, or choose another with `--port`.",
            port=port,
        ) from error
    return listening


def _address(listening: socket.socket) -> str:
    return f"http://{LOOPBACK}:{listening.getsockname()[1]}"


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
