"""Windows against other engines: counts and sums of 4M events, rows per CPU second.

`python -m bench.windows [--quick] [--only spark,engines,floor,growth]`. Sides take turns, and count only when their
results are right. Engines that are not Spark run in throw-away environments; a figure is null where an engine cannot
be had.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

from bench._install import FLINK, InstallError, install
from bench._report import Figures, Measure, run, say
from bench._window_data import Case, events_in, expected
from tests.stack.servers import Kafka

ROOT = Path(__file__).resolve().parent.parent
EVENTS, QUICK_EVENTS = 4_000_000, 200_000
ROUNDS = {100_000: 1, 1_000: 3}
"""With many keys a run takes minutes, and the sides are far apart."""
GROWTH_ROUNDS = 3
LENGTHS = {"tumbling": (10_000, 10_000), "sliding": (60_000, 10_000)}
OURS = "weft"
SPARK = (OURS, "native", "python_state")
PACKAGES = {
    "bytewax": "bytewax==0.21.1",
    "pathway": "pathway==0.33.0",
    "quix": "quixstreams==3.28.1",
    "pyflink": FLINK,
}
# What other engines and Python's state need minutes for at full size, a part of the events shows.
PARTS = {"python_state": 40, "bytewax": 40, "pathway": 10, "quix": 10}
LIMIT_S = 1800


class SideError(Exception):
    """A side could not be run, or gave a wrong result."""


class Bench:
    """Runs sides over cases in a scratch folder, and keeps their rates."""

    def __init__(self, scratch: Path, events: int, servers: str = "") -> None:
        self._scratch = scratch
        self._events = events
        self._servers = servers
        self._pythons: dict[str, str] = {}
        self._rates: dict[tuple[str, str, int], float] = {}

    def on_spark(self, sides: tuple[str, ...], shape: str, keys: int, *, rounds: int) -> None:
        """Rows per CPU second of sides that take turns in one Spark session."""
        cases = [self._case(side, shape, keys) for side in sides]
        asked = {"do": "compare", "rounds": rounds, "folder": str(self._scratch)}
        asked["runs"] = [(s, case.to_dict()) for s, case in zip(sides, cases, strict=True)]
        for side, case, found in zip(sides, cases, ask(asked), strict=True):
            self._note(side, shape, case, found)

    def elsewhere(self, side: str, shape: str, keys: int) -> None:
        """Rows per CPU second of an engine that is not Spark."""
        case = self._case(side, shape, keys)
        folder = str(events_in(self._scratch, case))
        asked = {"side": side, "case": case.to_dict(), "folder": folder}
        if side not in self._pythons:
            place = self._scratch / f"venv-{side}"
            self._pythons[side] = install(place, "pyarrow", PACKAGES[side])
        asked["servers"] = self._servers
        found = execute(self._pythons[side], "_window_engines.py", asked, paths=[ROOT])
        self._note(side, shape, case, found)

    def ratio(self, side: str, shape: str | None = None) -> float | None:
        """Ours over theirs: the lowest over all cases that both ran."""
        ratios = [
            self._rates[OURS, each, keys] / rate
            for (name, each, keys), rate in self._rates.items()
            if name == side and shape in (None, each)
        ]
        return round(min(ratios), 2) if ratios else None

    def rates(self) -> dict[str, int]:
        """Rows per CPU second of each side and case."""
        return {
            f"{side}_{shape}_{keys}": round(rate)
            for (side, shape, keys), rate in self._rates.items()
        }

    def _case(self, side: str, shape: str, keys: int) -> Case:
        size, slide = LENGTHS[shape]
        return Case(self._events // PARTS.get(side, 1), keys, size, slide)

    def _note(self, side: str, shape: str, case: Case, found: dict[str, Any]) -> None:
        right = expected(case)
        if found["checksum"] != right:
            raise SideError(f"{side} gave {found['checksum']}, not {right}")
        rate = case.events / found["cpu_s"]
        self._rates[side, shape, case.keys] = rate
        say(f"{side:14}{case} {rate:12,.0f} rows per CPU second")


def ask(asked: dict[str, Any]) -> Any:
    """What Spark measures, in a process of its own."""
    return execute(sys.executable, "_window_spark.py", asked, paths=[ROOT, ROOT / "src"])["found"]


def execute(
    python: str, script: str, asked: dict[str, Any], *, paths: list[Path]
) -> dict[str, Any]:
    """The JSON object at the end of what a script prints."""
    answer = subprocess.run(
        [python, str(ROOT / "bench" / script), json.dumps(asked)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
    )
    lines = [line for line in answer.stdout.splitlines() if line.startswith("{")]
    if answer.returncode != 0 or not lines:
        raise SideError(f"{asked} failed: {answer.stderr[-1500:]}")
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def spark(quick: bool) -> Figures:
    """Ours over Spark's own aggregation, and over PySpark's transformWithState."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        bench = Bench(Path(scratch), QUICK_EVENTS if quick else EVENTS)
        for keys, shape in product(ROUNDS, LENGTHS):
            bench.on_spark(SPARK, shape, keys, rounds=1 if quick else ROUNDS[keys])
        return {
            "vs_python_state": bench.ratio("python_state"),
            "vs_native": bench.ratio("native", "tumbling"),
            "vs_native_sliding": bench.ratio("native", "sliding"),
            "spark_rates": bench.rates(),
        }


def engines(quick: bool) -> Figures:
    """Ours over engines that are not Spark; one that cannot be had or fails is left out."""
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="weft-bench-"))
        broker = Path(scratch) / "kafka"
        broker.mkdir()
        kafka = stack.enter_context(Kafka(broker))
        bench = Bench(Path(scratch), QUICK_EVENTS if quick else EVENTS, kafka.servers)
        for keys, shape in product(ROUNDS, LENGTHS):
            bench.on_spark((OURS,), shape, keys, rounds=1)
            for side in PACKAGES:
                try:
                    bench.elsewhere(side, shape, keys)
                except (SideError, InstallError, subprocess.SubprocessError) as error:
                    say(f"{side} is left out here: {error}")
        return {
            **{f"vs_{side}": bench.ratio(side) for side in PACKAGES},
            "engine_rates": bench.rates(),
        }


def floor(quick: bool) -> Figures:
    """The time of a small batch through one window, in one partition."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        return {"floor_ms": ask({"do": "floor", "folder": scratch})["p50_ms"]}


def growth(quick: bool) -> Figures:
    """The cost of a row with a million keys over that with a thousand, at the same number of panes."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        found = ask({"do": "growth", "folder": scratch, "rounds": 1 if quick else GROWTH_ROUNDS})
    few, many = (each["cpu_s"] for each in found)
    say(f"growth     {few:.1f} s CPU with few keys, {many:.1f} s with many")
    return {"key_growth": round(many / few, 2)}


FIGURES = {
    "spark": Measure(("vs_python_state", "vs_native", "vs_native_sliding", "spark_rates"), spark),
    "engines": Measure((*(f"vs_{side}" for side in PACKAGES), "engine_rates"), engines),
    "floor": Measure(("floor_ms",), floor),
    "growth": Measure(("key_growth",), growth),
}

if __name__ == "__main__":
    run("windows", __doc__, FIGURES)
