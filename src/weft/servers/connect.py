"""Kafka Connect with Debezium on loopback: a broker and a database come in, out come topics with the changes of its
tables. It keeps all that it knows in topics, so a killed worker goes on where it was, repeating some changes."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import httpx

from weft.runtime import jars
from weft.servers.kafka import Kafka
from weft.servers.postgres import Postgres
from weft.servers.process import LOOPBACK, JavaServer, ServerError, free_port, wait_until

REQUEST_S = 90.0

# A session of a member is short, so that a worker that was killed is soon replaced by its successor.
PROPERTIES = """\
bootstrap.servers={servers}
listeners=http://127.0.0.1:{port}
plugin.path={plugins}
plugin.discovery=service_load
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
group.id=connect
config.storage.topic=_connect_configs
offset.storage.topic=_connect_offsets
status.storage.topic=_connect_status
config.storage.replication.factor=1
offset.storage.replication.factor=1
status.storage.replication.factor=1
offset.storage.partitions=1
status.storage.partitions=1
offset.flush.interval.ms=1000
session.timeout.ms=3000
heartbeat.interval.ms=500
scheduled.rebalance.max.delay.ms=0
"""

JSON = "org.apache.kafka.connect.json.JsonConverter"

# Low delay before all else; numbers as text, which loses no digit; waits after a failure that suit a machine where
# everything is near.
POSTGRES = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "tasks.max": "1",
    "plugin.name": "pgoutput",
    "publication.autocreate.mode": "filtered",
    "snapshot.mode": "initial",
    "decimal.handling.mode": "string",
    "poll.interval.ms": "10",
    "status.update.interval.ms": "1000",
    "slot.retry.delay.ms": "500",
    "retriable.restart.connector.wait.ms": "500",
    "key.converter": JSON,
    "value.converter": JSON,
    "key.converter.schemas.enable": "false",
    "value.converter.schemas.enable": "false",
}


class Connect:
    """A Kafka Connect worker with Debezium's connector for PostgreSQL."""

    def __init__(self, folder: Path, kafka: Kafka) -> None:
        self.port = free_port()
        classpath = [*jars.find("kafka-server"), *jars.find("connect")]
        self.java = JavaServer("connect", folder, classpath=classpath, heap="512m")
        plugins = folder / "plugins"
        _unpack(plugins)
        self._properties = folder / "connect.properties"
        self._properties.write_text(
            PROPERTIES.format(servers=kafka.servers, port=self.port, plugins=plugins)
        )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the worker, also after it was killed or stopped, and wait until it answers."""
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        self.java.start_main(main, str(self._properties))
        self.java.wait_for(self._answers)

    def stop(self) -> None:
        """Stop the worker and its connectors."""
        self.java.stop()

    def kill(self) -> None:
        """End the worker as a power cut would."""
        self.java.kill()

    def register_postgres(
        self, name: str, postgres: Postgres, tables: Sequence[str], **config: str
    ) -> None:
        """Have the changes of tables written to topics `<name>.<schema>.<table>`, and wait until they are followed.

        A table is named with its schema, as in `public.users`. What its rows are now comes first. Debezium's settings
        may be given with `_` for each dot, as in `poll_interval_ms="500"`.
        """
        slot = name.replace("-", "_")
        database = postgres.connection
        settings = {
            **POSTGRES,
            "database.hostname": database["host"],
            "database.port": str(database["port"]),
            "database.user": database["user"],
            "database.password": "",
            "database.dbname": database["dbname"],
            "topic.prefix": name,
            "slot.name": slot,
            "publication.name": slot,
            "table.include.list": ",".join(tables),
            **{key.replace("_", "."): value for key, value in config.items()},
        }
        self._ask("PUT", f"/connectors/{name}/config", settings)
        self.wait_until_following(name, postgres, slot=settings["slot.name"])

    def wait_until_following(
        self, name: str, postgres: Postgres, *, slot: str | None = None
    ) -> None:
        """Wait until a connector has told what rows there are, and follows their changes."""
        chosen = slot or name.replace("-", "_")
        active = "select 1 from pg_replication_slots where slot_name = %s and active"
        try:
            wait_until(
                lambda: self._runs(name) and bool(postgres.run(active, chosen)),
                what=f"connector {name!r} did not follow",
            )
        except TimeoutError as error:
            raise self.java.failed(str(error)) from None

    def status(self, name: str) -> dict[str, Any]:
        """How a connector and its tasks are, as Kafka Connect tells it."""
        found: dict[str, Any] = self._ask("GET", f"/connectors/{name}/status")
        return found

    def offsets(self, name: str) -> list[dict[str, Any]]:
        """Up to where a connector is known to have come. A worker that is killed before there is any tells all rows
        anew, and of changes before that nothing."""
        found: list[dict[str, Any]] = self._ask("GET", f"/connectors/{name}/offsets")["offsets"]
        return found

    def remove(self, name: str) -> None:
        """Remove a connector; its slot in the database stays."""
        self._ask("DELETE", f"/connectors/{name}")

    def _runs(self, name: str) -> bool:
        try:
            status = self.status(name)
        except ServerError:
            return False  # it is not known everywhere yet
        parts = [status["connector"], *status["tasks"]]
        for part in parts:
            if part["state"] == "FAILED":
                why = part.get("trace", "").strip().splitlines()
                raise ServerError(f"Connector {name!r} failed: {why[-1] if why else 'no reason'}")
        return len(parts) > 1 and all(part["state"] == "RUNNING" for part in parts)

    def _answers(self) -> bool:
        try:
            self._ask("GET", "/connectors", seconds=2)
        except (ServerError, httpx.HTTPError):
            return False
        return True

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, str] | None = None,
        *,
        seconds: float = REQUEST_S,
    ) -> Any:
        address = f"http://{LOOPBACK}:{self.port}{path}"
        answer = httpx.request(method, address, json=body, timeout=seconds, trust_env=False)
        if answer.is_error:
            raise ServerError(f"Kafka Connect refused {method} {path}: {answer.text}")
        return answer.json() if answer.content else None


def _unpack(plugins: Path) -> None:
    """Put the connector's jars into a folder of plugins."""
    for archive in jars.find("debezium"):
        with tarfile.open(archive) as packed:
            packed.extractall(plugins, filter="data")
