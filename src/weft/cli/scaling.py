"""`weft scaling`: how many executors there should be, tried on arrivals that were recorded."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Group, asks_weaver
from weft.cli.project import read_project
from weft.cli.terminal import Terminal
from weft.cli.terms import (
    AS_NOW,
    FACTORS,
    LONGEST_S,
    MOST_EXECUTORS,
    RATES,
    asked,
    given,
    recorded,
    terms_options,
)

if TYPE_CHECKING:
    from weft.cli.output import Printer
    from weft.scaling.arrivals import Arrivals


arrivals_option = click.option(
    "--arrivals",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="CSV, also gzipped: a time and a count a line, or a line a record with its time first.",
)
pipeline_option = click.option(
    "--pipeline",
    metavar="PIPELINE",
    help="The load of a pipeline as it was measured by the minute, of a week at most.",
)


@click.group(cls=Group)
def scaling() -> None:
    """Scaling: how many executors a load needs."""


@scaling.command()
@click.argument("pipeline", metavar="PIPELINE")
@click.option(
    "--step",
    type=click.Choice(["5s", "1m", "15m"]),
    default="1m",
    show_default=True,
    help="How much time is one column.",
)
@asks_weaver
def history(terminal: Terminal, pipeline: str, step: str) -> None:
    """Draw the load of a pipeline over time: rates, backlog, batch times, cost, executors, lag of the watermark.

    Steps of five seconds are kept for an hour, minutes for a week, quarters of an hour for ninety days.
    """
    from weft.cli.chart import render_load

    terminal.show(terminal.get("/scaling/history", pipeline=pipeline, step=step), render_load)


@scaling.command()
@click.option("--worker", metavar="WORKER", help="Of this worker alone.")
@click.option(
    "--limit",
    type=click.IntRange(1, 5_000),
    default=30,
    show_default=True,
    metavar="N",
    help="How many of the last ones.",
)
@asks_weaver
def decisions(terminal: Terminal, worker: str | None, limit: int) -> None:
    """How many executors there should have been, why, and what came of it, newest first."""
    found = terminal.get("/scaling/decisions", worker=worker, limit=limit)
    terminal.show(found, _render_decisions)


@scaling.command()
@arrivals_option
@pipeline_option
@terms_options
@click.option(
    "--initial",
    type=click.IntRange(1, MOST_EXECUTORS),
    metavar="N",
    help="Executors at the beginning.  [default: the minimum]",
)
@click.option(
    "--calendar",
    "project",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A project file with a calendar that forecasts look at.  [default: none]",
)
@asks_weaver
def contest(
    terminal: Terminal,
    /,
    file: Path | None,
    pipeline: str | None,
    initial: int | None,
    project: Path | None,
    **said: Any,
) -> None:
    """Play every model and policy over a recorded load or a file of arrivals, and see what each would have cost.

    Beside them stand the reactive rule (ds2), as many executors as the peak needs, and the least that would have been
    enough had one known. `weft` is what Weft does: a model acts only while it did better than the reactive rule in the
    days before. Nobody sees what has not come yet.
    """
    from weft.codec import to_form
    from weft.scaling.contest import contest as play_all

    if (file is None) == (pipeline is None):
        raise click.UsageError("Say whose load: --pipeline PIPELINE, or --arrivals FILE.")
    if file is not None:
        arrivals, terms = given(file, **said)
    else:
        assert pipeline is not None
        arrivals, terms, _ = recorded(terminal, pipeline, **said)
    calendar = read_project(project).processing.scaling.calendar if project else {}
    with terminal.wait("Playing everyone over the arrivals"):
        found = play_all(arrivals, terms, calendar=calendar, initial=initial)
    form = to_form(found)
    form |= {
        "of": pipeline or str(file),
        "start": arrivals.start.isoformat(),
        "missing": arrivals.missing,
        **_load(arrivals),
    }
    form["capacity"] = 1 / terms.cost_s
    terminal.show(form, _render_contest)


@scaling.command("what-if")
@arrivals_option
@pipeline_option
@click.option(
    "--rate",
    metavar="RATE",
    help="Records a second; or xN for N times those of --pipeline or --arrivals.",
)
@click.option(
    "--rule",
    metavar="RULE",
    help="With this rule on --pipeline: one that was attached once, wherever.",
)
@click.option(
    "--for",
    "seconds",
    type=click.FloatRange(min=2, max=LONGEST_S),
    default=3600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a given rate goes on.",
)
@click.option(
    "--cost",
    type=click.FloatRange(*FACTORS),
    default=AS_NOW,
    show_default=True,
    metavar="N",
    help="A record takes N times as long as now, as with one more rule.",
)
@click.option(
    "--executors",
    type=click.IntRange(1, MOST_EXECUTORS),
    metavar="N",
    help="Always so many.  [default: as many as the reactive rule says]",
)
@terms_options
@asks_weaver
def ask(
    terminal: Terminal,
    /,
    file: Path | None,
    pipeline: str | None,
    rate: str | None,
    rule: str | None,
    seconds: float,
    cost: float,
    executors: int | None,
    **said: Any,
) -> None:
    """Say how a load would be served: when it breaks the objective, how long records wait, and what is enough."""
    from weft.codec import to_form
    from weft.scaling.arrivals import steady
    from weft.scaling.what_if import what_if

    factor, number = _rate(rate)
    if [file, pipeline, number].count(None) != 2:
        raise click.UsageError(
            "Say what comes: --pipeline PIPELINE or --arrivals FILE, each with or without --rate xN, "
            "or --rate RATE."
        )
    if rule is not None and pipeline is None:
        raise click.UsageError("What a rule costs is known of a --pipeline.")
    if pipeline is not None:
        arrivals, terms, dearer = recorded(terminal, pipeline, rule=rule, **said)
        arrivals, cost = arrivals.scaled(factor), cost * dearer
    elif file is not None:
        arrivals, terms = given(file, **said)
        arrivals = arrivals.scaled(factor)
    else:
        if said["capacity"] is None:
            raise click.UsageError("A rate needs --capacity: what one executor serves.")
        assert number is not None
        arrivals = steady(number, seconds=seconds, start=datetime.now(UTC))
        terms = asked(**said)
    terms = replace(terms, cost_s=terms.cost_s * cost)
    found = to_form(what_if(arrivals, terms, executors=executors))
    load = {"objective_s": terms.objective_s, **_load(arrivals)}
    terminal.show(found | load, _render_answer)


def _load(arrivals: Arrivals) -> dict[str, Any]:
    """What was read: how many records, over how long, and whether each or how many of them had a line."""
    return {
        "records": float(arrivals.total[-1]),
        "span_s": arrivals.span_s,
        "form": arrivals.form,
        "step_s": arrivals.step_s,
        "start": arrivals.start.isoformat(),
    }


def _came(found: dict[str, Any]) -> str:
    """A load in a few words."""
    from weft.cli.output import moment

    read = f"counted every {found['step_s']:g} s" if found["form"] == "counts" else "one a line"
    hours = found["span_s"] / 3600
    return (
        f"{found['records']:,.0f} records ({read}) in {hours:,.1f} h from {moment(found['start'])}"
    )


def _rate(text: str | None) -> tuple[float, float | None]:
    """A factor, and a rate where one was given."""
    if text is None:
        return 1.0, None
    try:
        number = float(text.removeprefix("x"))
    except ValueError:
        number = math.nan
    is_factor = text.startswith("x")
    least, most = FACTORS if is_factor else RATES
    if not least <= number <= most:
        raise click.BadParameter(
            f"'{text}' is no rate; say 250, or x2. Rates are from {RATES[0]:g} to {RATES[1]:g}, "
            f"and what they are multiplied with is from {FACTORS[0]:g} to {FACTORS[1]:g}.",
            param_hint="--rate",
        )
    return (number, None) if is_factor else (1.0, number)


def _render_decisions(output: Printer, found: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment

    output.table(
        [
            "AT",
            "HAD",
            "WANTED",
            "ACTED",
            "EXPECTED",
            "CAME",
            "LAG S",
            "KEPT",
            "BY",
            "REASON",
            "WORKER",
        ],
        (
            [
                moment(one["at"]),
                one["had"],
                one["wanted"],
                "yes" if one["acted"] else "",
                None if one["expected"] is None else round(one["expected"], 2),
                None if one["judged"] is None else round(one["judged"]["came"], 2),
                None if one["judged"] is None else round(one["judged"]["lag_s"], 1),
                None if one["judged"] is None else one["judged"]["verdict"],
                one["model"] or one["by"],
                one["reason"],
                one["worker"],
            ]
            for one in found
        ),
        empty="Nothing was decided yet. A worker that has run for a minute is decided for.",
        optional=("EXPECTED", "CAME", "LAG S", "KEPT", "WORKER"),
        gives=("REASON", "WORKER"),
    )


def _render_contest(output: Printer, found: dict[str, Any]) -> None:
    days = found["intervals"] * found["terms"]["interval_s"] / 86_400
    output.line(f"{_came(found)}.")
    output.line(
        f"{days:.1f} days are played; an executor serves {found['capacity']:.4g} a second; "
        f"the optimum is {found['optimum_hours']:,.1f} executor-hours."
    )
    output.line()
    output.table(
        ["CONTESTANT", "WITHIN %", "HOURS", "VS OPTIMUM", "ACTIONS A DAY", "LAG S", "ACTED %"],
        (
            [
                one["name"],
                round(one["within"] * 100, 3),
                round(one["hours"], 1),
                round(one["vs_optimum"], 3),
                round(one["actions_a_day"], 1),
                round(one["longest_lag_s"]),
                "" if one["acted"] is None else f"{one['acted'] * 100:.1f}",
            ]
            for one in found["standings"]
        ),
        empty="Nobody took part.",
    )


def _render_answer(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.output import moment

    broken = found["breaks_at"]
    output.fields(
        {
            "what comes": _came(found),
            "executors": found["executors"] or "as the reactive rule says",
            "within objective": f"{found['within'] * 100:.2f} % of the time",
            "longest lag": f"{found['longest_lag_s']:.0f} s",
            "breaks": moment(broken) if broken else "never",
            "back": moment(found["back_at"]) if found["back_at"] else ("never" if broken else None),
            "executor-hours": f"{found['hours']:,.1f}, at best {found['optimum_hours']:,.1f}",
            "always enough": found["enough"] or "no number",
        }
    )
