"""Random kills of workers and the weaver of a project that clients change while records come in (`_disturbed.py`).

Two workers share the pipelines; whatever is killed is started again at once, as its supervisor would.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from bench._disturbed import PROJECT, Disturbed
from bench._report import Figures, percentile, say
from tests.faults.cluster import Cluster

COUNT = 200


def kills(quick: bool) -> Figures:
    """What is lost, doubled or unbalanced after random kills, and how long a recovery takes."""
    count = 6 if quick else COUNT
    chance = random.Random(20260101)
    with (
        tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch,
        Cluster(PROJECT, Path(scratch) / "storage") as cluster,
    ):
        for _ in range(2):
            cluster.start_worker()
        disturbed = Disturbed(cluster, "kills")
        disturbed.start()
        recoveries = []
        for number in range(1, count + 1):
            disturbed.go_on()
            time.sleep(chance.uniform(0, 1.5 if chance.random() < 0.7 else 8.0))
            victim = chance.choice((*cluster.workers, cluster.weaver))
            began = time.monotonic()
            victim.kill()
            if victim is cluster.weaver:
                cluster.start_weaver()
            else:
                cluster.workers.remove(victim)
                cluster.start_worker()
            # Else the next one comes before all is well.
            if chance.random() < 0.75 or number == count:
                disturbed.recover()
                recoveries.append(time.monotonic() - began)
                say(f"kills      {number}: {victim.name}, well after {recoveries[-1]:.1f} s")
        ended = disturbed.end()
    return {"kills": count, **ended, "recovery_p95_s": round(percentile(recoveries, 0.95), 2)}
