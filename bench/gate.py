"""Hostile rules against the gate: whether one escapes, kills or holds a worker, or fails a batch; and what it costs.

`python -m bench.gate [--quick] [--only rules]`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from bench._cpu import cpu_seconds
from bench._hostile import CANARY, Rule, rules
from bench._report import Figures, Measure, run, say

REPOSITORY = Path(__file__).resolve().parents[1]
RULES = 3_200
DEADLINE_S = 120.0
"""Of CPU: eight rules that spend all they may on nine rows, twice, take half of it; what takes longer hangs."""
SILENCE_S = 600.0
"""By the clock: what takes longer hangs too, however busy the machine is."""
LOOK_S = 1.0
SHOWN = 10


class Worker:
    """A process that tries rules, and what it tells of them."""

    def __init__(self, file: Path) -> None:
        path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "src")])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench._gate", str(file)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path, "WEFT_CANARY": CANARY},
        )
        self._lines: Queue[str | None] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def facts(self) -> Iterator[dict[str, Any]]:
        """What it tells, until it is done; its end before that is `died`, and its silence `late`."""
        spent, heard = 0.0, time.monotonic()
        while True:
            try:
                line = self._lines.get(timeout=LOOK_S)
            except Empty:
                if (
                    cpu_seconds(self._process.pid) - spent > DEADLINE_S
                    or time.monotonic() - heard > SILENCE_S
                ):
                    self._process.kill()
                    yield {"late": True}
                    return
                continue
            if line is None:
                if self._process.wait() != 0:
                    yield {"died": True}
                return
            if line.startswith("{"):
                spent, heard = cpu_seconds(self._process.pid), time.monotonic()
                yield json.loads(line)


def hostile(quick: bool) -> Figures:
    """What becomes of every rule; a worker that dies or hangs is replaced, and goes on after the rule."""
    counts: Counter[str] = Counter()
    slowest = 0.0
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        canary, file = Path(scratch) / "canary.txt", Path(scratch) / "rules.jsonl"
        canary.write_text(CANARY)
        waiting = dict(enumerate(rules(200 if quick else RULES, file=str(canary))))
        known = dict(waiting)
        while waiting:
            file.write_text("".join(json.dumps(one) + "\n" for one in waiting.items()))
            trying: list[int] = []
            for fact in Worker(file).facts():
                trying = fact.get("begin", trying)
                slowest = max(slowest, fact.get("seconds", 0.0))
                for number in _judged(fact, trying, known, counts):
                    waiting.pop(number, None)
            if not trying:
                raise RuntimeError("the worker does not start")
            for number in trying:
                waiting.pop(number, None)
        counts["escapes"] += not canary.exists()
    return {
        "rules": len(known),
        **{name: counts[name] for name in FIGURES[1:-1]},
        "slowest_batch_s": round(slowest, 1),
    }


def _judged(
    fact: dict[str, Any], trying: list[int], known: dict[int, Rule], counts: Counter[str]
) -> list[int]:
    """The rules that a fact decides, counted."""
    if "refused" in fact:
        counts["refused"] += 1
        return [fact["refused"]]
    if "accepted" in fact:
        counts["accepted"] += len(fact["accepted"])
        counts["escapes"] += len(fact["escaped"])
        for number in fact["escaped"]:
            say(f"escape     {known[number]}")
        return list(fact["accepted"])
    for name, figure in (
        ("failed", "batch_failures"),
        ("died", "worker_deaths"),
        ("late", "over_deadline"),
    ):
        if name in fact:
            counts[figure] += 1
            culprits = [fact[name]] if name == "failed" else trying
            say(f"{name:10} {[known[one] for one in culprits]} {fact.get('reason', '')}")
            return culprits
    return []


FIGURES = (
    *(
        "rules",
        "accepted",
        "refused",
        "escapes",
        "worker_deaths",
        "batch_failures",
        "over_deadline",
    ),
    "slowest_batch_s",
)
PARTS = {"rules": Measure(FIGURES, hostile)}

if __name__ == "__main__":
    run("gate", __doc__, PARTS)
