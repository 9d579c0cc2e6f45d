"""`weft anomaly`: how well what is unusual is found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Group, pass_terminal
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.group(cls=Group)
def anomaly() -> None:
    """Anomalies: values of a series that are unusual."""


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
