"""The options that say what executors can do and what is asked of them; shared by the commands of `weft scaling`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from weft.cli.terminal import Terminal
    from weft.scaling.arrivals import Arrivals
    from weft.scaling.policy import ScalingTerms

AS_NOW = 1.0
START_UP_S = 60.0
LONGEST_S = 366 * 86_400.0
"""Nothing that is asked of scaling takes longer than a year."""
RATES = (1e-6, 1e12)
"""Records a second: from one in eleven days to more than anything serves."""
FACTORS = (1e-6, 1e6)
"""How many times as much of something there may be."""
SHORTEST_INTERVAL_S = 0.1
MOST_EXECUTORS = 100_000
"""As many as scaling plans with; naming its own would have every command load it."""


def terms_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what executors can do and what is asked of them."""
    options = [
        click.option(
            "--capacity",
            type=click.FloatRange(*RATES),
            metavar="RATE",
            help="Records a second that one executor serves.  [default: an eighth of the 99th "
            "percentile of a file; of a pipeline what was measured]",
        ),
        click.option(
            "--start-up",
            type=click.FloatRange(0, LONGEST_S),
            default=START_UP_S,
            show_default=True,
            metavar="SECONDS",
            help="From asking for an executor to its first record.",
        ),
        click.option(
            "--objective",
            type=click.FloatRange(0, LONGEST_S, min_open=True),
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="No record may wait longer.",
        ),
        click.option(
            "--interval",
            type=click.FloatRange(SHORTEST_INTERVAL_S, LONGEST_S),
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="From one decision to the next.",
        ),
        click.option(
            "--minimum",
            type=click.IntRange(1, MOST_EXECUTORS),
            default=1,
            show_default=True,
            metavar="N",
            help="Executors that are always there.",
        ),
        click.option(
            "--maximum",
            type=click.IntRange(1, MOST_EXECUTORS),
            metavar="N",
            help="Executors at most.",
        ),
        click.option(
            "--budget",
            type=click.FloatRange(min=0, min_open=True),
            metavar="HOURS",
            help="Executor-hours that a day may cost.",
        ),
        click.option(
            "--form",
            type=click.Choice(["auto", "counts", "arrivals"]),
            default="auto",
            show_default=True,
            help="Whether a line of the file is a count of records or one record.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def recorded(
    terminal: Terminal, pipeline: str, *, rule: str | None = None, **said: Any
) -> tuple[Arrivals, ScalingTerms, float]:
    """The load of a pipeline by the minute, terms for it, and how many times as much a record costs with a rule.

    An executor serves what was measured, and starts as quickly as was seen, where nothing else is said.
    """
    from dataclasses import replace

    from weft.scaling.arrivals import from_rates

    found = terminal.get("/scaling/history", pipeline=pipeline, step="1m")
    cost = terminal.get("/scaling/cost", pipeline=pipeline, rule=rule)
    rates = {row["start_s"]: row["mean"].get("rate_in", 0.0) for row in found["rows"]}
    arrivals = from_rates(rates, step_s=found["step_s"])
    terms = asked(**said)
    if said["capacity"] is None:
        terms = replace(terms, cost_s=cost["core_s"] / cost["cores_each"] / cost["usable"])
    if cost["start_up_s"] is not None and said["start_up"] == START_UP_S:
        terms = replace(terms, start_up_s=cost["start_up_s"])
    more = cost["core_s_with"]
    return arrivals, terms, AS_NOW if more is None else more / cost["core_s"]


def given(file: Path, *, form: Any, **said: Any) -> tuple[Arrivals, ScalingTerms]:
    """The arrivals of a file, and terms for them."""
    from weft.scaling.arrivals import read_arrivals
    from weft.scaling.contest import terms_for
    from weft.scaling.simulator import FINEST, MOST_INTERVALS

    terms = asked(form=form, **said)
    arrivals = read_arrivals(
        file,
        form=form,
        step_s=terms.interval_s / FINEST,
        longest_s=terms.interval_s * MOST_INTERVALS,
    )
    fitted = terms_for(arrivals, terms)
    return arrivals, terms if said["capacity"] is not None else fitted


def asked(
    *,
    capacity: float | None,
    start_up: float,
    objective: float,
    interval: float,
    minimum: int,
    maximum: int | None,
    budget: float | None,
    form: str,
) -> ScalingTerms:
    """The terms that were said; without a capacity a record takes a second."""
    from weft.scaling.policy import ScalingTerms

    return ScalingTerms(
        cost_s=1 / capacity if capacity else AS_NOW,
        start_up_s=start_up,
        objective_s=objective,
        interval_s=interval,
        minimum=minimum,
        maximum=maximum or MOST_EXECUTORS,
        hours_a_day=budget,
    )
