"""What Spark's start takes with the classes that `weft prepare` keeps, against a start without.

`python -m bench.start [--quick]`. CPU of the JVM and wall time, from nothing to a session and to the second batch.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from bench._report import Figures, Measure, run, say
from weft.runtime import archive, jars
from weft.steps.environment import KERNEL_JAR

REPOSITORY = Path(__file__).resolve().parents[1]
SIDES = ("without", "with")
FIGURES = ("session_s", "batches_s", "cpu_s")


def starts(quick: bool) -> Figures:
    """The medians of what a start takes, and by how much that is less than without."""
    archive.make([KERNEL_JAR, *jars.find_for()])
    taken: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for _ in range(1 if quick else 5):
        for side in SIDES:
            said = subprocess.run(
                [sys.executable, "-m", "bench._start", side],
                cwd=REPOSITORY,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                check=True,
            )
            taken[side].append(json.loads(said.stdout.splitlines()[-1]))
            say(f"start      {side:8} {taken[side][-1]}")
    found: Figures = {}
    for name in FIGURES:
        before, after = (statistics.median(one[name] for one in taken[side]) for side in SIDES)
        found |= {name: round(after, 1), f"{name}_gain": round(before / after, 2)}
    return found


PARTS = {"starts": Measure(tuple(name + end for name in FIGURES for end in ("", "_gain")), starts)}

if __name__ == "__main__":
    run("start", __doc__, PARTS)
