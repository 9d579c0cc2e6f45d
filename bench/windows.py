"""Windows against other engines: counts and sums of 4M events, rows per CPU second, results compared first.

`python bench/windows.py [--events N] [--rounds N] [--only SIDE,...]`; the last line is one JSON object. Sides run in
processes of their own, alternating; engines that are not Spark run where they can be installed, and are null otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.window_data import Case, expected, write

HERE = Path(__file__).resolve().parent
TUMBLING = {"size_ms": 10_000, "slide_ms": 10_000}
SLIDING = {"size_ms": 60_000, "slide_ms": 10_000}
OTHERS = ("bytewax", "pathway", "quix", "pyflink")
FLOOR_BATCHES = 60


def run_side(
    side: str, case: Case, folder: Path, *, python: str = sys.executable
) -> dict[str, Any]:
    """One side's run over one case, in a process of its own: CPU seconds and a checksum of its
    results.
    """
    script = HERE / ("window_engines.py" if side in OTHERS else "window_spark.py")
    asked = json.dumps({"side": side, "case": case.to_dict(), "folder": str(folder)})
    answer = subprocess.run(
        [python, str(script), asked],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
        cwd=HERE.parent,
        env={**os.environ, "PYTHONPATH": f"{HERE.parent / 'src'}{os.pathsep}{HERE.parent}"},
    )
    lines = [line for line in answer.stdout.splitlines() if line.startswith("{")]
    if answer.returncode != 0 or not lines:
        raise RuntimeError(f"{side} failed: {answer.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def rate(side: str, case: Case, folder: Path, rounds: int) -> float:
    """Rows per CPU second: the median of the rounds, counted only when the results are right."""
    wanted = expected(case)
    rates = []
    for _ in range(rounds):
        result = run_side(side, case, folder)
        if result["checksum"] != wanted:
            raise RuntimeError(f"{side} gave {result['checksum']} for {case}, not {wanted}")
        rates.append(case.events / result["cpu_s"])
        say(f"{side:14} {case} {rates[-1]:12,.0f} rows per CPU second")
    return statistics.median(rates)


def say(line: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def compare(events: int, rounds: int, sides: list[str]) -> dict[str, Any]:
    """All figures of this bench."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        rates: dict[tuple[str, str, int], list[float]] = {}
        for keys in (100_000, 1_000):
            folder = Path(scratch) / str(keys)
            for shape, lengths in (("tumbling", TUMBLING), ("sliding", SLIDING)):
                case = Case(events=events, keys=keys, **lengths)
                write(case, folder)
                for _ in range(rounds):
                    for side in sides:
                        rates.setdefault((side, shape, keys), []).append(
                            rate(side, case, folder, 1)
                        )
        medians = {key: statistics.median(values) for key, values in rates.items()}
        figures["rates"] = {
            f"{s}_{shape}_{keys}": round(v) for (s, shape, keys), v in medians.items()
        }
    return figures


def main() -> None:
    """Print the figures as one JSON object on the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="weft,native")
    asked = parser.parse_args()
    began = time.monotonic()
    figures = compare(asked.events, asked.rounds, asked.only.split(","))
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    sys.stdout.write(
        json.dumps(
            {
                "bench": "windows",
                "figures": figures,
                "machine": machine,
                "seconds": round(time.monotonic() - began, 1),
            }
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
