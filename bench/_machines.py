"""Many machines, of which some always die: two weavers over a store in Cassandra, two workers with executors of a Spark
cluster, storage in a bucket. Every minute one of the weavers and one of the workers is killed, and an executor, while
records come in and clients change what runs (`_disturbed.py`); what was killed is started again at once.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from pathlib import Path

from bench._disturbed import PROJECT, Disturbed
from bench._report import Figures, percentile, say
from tests.stack.balancer import Balancer
from tests.stack.sharing import Sharing
from tests.stack.stores import new_keyspace
from weft.servers.cassandra import Cassandra
from weft.servers.process import free_port
from weft.servers.s3 import S3
from weft.servers.spark import SparkCluster

MINUTES, QUICK_MINUTES = 10, 2
EVERY_S = 60.0
EXECUTOR = {"spark.executor.cores": "1", "spark.executor.memory": "600m"}
LEASE_S = 5.0
"""Two cores carry a dozen processes here: with the two seconds of other benches, leases end while nobody is dead."""


def machines(quick: bool) -> Figures:
    """What is lost, doubled or unbalanced after so many minutes, and how long a recovery takes."""
    minutes = QUICK_MINUTES if quick else MINUTES
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        folder = Path(scratch)
        with S3(_made(folder / "s3")) as s3, Cassandra(_made(folder / "cassandra")) as cassandra:
            os.environ.update(s3.environment)
            with (
                SparkCluster(_made(folder / "spark"), workers=2, cores=1, memory="1g") as spark,
                Balancer([free_port(), free_port()]) as balancer,
                Sharing(
                    PROJECT,
                    s3.address("disturbed"),
                    balancer,
                    store=new_keyspace(cassandra),
                    home=folder / "home",
                    lease_s=LEASE_S,
                    master=spark.address,
                    executors="1",
                    conf=EXECUTOR,
                ) as cluster,
            ):
                for _ in range(2):
                    cluster.start_worker()
                return _disturb(cluster, spark, minutes)


def _disturb(cluster: Sharing, spark: SparkCluster, minutes: int) -> Figures:
    chance = random.Random(20260102)
    disturbed = Disturbed(cluster, "machines")
    disturbed.start()
    recoveries = []
    for minute in range(1, minutes + 1):
        began = time.monotonic()
        disturbed.go_on()
        time.sleep(chance.uniform(0, 15))
        fell = time.monotonic()
        port = chance.choice(cluster.ports)
        worker = chance.choice(cluster.workers)
        executor = chance.choice([*spark.executors(), None])
        if executor is not None:
            os.kill(executor, signal.SIGKILL)
        worker.kill()
        cluster.weavers[port].kill()
        cluster.workers.remove(worker)
        cluster.start_worker()
        cluster.start_one(port)
        disturbed.recover()
        recoveries.append(time.monotonic() - fell)
        said = f"weaver-{port}, {worker.name}{', an executor' if executor else ''}"
        say(f"machines   {minute}: {said}, well after {recoveries[-1]:.1f} s")
        disturbed.go_on()
        time.sleep(max(began + EVERY_S - time.monotonic(), 0))
    ended = {f"machines_{name}": figure for name, figure in disturbed.end().items()}
    return {
        "machines_minutes": minutes,
        **ended,
        "machines_recovery_p95_s": round(percentile(recoveries, 0.95), 2),
    }


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
