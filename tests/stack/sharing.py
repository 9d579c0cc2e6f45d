"""Weft with several weavers over one store in Cassandra, behind a load balancer; for tests and the fault benches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.faults.cluster import Cluster, Process
from tests.stack.balancer import Balancer
from weft.weaver.store.address import KeyspaceAddress, connect
from weft.weaver.store.writelog import WriteLog


class Sharing(Cluster):
    """A cluster with a weaver at each port of a load balancer."""

    def __init__(
        self, project: Any, storage: Path | str, balancer: Balancer, *, store: str, **spark: Any
    ) -> None:
        """`spark` is what a cluster is told of its Spark and of where its home is."""
        self._balancer = balancer
        self.weavers: dict[int, Process] = {}
        super().__init__(project, storage, store=store, **spark)
        self.api.close()
        # No two requests over one connection: each may come to another weaver.
        alone = httpx.Limits(max_keepalive_connections=0)
        self.api = httpx.Client(base_url=self.address, timeout=60, trust_env=False, limits=alone)

    def __exit__(self, *_: object) -> None:
        for process in self.weavers.values():
            process.kill()
        super().__exit__()

    @property
    def address(self) -> str:
        return self._balancer.address

    @property
    def for_workers(self) -> str:
        return ",".join(f"http://127.0.0.1:{port}" for port in self.ports)

    @property
    def ports(self) -> list[int]:
        return list(self._balancer.ports)

    def start_weaver(self) -> None:
        for port in self.ports:
            self.start_one(port)

    def start_one(self, port: int) -> None:
        """Start the weaver of a port and wait until it answers."""
        self.weaver = self.weavers[port] = self.weaver_at(port, f"weaver-{port}")
        self.wait(lambda: self._answers_at(port), "the weaver answers")

    def _answers_at(self, port: int) -> bool:
        if not self.weavers[port].is_alive:
            raise RuntimeError(f"The weaver ended: {self.weavers[port].tail()}")
        try:
            asked = httpx.get(f"http://127.0.0.1:{port}/health", timeout=60, trust_env=False)
        except httpx.TransportError:
            return False
        return asked.is_success

    @property
    def leader(self) -> int:
        """The port of the weaver that leads."""
        keyspace = connect(KeyspaceAddress.parse(self.storage.store))
        try:
            address = WriteLog(keyspace).seat(exactly=True).address or ""
        finally:
            keyspace.close()
        return int(address.rpartition(":")[2])

    @property
    def other(self) -> int:
        """The port of the weaver that stands by."""
        leader = self.leader
        return next(port for port in self.ports if port != leader)

    def at(self, port: int) -> httpx.Client:
        """Asks one weaver, past the balancer."""
        return httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
