"""What survives: random kills of real processes, on one machine and where storage, store and executors are elsewhere,
and random histories of rules, crashes and rollbacks; all while several clients change what runs at the same time.

`python -m bench.faults [--quick] [--only kills,machines,histories]`.
"""

from __future__ import annotations

from bench._histories import histories
from bench._kills import kills
from bench._machines import machines
from bench._report import Measure, run

ENDED = ("lost", "doubled", "unbalanced", "findings", "operations_left", "errors")

PARTS = {
    "kills": Measure(("kills", *ENDED, "recovery_p95_s"), kills),
    "machines": Measure(
        (
            "machines_minutes",
            *(f"machines_{name}" for name in ENDED),
            "machines_recovery_p95_s",
        ),
        machines,
    ),
    "histories": Measure(("histories", "histories_wrong"), histories),
}

if __name__ == "__main__":
    run("faults", __doc__, PARTS)
