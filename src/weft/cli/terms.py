"""The options that say what executors can do and what is asked of them; shared by the commands of `weft scaling`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from weft.scaling.arrivals import Arrivals
    from weft.scaling.policy import ScalingTerms

AS_NOW = 1.0


def terms_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what executors can do and what is asked of them."""
    above = click.FloatRange(min=0, min_open=True)
    options = [
        click.option(
            "--capacity",
            type=above,
            metavar="RATE",
            help="Records a second that one executor serves.  [default: an eighth of the 99th "
            "percentile of the arrivals]",
        ),
        click.option(
            "--start-up",
            type=click.FloatRange(min=0),
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="From asking for an executor to its first record.",
        ),
        click.option(
            "--objective",
            type=above,
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="No record may wait longer.",
        ),
        click.option(
            "--interval",
            type=above,
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="From one decision to the next.",
        ),
        click.option(
            "--minimum",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            metavar="N",
            help="Executors that are always there.",
        ),
        click.option(
            "--maximum",
            type=click.IntRange(min=1),
            metavar="N",
            help="Executors at most.",
        ),
        click.option(
            "--budget",
            type=above,
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


def given(file: Path, *, form: Any, **said: Any) -> tuple[Arrivals, ScalingTerms]:
    """The arrivals of a file, and terms for them."""
    from weft.scaling.arrivals import read_arrivals
    from weft.scaling.contest import terms_for

    step_s = said["interval"] / 12
    arrivals = read_arrivals(file, form=form, step_s=step_s)
    terms = asked(form=form, **said)
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
    from weft.scaling.policy import MOST_EXECUTORS, ScalingTerms

    return ScalingTerms(
        cost_s=1 / capacity if capacity else AS_NOW,
        start_up_s=start_up,
        objective_s=objective,
        interval_s=interval,
        minimum=minimum,
        maximum=maximum or MOST_EXECUTORS,
        hours_a_day=budget,
    )
