"""The weaver as a server: on its own in a process, or in a thread beside a worker."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from weft.clock import Clock
from weft.errors import WeftError
from weft.streams.storage import Storage
from weft.weaver.app import make_app
from weft.weaver.store.rocks import RocksStore
from weft.weaver.weaver import Weaver

LOOPBACK = "127.0.0.1"


class PortTakenError(WeftError):
    """The port is in use."""

    code = "weaver.port-taken"
    domain = "user"


class _Uvicorn(uvicorn.Server):
    """A server whose weaver goes on with what was under way as soon as it listens."""

    def __init__(self, config: uvicorn.Config, weaver: Weaver) -> None:
        super().__init__(config)
        self._weaver = weaver

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._weaver.resume()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._weaver.stop()
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


def make_server(
    storage: Storage, *, port: int, metrics_port: int | None = None, clock: Clock | None = None
) -> Server:
    """A weaver on loopback over the store in a storage; port 0 takes a free one."""
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
    try:
        storage.make()
        weaver = Weaver(RocksStore(Path(storage.store)), clock=clock, storage=storage)
    except BaseException:
        listening.close()
        raise
    if metrics_port is not None:
        weaver.metrics.serve(metrics_port, LOOPBACK)
    config = uvicorn.Config(
        make_app(weaver),
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    address = f"http://{LOOPBACK}:{listening.getsockname()[1]}"
    return Server(weaver, address, _Uvicorn(config, weaver), listening)
