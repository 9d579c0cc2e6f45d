"""A Cassandra node on loopback: a folder comes in, out comes the address of a node with its data in that folder."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Self

from weft.runtime import jars
from weft.runtime.java import get_java
from weft.servers.process import LOOPBACK, ServerProcess, free_port

HEAP = "384m"
START_S = 180.0  # about twelve on a machine of its own
MAIN = "org.apache.cassandra.service.CassandraDaemon"

# One node that owns everything, with small caches. Every write is on disk before it is acknowledged.
CONFIGURATION = """\
cluster_name: weft
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
native_transport_port: {port}
storage_port: {gossip}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:{gossip}"
data_file_directories: [{folder}/data]
commitlog_directory: {folder}/commitlog
hints_directory: {folder}/hints
saved_caches_directory: {folder}/saved_caches
cdc_raw_directory: {folder}/cdc_raw
commitlog_sync: batch
commitlog_segment_size: 32MiB
commitlog_total_space: 128MiB
commitlog_disk_access_mode: legacy
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
file_cache_enabled: false
key_cache_size: 4MiB
row_cache_size: 0MiB
counter_cache_size: 0MiB
networking_cache_size: 32MiB
concurrent_reads: 8
concurrent_writes: 8
concurrent_counter_writes: 4
concurrent_compactors: 1
auto_snapshot: false
authenticator: AllowAllAuthenticator
authorizer: AllowAllAuthorizer
storage_compatibility_mode: NONE
"""

LOGBACK = """\
<configuration>
<appender name="console" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%date{ISO8601} %-5level %logger{0} %msg%n</pattern></encoder>
</appender>
<root level="WARN"><appender-ref ref="console"/></root>
</configuration>
"""

# What Cassandra reaches into of Java's own modules: the lists of its own jvm17-server.options.
EXPORTS = (
    "java.base/java.lang.ref",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport.tcp",
    "java.sql/java.sql",
    "jdk.attach/sun.tools.attach",
    "jdk.unsupported/sun.misc",
)
OPENS = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "jdk.management/com.sun.management.internal",
)


class Cassandra:
    """A cluster of one node."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.process = ServerProcess("cassandra", folder)
        self._classpath = jars.find("cassandra")
        self._configuration = folder / "cassandra.yaml"
        self._configuration.write_text(
            CONFIGURATION.format(port=self.port, gossip=free_port(), folder=folder / "data")
        )
        (folder / "logback.xml").write_text(LOGBACK)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        # All it has acknowledged is on disk, and to be asked it takes seconds to leave a cluster of one.
        self.kill()

    def address(self, keyspace: str) -> str:
        """The address of a weaver's store in this node."""
        return f"cassandra://{LOOPBACK}:{self.port}/{keyspace}"

    def start(self) -> None:
        """Start the node, also after it was killed or stopped, and wait until it answers."""
        self.process.start(*self._command())
        self.process.wait_for(self._answers, seconds=START_S)

    def kill(self) -> None:
        """End the node as a power cut would."""
        self.process.kill()

    def _answers(self) -> bool:
        try:  # it listens last of all
            socket.create_connection((LOOPBACK, self.port), 0.2).close()
        except OSError:
            return False
        return True

    def _command(self) -> list[str]:
        folder = self.process.folder
        agent = next(jar for jar in self._classpath if jar.name.startswith("jamm-"))
        properties = {
            "cassandra.config": self._configuration.as_uri(),
            "cassandra.storagedir": folder / "data",
            "cassandra.logdir": folder,
            "cassandra.jmx.local.port": 0,
            "cassandra.ring_delay_ms": 0,
            "cassandra.skip_wait_for_gossip_to_settle": 0,
            "cassandra.superuser_setup_delay_ms": 0,
            "cassandra-foreground": "yes",
            "java.io.tmpdir": folder,
            "jdk.attach.allowAttachSelf": "true",
            "jna.nosys": "true",
            "io.netty.tryReflectionSetAccessible": "true",
            "logback.configurationFile": folder / "logback.xml",
        }
        return [
            str(get_java()),
            f"-Xms{HEAP}",
            f"-Xmx{HEAP}",
            "-Xss512k",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:+UseSerialGC",
            "-XX:MaxDirectMemorySize=192m",
            f"-javaagent:{agent}",
            *(f"--add-exports={name}=ALL-UNNAMED" for name in EXPORTS),
            *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS),
            *(f"-D{name}={value}" for name, value in properties.items()),
            "-cp",
            ":".join(map(str, self._classpath)),
            MAIN,
        ]
