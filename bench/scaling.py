"""Scaling over recorded loads: `python -m bench.scaling`, with `ARRIVALS` a file of arrivals or a folder of them.

Each file is a contest of its own, walked forward. `within_objective`, `cost_vs_optimum`, `cost_vs_reactive` and
`actions_per_day` are of the longest one; `traces` has them for each, with the reactive rule beside them. Without
`ARRIVALS` they are the files of `shared/data/load` beside the clone; without that too, or with `--quick`, it is a load
made up of days, noise and sudden crowds.

`backlog_vs_reactive` is of a load that doubles within a minute on a real cluster: the most that waited with a forecast,
against the most with the reactive rule.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench._report import Figures, Measure, run, say
from bench._rising import rising
from weft.scaling.arrivals import Arrivals, read_arrivals
from weft.scaling.contest import contest, terms_for
from weft.scaling.policy import ScalingTerms

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "load"
"""Looked at where no file is given."""
MADE_DAYS = 7


def traces(quick: bool) -> Figures:
    """Everyone over every file."""
    found = {name: _figures(name, arrivals) for name, arrivals in _loads(quick).items()}
    longest = max(found.values(), key=lambda one: one["days"])
    named = ("within_objective", "cost_vs_optimum", "cost_vs_reactive", "actions_per_day")
    return {**{name: longest[name] for name in named}, "traces": found}


def _figures(name: str, arrivals: Arrivals) -> Figures:
    terms = terms_for(arrivals, ScalingTerms(cost_s=1.0))
    result = contest(arrivals, terms, say=lambda line: say(f"{name}: {line}"))
    ours, reactive = result.standing("weft"), result.standing("ds2")
    return {
        "days": round(result.intervals * terms.interval_s / 86_400, 2),
        "within_objective": round(ours.within, 5),
        "within_reactive": round(reactive.within, 5),
        "cost_vs_optimum": round(ours.vs_optimum, 3),
        "reactive_vs_optimum": round(reactive.vs_optimum, 3),
        "cost_vs_reactive": round(ours.hours / reactive.hours, 3),
        "actions_per_day": round(ours.actions_a_day, 1),
        "reactive_actions_per_day": round(reactive.actions_a_day, 1),
    }


def _loads(quick: bool) -> dict[str, Arrivals]:
    path = Path(os.environ.get("ARRIVALS") or BESIDE)
    if quick or not path.exists():
        return {"made": _made(2 if quick else MADE_DAYS)}
    files = sorted(path.glob("*.csv*")) if path.is_dir() else [path]
    return {file.name: read_arrivals(file) for file in files}


def _made(days: int) -> Arrivals:
    """Days with a crowd each, of which nobody is told."""
    random = np.random.default_rng(11)
    minutes = np.arange(days * 1440)
    mean = 4_000 * (1.3 + np.sin(2 * np.pi * minutes / 1440))
    for day in range(days):
        start = day * 1440 + int(random.integers(200, 1200))
        mean[start : start + 120] *= np.linspace(1, random.uniform(2, 6), 120)
    counts = random.poisson(mean * random.gamma(60, 1 / 60, len(minutes)))
    total = np.concatenate([[0.0], np.cumsum(counts)])
    return Arrivals(datetime(2026, 1, 1, tzinfo=UTC), 60.0, total)


if __name__ == "__main__":
    names = ("within_objective", "cost_vs_optimum", "cost_vs_reactive", "actions_per_day")
    run(
        "scaling",
        __doc__,
        {
            "traces": Measure((*names, "traces"), traces),
            "live": Measure(("backlog_vs_reactive", "rising"), rising),
        },
    )
