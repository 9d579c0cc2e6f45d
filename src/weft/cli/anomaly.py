"""`weft anomaly`: what is unusual about streams, and how well it is found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Group, asks_weaver, pass_terminal
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.group(cls=Group)
def anomaly() -> None:
    """Anomalies: values of a series that are unusual."""


@anomaly.command("list")
@click.option("--stream", help="Of this stream alone.")
@click.option("--limit", default=20, show_default=True, help="How many at most, the newest first.")
@asks_weaver
def list_anomalies(terminal: Terminal, stream: str | None, limit: int) -> None:
    """Knots whose rate, batch time, lag or shares are unusual, the newest first."""
    terminal.show(terminal.get("/anomalies", stream=stream, limit=limit), _render_list)


@anomaly.command()
@click.argument("id")
@asks_weaver
def accept(terminal: Terminal, id: str) -> None:
    """Say that something was not an anomaly: what deviates about as much is not told again."""
    found = terminal.post(path_to("anomalies", id, "accept"), doing="Noting")
    terminal.show(found, lambda output, one: output.line(f"{one['id']} is taken for usual."))


@anomaly.command()
@click.option(
    "--series",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="CSV files with a time and a value a line.",
)
@click.option(
    "--windows",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="JSON: for each file below DIR the first and last times of its anomalies.",
)
@pass_terminal
def score(terminal: Terminal, folder: Path, windows: Path) -> None:
    """Score the detector on labelled series, as the Numenta Anomaly Benchmark does.

    Every series is watched from its beginning, with the same settings. 0 is what one scores who says nothing, 100 who
    finds every window at its first row and nothing else.
    """
    from weft.anomalies.series import score_folder
    from weft.codec import to_form

    with terminal.wait("Watching the series"):
        found = to_form(score_folder(folder, windows))
    terminal.show(found, _render_score)


def _render_list(output: Printer, found: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment

    output.table(
        ["ANOMALY", "AT", "LIKELIHOOD", "WHAT"],
        (
            [
                one["id"],
                moment(one["at"], brief=output.is_narrow),
                f"{one['likelihood']:.2f}" + (" (accepted)" if one["accepted"] else ""),
                one["text"],
            ]
            for one in found
        ),
        empty="Nothing was unusual.",
        gives=["WHAT"],
    )


def _render_score(output: Printer, found: dict[str, Any]) -> None:
    output.line(f"{found['series']} series, {found['rows']:,} rows.")
    if found["missing"]:
        output.line(f"Not there, and not scored: {', '.join(found['missing'])}.", style="dim")
    output.line()
    output.table(
        ["PROFILE", "SCORE", "THRESHOLD", "FOUND", "WINDOWS", "FALSE ALARMS"],
        (
            [
                one["profile"],
                round(one["score"], 2),
                round(one["threshold"], 4),
                one["found"],
                one["windows"],
                one["false_alarms"],
            ]
            for one in found["scores"]
        ),
        empty="Nothing was scored.",
    )
