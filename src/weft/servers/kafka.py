"""A Kafka broker on loopback: a folder comes in, out comes the address of a broker with its data in that folder."""

from __future__ import annotations

import base64
import socket
import uuid
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from weft.runtime import jars
from weft.servers.process import LOOPBACK, READY_S, JavaServer, free_port

# One node is broker and controller; internal topics have one partition and one replica. A killed broker, and a killed
# member of a group, is let in again when its session has ended, so sessions may be short.
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/data
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
"""


class Kafka:
    """A Kafka broker (KRaft, one node), and the topics that are made in it."""

    def __init__(self, folder: Path) -> None:
        self.broker, self.controller = free_port(), free_port()
        self.servers = f"{LOOPBACK}:{self.broker}"
        self.java = JavaServer("kafka", folder, classpath=jars.find("kafka-server"), heap="512m")
        self._properties = folder / "server.properties"
        self._properties.write_text(
            PROPERTIES.format(broker=self.broker, controller=self.controller, folder=folder)
        )

    def __enter__(self) -> Self:
        # A random id may start with a dash, hence the equals sign.
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        properties = str(self._properties)
        self.java.run_main(
            "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", properties
        )
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.java.stop()

    def start(self) -> None:
        """Start the broker, also after it was killed or stopped, and wait until it answers."""
        self.java.start_main("kafka.Kafka", str(self._properties))
        self.java.wait_for(self._answers)

    def kill(self) -> None:
        """End the broker as a power cut would."""
        self.java.kill()

    def _answers(self) -> bool:
        try:
            socket.create_connection((LOOPBACK, self.broker), 0.2).close()
            admin = self.admin()
            return bool(admin.list_topics(timeout=1).brokers)
        except (OSError, KafkaException):
            return False

    def admin(self) -> AdminClient:
        """A client for topics; its futures fail when it is collected before they are done, so keep it in a name."""
        return AdminClient({"bootstrap.servers": self.servers, "log_level": 0})

    def create_topic(self, name: str, *, partitions: int = 1, **config: str) -> str:
        """Create a topic, with settings such as cleanup_policy="compact", and return its name."""
        settings = {key.replace("_", "."): value for key, value in config.items()}
        topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=settings)
        admin = self.admin()
        for future in admin.create_topics([topic]).values():
            future.result(READY_S)
        return name
