"""The servers that other tests stand on."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.stack.servers import Kafka
from weft.servers.postgres import Postgres
from weft.servers.process import wait_until

ROOT = Path(__file__).parents[2]


def test_what_is_produced_is_consumed_by_partition_and_offset(kafka: Kafka) -> None:
    topic = kafka.create_topic("round-trip", partitions=2)
    kafka.produce(topic, [{"n": 1}, {"n": 2}], partition=0)
    kafka.produce(topic, [b"raw", None], keys=["k", "k"], partition=1)
    messages = kafka.consume(topic)
    assert [(m.partition, m.offset) for m in messages] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [m.document for m in messages[:2]] == [{"n": 1}, {"n": 2}]
    assert [(m.key, m.value) for m in messages[2:]] == [(b"k", b"raw"), (b"k", None)]


def test_a_broker_that_was_killed_comes_back_with_its_records(tmp_path: Path) -> None:
    with Kafka(tmp_path) as kafka:
        topic = kafka.create_topic("kept")
        kafka.produce(topic, [{"n": 1}])
        kafka.java.kill()
        kafka.start()
        assert [m.document for m in kafka.consume(topic)] == [{"n": 1}]
    assert not kafka.java.running


def test_a_database_that_was_killed_comes_back_with_its_rows(tmp_path: Path) -> None:
    with Postgres(tmp_path) as postgres:
        postgres.run("create table kept (n int); insert into kept values (1), (2)")
        postgres.kill()
        assert not postgres.process.running
        postgres.start()
        assert postgres.run("select n from kept where n > %s", 1) == [(2,)]
    assert not postgres.process.running


STARTER = """
import sys, time
from pathlib import Path
from tests.stack.servers import Kafka
with Kafka(Path(sys.argv[1])) as kafka:
    print(kafka.java.pid, flush=True)
    time.sleep(600)
"""


def test_a_broker_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as starter:
        assert starter.stdout is not None
        broker = int(starter.stdout.readline())
        starter.send_signal(signal.SIGKILL)
    wait_until(lambda: not _runs(broker), what="the broker went on without its parent", seconds=10)


def _runs(pid: int) -> bool:
    """Whether the process is there and not merely waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
