"""What it costs to write down what was done to records: nothing per record, a share of them, all of them.

`python -m bench.provenance [--quick] [--only modes,again]`. JSON records of 12 columns go through 4 steps into a
stream, in one pass; figures are the CPU time of all processes over that of the same without any hashes. Sides take
turns in one worker. `again` asks a long stream about its past.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

from bench._again import again
from bench._ingest import STREAM, Turn, hashes, take_turn, write_records
from bench._report import Figures, Measure, run, say
from weft.project.provenance import PROVENANCE
from weft.runtime import session

ROUNDS = 5
SIDES = {"none": "lazy", "lazy": "lazy", "sampled": {"sampled": 0.01}, "full": "full"}


def modes(quick: bool) -> Figures:
    """The time of each mode over that without hashes, turn by turn."""
    files, rows, rounds = (2, 50_000, 1) if quick else (4, 500_000, ROUNDS)
    taken: dict[str, list[Turn]] = {side: [] for side in SIDES}
    spark = session.create("local[2]", app="bench", conf={"spark.driver.memory": "3g"})
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
        records = write_records(Path(scratch) / "records", files=files, rows=rows)
        for number in range(rounds + 1):
            for side, provenance in SIDES.items():
                root = Path(scratch) / f"{side}-{number}"
                with hashes(side != "none"):
                    turn = take_turn(spark, root, records, rows=rows, provenance=provenance)
                shutil.rmtree(root)
                _check(side, turn, files * rows)
                say(f"{side:8} {turn.wall_s:6.1f} s  {turn.cpu_s:6.1f} CPU s  {turn.rows}")
                if number:  # the first round warms up
                    taken[side].append(turn)
    session.stop(spark)
    return _figures(taken)


def _check(side: str, turn: Turn, records: int) -> None:
    """Refuse to compare sides that did not do their work."""
    told = turn.rows.get(f"{STREAM}{PROVENANCE}", 0)
    expected = {
        "full": range(records, records + 1),
        "sampled": range(records // 200, records // 50),
    }
    if told not in expected.get(side, range(1)) or not 0 < turn.rows[STREAM] < records:
        raise RuntimeError(f"{side} wrote {turn.rows} of {records} records")


def _figures(taken: dict[str, list[Turn]]) -> Figures:
    figures: Figures = {}
    for side in ("lazy", "sampled", "full"):
        pairs = list(zip(taken[side], taken["none"], strict=True))
        cpu = statistics.median(turn.cpu_s / none.cpu_s for turn, none in pairs)
        wall = statistics.median(turn.wall_s / none.wall_s for turn, none in pairs)
        figures |= {side: round(cpu, 3), f"{side}_wall": round(wall, 3)}
    return figures


FIGURES = ("lazy", "sampled", "full", "lazy_wall", "sampled_wall", "full_wall")
PARTS = {
    "modes": Measure(FIGURES, modes),
    "again": Measure(("explain_s", "replay_ratio"), again),
}

if __name__ == "__main__":
    run("provenance", __doc__, PARTS)
