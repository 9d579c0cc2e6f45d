"""The weaver as a server: on its own in a process, or in a thread beside a worker."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from weft.clock import Clock
from weft.errors import WeftError
from weft.streams.storage import Storage
from weft.weaver.app import make_app
from weft.weaver.gatehouse import LOOPBACK_NAMES, Gatehouse
from weft.weaver.store.rocks import RocksStore
from weft.weaver.weaver import Weaver

LOOPBACK = "127.0.0.1"


class PortTakenError(WeftError):
    """The port is in use, or the host is not one of this machine."""

    code = "weaver.port-taken"
    domain = "user"


@dataclass(frozen=True)
class WeaverHost:
    """Where a weaver is reached: its own host, and the names that others, such as a load balancer, have for it."""

    host: str = LOOPBACK
    names: tuple[str, ...] = ()

    @property
    def hosts(self) -> frozenset[str]:
        """All names that it answers to."""
        return LOOPBACK_NAMES | {name.lower() for name in (self.host, *self.names)}

    def listen(self, port: int) -> socket.socket:
        """A socket at this host; port 0 takes a free one."""
        try:
            family, kind, _, _, place = socket.getaddrinfo(
                self.host, port, type=socket.SOCK_STREAM
            )[0]
            listening = socket.socket(family, kind)
        except OSError as error:
            raise self._refused(port, error) from error
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(place)
        except OSError as error:
            listening.close()
            raise self._refused(port, error) from error
        return listening

    def address(self, listening: socket.socket) -> str:
        """The address at which others ask."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{listening.getsockname()[1]}"

    def _refused(self, port: int, error: OSError) -> PortTakenError:
        return PortTakenError(
            f"The weaver cannot listen on port {port} of {self.host}: {error.strerror}.",
            hint="Stop what uses it, or choose another with `--port` or `--host`.",
            port=port,
        )


HERE = WeaverHost()
"""Loopback: nobody else reaches it."""


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
        """Serve from a thread of this process, and return once it answers."""
        self._thread = threading.Thread(target=self.run, name="weaver", daemon=True)
        self._thread.start()
        while not self._uvicorn.started and self._thread.is_alive():
            time.sleep(0.01)

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
    storage: Storage,
    *,
    port: int,
    host: WeaverHost = HERE,
    metrics_port: int | None = None,
    clock: Clock | None = None,
) -> Server:
    """A weaver over the store in a storage; port 0 takes a free one."""
    listening = host.listen(port)
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

    server = _Uvicorn(_config(make_app(weaver, hosts=host.hosts)), weaver.resume, end)
    return Server(weaver, host.address(listening), server, listening)


def make_sharing_server(
    storage: Storage,
    *,
    port: int,
    lease: timedelta,
    host: WeaverHost = HERE,
    metrics_port: int | None = None,
) -> SharingServer:
    """A weaver over a store that it shares with others."""
    from weft.weaver.forwarding import Forwarding
    from weft.weaver.leading import Leading

    listening = host.listen(port)
    try:
        storage.make()
        leading = Leading(
            storage,
            host.address(listening),
            partial(make_app, hosts=host.hosts),
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

    server = _Uvicorn(_config(Gatehouse(forwarding, hosts=host.hosts)), leading.begin, end)
    return SharingServer(host.address(listening), server, listening)


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
