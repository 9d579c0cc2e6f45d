"""Anomalies, scored: `python -m bench.anomalies`, with `SERIES` a folder of labelled series and their `windows.json`.

`standard`, `low_fp` and `low_fn` are the scores of the Numenta Anomaly Benchmark, with one setting for all series;
`point_us` is the CPU time of one value, over 10,000 series in turn. Without `SERIES` they are those of
`shared/data/anomalies` beside the clone, if it is there.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from random import Random

from bench._report import Figures, Measure, run, say
from weft.anomalies.detector import Detector
from weft.anomalies.series import score_folder

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "anomalies"
"""Looked at where no folder is given."""
SERIES = 10_000
ROUNDS = 30


def scores(quick: bool) -> Figures:
    """The three profiles."""
    folder = Path(os.environ.get("SERIES") or BESIDE)
    if not folder.is_dir():
        say(f"There is no folder {folder}; name one in SERIES.")
        return {}
    found = score_folder(folder, folder / "windows.json").scores
    return dict(
        zip(("standard", "low_fp", "low_fn"), (round(one.score, 2) for one in found), strict=True)
    )


def cost(quick: bool) -> Figures:
    """Many series, a value each in turn, as they come once a second."""
    random = Random(1)
    detectors = [Detector() for _ in range(SERIES // 10 if quick else SERIES)]
    values = [random.gauss(100, 10) for _ in range(1_000)]
    began = time.process_time()
    for second in range(ROUNDS):
        for place, detector in enumerate(detectors):
            detector.observe(float(second), values[(place + second) % 1_000])
    spent = time.process_time() - began
    return {"point_us": round(spent / (ROUNDS * len(detectors)) * 1e6, 1)}


if __name__ == "__main__":
    parts = {
        "scores": Measure(("standard", "low_fp", "low_fn"), scores),
        "cost": Measure(("point_us",), cost),
    }
    run("anomalies", __doc__, parts)
