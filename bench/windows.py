"""Windows against other engines: counts and sums of 4M events, rows per CPU second.

`python bench/windows.py [--events N] [--rounds N] [--sides A,B]`; the last line is one JSON object.
Sides alternate, each run in a process of its own, and a run counts only when its results are right.
Engines that are not Spark run in throw-away environments, and are null where they cannot be had.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.window_data import Case, expected, write
from bench.window_engines import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
LENGTHS = {"tumbling": (10_000, 10_000), "sliding": (60_000, 10_000)}
KEYS = (100_000, 1_000)
OURS = "weft"
SPARK = (OURS, "native", "python_state")
OTHERS = ("bytewax", "pathway", "quix", "pyflink")
# What other engines and Python's state need minutes for at full size, a part of the events shows.
PARTS = {"python_state": 20, "bytewax": 10, "pathway": 10}
GROWTH_KEYS = (1_000, 1_000_000)
LIMIT_S = 1800


class SideError(Exception):
    """A side could not be run, or gave a wrong result."""


class Bench:
    """Runs sides over cases in a scratch folder, and keeps their rates."""

    def __init__(self, scratch: Path, events: int) -> None:
        self._scratch = scratch
        self._events = events
        self._expected: dict[Case, list[int]] = {}
        self._pythons: dict[str, str | None] = {}
        self.rates: dict[tuple[str, str, int], list[float]] = {}

    def rate(self, side: str, shape: str, keys: int) -> float | None:
        """Rows per CPU second of one run, or None where the side cannot run here."""
        size, slide = LENGTHS[shape]
        case = Case(self._events // PARTS.get(side, 1), keys, size, slide)
        folder = self._scratch / f"{case.events}-{keys}"
        write(case, folder)
        python = self._python(side)
        if python is None:
            return None
        result = self._run(python, {"side": side, "case": case.to_dict(), "folder": str(folder)})
        if case not in self._expected:
            self._expected[case] = expected(case)
        if result["checksum"] != self._expected[case]:
            raise SideError(f"{side} gave {result['checksum']}, not {self._expected[case]}")
        rows: float = case.events / result["cpu_s"]
        self.rates.setdefault((side, shape, keys), []).append(rows)
        say(f"{side:14}{case} {rows:12,.0f} rows per CPU second")
        return rows

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        """Something else that the Spark side measures."""
        return self._run(sys.executable, {"side": what, "folder": str(self._scratch), **more})

    def ratio(self, side: str, shape: str | None = None) -> float | None:
        """Ours over theirs: the lowest of the ratios of medians over all cases that both ran."""
        ratios = []
        for (name, each, keys), rates in self.rates.items():
            ours = self.rates.get((OURS, each, keys))
            if name == side and ours and shape in (None, each):
                ratios.append(statistics.median(ours) / statistics.median(rates))
        return round(min(ratios), 2) if ratios else None

    def _run(self, python: str, asked: dict[str, Any]) -> dict[str, Any]:
        script = "window_engines.py" if asked["side"] in OTHERS else "window_spark.py"
        paths = [str(ROOT), *([] if asked["side"] in OTHERS else [str(ROOT / "src")])]
        answer = subprocess.run(
            [python, str(ROOT / "bench" / script), json.dumps(asked)],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        lines = [line for line in answer.stdout.splitlines() if line.startswith("{")]
        if answer.returncode != 0 or not lines:
            raise SideError(f"{asked['side']} failed: {answer.stderr[-1500:]}")
        result: dict[str, Any] = json.loads(lines[-1])
        return result

    def _python(self, side: str) -> str | None:
        """The interpreter that has a side's engine, in an environment made for it when needed."""
        if side in SPARK:
            return sys.executable
        if side not in self._pythons:
            self._pythons[side] = self._install(side) if side in PACKAGES else None
        return self._pythons[side]

    def _install(self, side: str) -> str | None:
        uv = shutil.which(
            "uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        )
        place = self._scratch / f"venv-{side}"
        if uv is None:
            return None
        made = subprocess.run([uv, "venv", "-q", str(place)], capture_output=True, check=False)
        python = str(place / "bin" / "python")
        install = [uv, "pip", "install", "-q", "--python", python, "pyarrow", *PACKAGES[side]]
        got = subprocess.run(install, capture_output=True, check=False)
        return python if made.returncode == 0 and got.returncode == 0 else None


def say(line: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def measure(events: int, rounds: int, sides: list[str]) -> dict[str, Any]:
    """All figures of this bench."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        bench = Bench(Path(scratch), events)
        failed: dict[str, str] = {}
        for keys in KEYS:
            for shape in LENGTHS:
                for _ in range(rounds):
                    for side in sides:
                        if side in failed:
                            continue
                        try:
                            bench.rate(side, shape, keys)
                        except (SideError, subprocess.TimeoutExpired) as error:
                            failed[side] = str(error)
                            say(f"{side} is left out: {error}")
        growth = [bench.ask("growth", keys=keys)["cpu_s"] for keys in GROWTH_KEYS]
        return {
            "vs_python_state": bench.ratio("python_state"),
            "vs_native": bench.ratio("native", "tumbling"),
            "vs_native_sliding": bench.ratio("native", "sliding"),
            **{f"vs_{side}": bench.ratio(side) for side in OTHERS},
            "floor_ms": bench.ask("floor")["p50_ms"],
            "key_growth": round(growth[1] / growth[0], 2),
            "rates": {
                f"{side}_{shape}_{keys}": round(statistics.median(rates))
                for (side, shape, keys), rates in bench.rates.items()
            },
        }


def main() -> None:
    """Print the figures as one JSON object on the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sides", default=",".join((*SPARK, *OTHERS)))
    asked = parser.parse_args()
    began = time.monotonic()
    figures = measure(asked.events, asked.rounds, asked.sides.split(","))
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    seconds = round(time.monotonic() - began, 1)
    told = {"bench": "windows", "figures": figures, "machine": machine, "seconds": seconds}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
