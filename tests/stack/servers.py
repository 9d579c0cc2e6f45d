"""Real servers on loopback, started from locked jars, for tests and benches.

A server is a context manager: inside it runs and answers, afterwards it is gone, also after an
interrupt or when the process that started it is killed.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from weft.runtime import jars
from weft.runtime.java import get_java

READY_S = 60.0
STOP_S = 15.0

LOG4J2 = """\
rootLogger.level=WARN
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d %p %c{1} %m%n
"""

# One node is broker and controller; internal topics have one partition and one replica. A killed
# broker is let in again when its session has ended, so that is short.
KAFKA = """\
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
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
"""


def free_port() -> int:
    """A TCP port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(condition: Callable[[], bool], *, what: str, seconds: float = READY_S) -> None:
    """Return as soon as the condition holds; raise TimeoutError with `what` after the time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} within {seconds:g} s")
        time.sleep(0.05)


class JavaServer:
    """One JVM with a class path of its own and its log in a file; it ends with its parent."""

    def __init__(self, name: str, folder: Path, *, classpath: Sequence[Path], heap: str) -> None:
        self.name = name
        self.folder = folder
        self.log = folder / f"{name}.log"
        self._classpath = os.pathsep.join(map(str, classpath))
        self._heap = heap
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log4j2.properties").write_text(LOG4J2)

    def run(self, main: str, *arguments: str) -> None:
        """Run a main class to its end."""
        with self.log.open("ab") as log:
            code = subprocess.call(
                self._command(main, arguments), stdout=log, stderr=log, cwd=self.folder
            )
        if code != 0:
            raise RuntimeError(f"{main} ended with {code}:\n{self.tail()}")

    def start(self, main: str, *arguments: str) -> None:
        """Start a main class, in a session of its own that no interrupt of the terminal reaches."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(main, arguments),
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def send(self, sent: signal.Signals) -> None:
        """Send the process a signal, such as SIGSTOP."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(sent)

    def stop(self) -> None:
        """End the process: asked first, then killed."""
        if self._process is None:
            return
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the process as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def tail(self, lines: int = 30) -> str:
        """The end of the server's log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _command(self, main: str, arguments: Sequence[str]) -> list[str]:
        setpriv = shutil.which("setpriv")
        dies_with_parent = [setpriv, "--pdeathsig", "KILL"] if setpriv else []
        return [
            *dies_with_parent,
            str(get_java()),
            f"-Xmx{self._heap}",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}",
            "-cp",
            self._classpath,
            main,
            *arguments,
        ]


@dataclass(frozen=True)
class Message:
    """One record of a topic, as a reader gets it."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes]

    @property
    def document(self) -> Any:
        """The value, read as JSON."""
        return None if self.value is None else json.loads(self.value)


class Kafka:
    """A Kafka broker (KRaft, one node) and what a test does with it."""

    def __init__(self, folder: Path) -> None:
        self.broker, self.controller = free_port(), free_port()
        self.servers = f"127.0.0.1:{self.broker}"
        self.java = JavaServer("kafka", folder, classpath=jars.find("kafka-server"), heap="512m")
        self._properties = folder / "server.properties"
        self._properties.write_text(
            KAFKA.format(broker=self.broker, controller=self.controller, folder=folder)
        )

    def __enter__(self) -> Self:
        # A random id may start with a dash, hence the equals sign.
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        properties = str(self._properties)
        self.java.run(
            "kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", properties
        )
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.java.stop()

    def start(self) -> None:
        """Start the broker, also after it was killed or stopped, and wait until it answers."""
        self.java.start("kafka.Kafka", str(self._properties))
        try:
            wait_until(self._answers, what="Kafka did not answer")
        except BaseException:
            self.java.kill()
            raise

    def _answers(self) -> bool:
        if not self.java.running:
            raise RuntimeError(f"Kafka ended while starting:\n{self.java.tail()}")
        try:
            socket.create_connection(("127.0.0.1", self.broker), 0.2).close()
            admin = self._admin()
            return bool(admin.list_topics(timeout=1).brokers)
        except (OSError, KafkaException):
            return False

    def _admin(self) -> AdminClient:
        # Its futures fail when it is collected before they are done: callers keep it in a name.
        return AdminClient({"bootstrap.servers": self.servers, "log_level": 0})

    def create_topic(self, name: str, *, partitions: int = 1, **config: str) -> str:
        """Create a topic, with settings such as cleanup_policy="compact", and return its name."""
        settings = {key.replace("_", "."): value for key, value in config.items()}
        topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=settings)
        admin = self._admin()
        for future in admin.create_topics([topic]).values():
            future.result(READY_S)
        return name

    def add_partitions(self, name: str, total: int) -> None:
        """Raise the number of partitions of a topic to `total`."""
        admin = self._admin()
        for future in admin.create_partitions([NewPartitions(name, total)]).values():
            future.result(READY_S)

    def partitions(self, name: str) -> int:
        """How many partitions a topic has."""
        admin = self._admin()
        return len(admin.list_topics(name, timeout=READY_S).topics[name].partitions)

    def produce(
        self,
        topic: str,
        values: Iterable[Mapping[str, Any] | str | bytes | None],
        *,
        keys: Iterable[str | bytes | None] | None = None,
        partition: int | None = None,
    ) -> None:
        """Write records and wait until the broker has them; mappings are written as JSON."""
        producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 1})
        chosen = {} if partition is None else {"partition": partition}
        values = list(values)
        for key, value in zip(keys or [None] * len(values), values, strict=True):
            body = json.dumps(value) if isinstance(value, Mapping) else value
            producer.produce(topic, body, key, **chosen)
            producer.poll(0)
        left = producer.flush(READY_S)
        if left:
            raise TimeoutError(f"{left} records were not written to topic {topic}")

    def consume(self, topic: str, *, committed: bool = True) -> list[Message]:
        """All records of the topic by partition and offset; of transactions, the committed ones."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": f"test-{uuid.uuid4()}",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed" if committed else "read_uncommitted",
            }
        )
        try:
            found = consumer.list_topics(topic, timeout=READY_S).topics[topic].partitions
            consumer.assign([TopicPartition(topic, number, 0) for number in found])
            return _read_to_end(consumer, set(found))
        finally:
            consumer.close()


def _read_to_end(consumer: Consumer, open_partitions: set[int]) -> list[Message]:
    messages = []
    end = time.monotonic() + READY_S
    while open_partitions:
        if time.monotonic() > end:
            raise TimeoutError(f"partitions {open_partitions} were not read to their end")
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            if message.error().code() != KafkaError._PARTITION_EOF:
                raise KafkaException(message.error())
            open_partitions.discard(message.partition())
            continue
        messages.append(
            Message(
                partition=message.partition(),
                offset=message.offset(),
                key=message.key(),
                value=message.value(),
                headers=dict(message.headers() or ()),
            )
        )
    return sorted(messages, key=lambda found: (found.partition, found.offset))
