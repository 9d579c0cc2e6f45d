"""What survives: random kills of real processes, and random histories of rules, crashes and rollbacks,
both while several clients change what runs at the same time.

`python -m bench.faults [--quick] [--only kills,histories]`.
"""

from __future__ import annotations

from bench._histories import histories
from bench._kills import kills
from bench._report import Measure, run

PARTS = {
    "kills": Measure(
        (
            "kills",
            "lost",
            "doubled",
            "unbalanced",
            "findings",
            "operations_left",
            "errors",
            "recovery_p95_s",
        ),
        kills,
    ),
    "histories": Measure(("histories", "histories_wrong"), histories),
}

if __name__ == "__main__":
    run("faults", __doc__, PARTS)
