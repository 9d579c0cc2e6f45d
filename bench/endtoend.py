"""Whole jobs by whole process trees: ours under `weft up`, PySpark and Delta by hand, Flink SQL.

`python -m bench.endtoend [--quick] [--only files,kafka]`. Events in files go through windows into a durable table. CPU
seconds and wall time count from the start of the first process to the last result, theirs over ours. From topic to
topic it is the time until a pane can be read. Sides take turns, and a side with a wrong result ends the bench.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench import _endtoend_data as data
from bench._endtoend_kafka import (
    FlinkTopics,
    KafkaSide,
    SparkTopics,
    WeftTopics,
    figures,
    latencies,
    summed_up,
)
from bench._endtoend_sides import Flink, Side, Spent, Stock, Weft, run_side
from bench._install import FLINK, FLINK_KAFKA, fetch, install
from bench._report import Figures, Measure, run, say
from bench._window_data import Case

KEYS = 100_000
EVENTS, QUICK_EVENTS = 4_000_000, 200_000
ROUNDS = 3
SHAPES = {"": (10_000, 10_000), "_sliding": (60_000, 10_000)}
"""Lengths of windows, by what the names of their figures end with."""
OURS = "weft"
OTHERS = ("spark", "flink_rocksdb", "flink_heap")


def files(quick: bool) -> Figures:
    """What each side takes for events that are all there from the start."""
    found: Figures = {}
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as place:
        scratch = Path(place)
        python = install(scratch / "flink", FLINK)
        sides: dict[str, Side] = {
            OURS: Weft(),
            "spark": Stock(),
            "flink_rocksdb": Flink(python, "rocksdb"),
            "flink_heap": Flink(python, "hashmap"),
        }
        for ending, lengths in SHAPES.items():
            case = Case(QUICK_EVENTS if quick else EVENTS, KEYS, *lengths)
            taken = alternate(sides, case, scratch, rounds=1 if quick else ROUNDS)
            found |= {name + ending: value for name, value in compare(taken).items()}
    return found


def topics(quick: bool) -> Figures:
    """How long after it could be a pane is out, from topic to topic at a fixed rate."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as place:
        scratch = Path(place)
        python = install(scratch / "flink", FLINK)
        connector = fetch(scratch / "connector", FLINK_KAFKA)
        sides: dict[str, KafkaSide] = {
            OURS: WeftTopics(),
            "spark": SparkTopics(),
            "flink": FlinkTopics(python, connector),
        }
        taken: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(1 if quick else ROUNDS):
            for name, side in sides.items():
                found = latencies(side, scratch / f"{name}-{turn}", quick=quick)
                summed_up(name, found)
                taken[name] += found
    return figures(taken)


def alternate(
    sides: Mapping[str, Side], case: Case, scratch: Path, *, rounds: int
) -> dict[str, Spent]:
    """The medians of each side, turn by turn."""
    events = scratch / "events"
    if not events.exists():
        data.write(case, events)
    wanted = data.expected(case)
    taken: dict[str, list[Spent]] = {name: [] for name in sides}
    for turn in range(rounds):
        for name, side in sides.items():
            root = scratch / f"{name}-{turn}"
            spent = run_side(side, root, events, case, wanted)
            shutil.rmtree(root)
            taken[name].append(spent)
            load = os.getloadavg()[0]
            say(f"{case} {name:14} {spent.cpu_s:6.1f} s CPU {spent.wall_s:6.1f} s, load {load:.0f}")
    return {
        name: Spent(
            statistics.median(spent.cpu_s for spent in all_spent),
            statistics.median(spent.wall_s for spent in all_spent),
        )
        for name, all_spent in taken.items()
    }


def compare(taken: Mapping[str, Spent]) -> Figures:
    """Ours in seconds, and theirs over ours."""
    ours = taken[OURS]
    found: Figures = {"cpu_s": round(ours.cpu_s, 1), "wall_s": round(ours.wall_s, 1)}
    for name in OTHERS:
        found[f"cpu_vs_{name}"] = round(taken[name].cpu_s / ours.cpu_s, 2)
        found[f"wall_vs_{name}"] = round(taken[name].wall_s / ours.wall_s, 2)
    return found


FIGURES = tuple(
    name + ending
    for ending in SHAPES
    for name in (
        "cpu_s",
        "wall_s",
        *(f"{kind}_vs_{side}" for side in OTHERS for kind in ("cpu", "wall")),
    )
)
KAFKA_FIGURES = (
    "kafka_p50_ms",
    "kafka_p99_ms",
    *(f"kafka_{part}_vs_{side}" for side in ("spark", "flink") for part in ("p50", "p99")),
)
PARTS = {"files": Measure(FIGURES, files), "kafka": Measure(KAFKA_FIGURES, topics)}

if __name__ == "__main__":
    run("endtoend", __doc__, PARTS)
