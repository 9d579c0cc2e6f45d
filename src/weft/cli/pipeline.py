"""`weft pipeline`: what runs, what should run, how it is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Group, asks_weaver
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer

SLOW_S = 15

pipeline_name = click.argument("name", metavar="PIPELINE", shell_complete=completion.pipelines)


@click.group(cls=Group)
def pipeline() -> None:
    """Pipelines: what runs, what should run, how it is doing."""


@pipeline.command("list")
@asks_weaver
def list_pipelines(terminal: Terminal) -> None:
    """All pipelines with their state, their newest knot and how far they are behind."""
    terminal.show(terminal.get("/pipelines"), render_pipelines)


@pipeline.command()
@pipeline_name
@asks_weaver
def show(terminal: Terminal, name: str) -> None:
    """One pipeline."""
    terminal.show(terminal.get(path_to("pipelines", name)), _render_pipeline)


@pipeline.command()
@pipeline_name
@asks_weaver
def start(terminal: Terminal, name: str) -> None:
    """Have a pipeline run; a worker takes it as soon as one is free."""
    started = terminal.post(path_to("pipelines", name, "start"), doing="Starting")
    terminal.show(started, lambda output, found: render_pipelines(output, [found]))


@pipeline.command()
@pipeline_name
@asks_weaver
def stop(terminal: Terminal, name: str) -> None:
    """Have a pipeline stop after the batch in hand."""
    stopped = terminal.post(path_to("pipelines", name, "stop"), doing="Stopping")
    terminal.show(stopped, lambda output, found: render_pipelines(output, [found]))


@pipeline.command()
@pipeline_name
@click.option("--knots", default=100, show_default=True, help="Over how many of its last knots.")
@asks_weaver
def stats(terminal: Terminal, name: str, knots: int) -> None:
    """Counts, rates and batch times over the last knots of a pipeline."""
    terminal.show(terminal.get(path_to("pipelines", name, "stats"), knots=knots), _render_stats)


@pipeline.command()
@pipeline_name
@click.argument("partitions", type=int)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@asks_weaver
def repartition(terminal: Terminal, name: str, partitions: int, dry_run: bool) -> None:
    """Move the state of a pipeline to another number of PARTITIONS, and compare it."""
    found = terminal.post(
        path_to("pipelines", name, "repartition"),
        {"partitions": partitions},
        doing="Moving the state",
        dry_run="true" if dry_run else None,
    )
    terminal.show(found, _render_repartition)


def render_pipelines(output: Printer, pipelines: list[dict[str, Any]]) -> None:
    """Pipelines as a table; below it what fails, and what takes long to start."""
    output.table(
        ["PIPELINE", "FROM", "TO", "STATE", "KNOT", "BEHIND", "WORKER"],
        (
            [
                found["id"],
                ", ".join(found["inputs"]) or "source",
                found["stream"],
                found["state"],
                found["knot"],
                sum(found["behind"].values()),
                found["worker"],
            ]
            for found in pipelines
        ),
        empty="No pipeline is deployed. Deploy a project with `weft apply`.",
        gives=("FROM", "WORKER"),
    )
    for found in pipelines:
        if found["error"]:
            output.line(f"\n{found['id']}: {found['error']['message']}", style="red")
    for found in pipelines:
        if found["waits"]:
            output.line(f"\n{found['id']} waits: {found['waits']}")
    slow = [found for found in pipelines if (found["starting_s"] or 0) >= SLOW_S]
    if slow:
        output.line()
    for found in slow:
        took = f"{found['id']} has been starting for {found['starting_s']} s"
        output.line(f"{took}; `weft logs worker` shows what it does.", style="yellow")


def _render_pipeline(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.output import counts, short

    output.fields(
        {
            "pipeline": found["id"],
            "from": ", ".join(found["inputs"]) or "its source",
            "to": found["stream"],
            "state": found["state"],
            "wanted": found["desired"],
            "worker": found["worker"],
            "knot": found["knot"],
            "behind": counts(found["behind"]) if found["behind"] else None,
            "epoch": found["epoch"],
            "version": short(found["version"]),
            "error": found["error"] and found["error"]["message"],
        }
    )


def _render_repartition(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.operation import render_operation

    if found["status"] != "planned":
        render_operation(output, found)
        return
    for number, step in enumerate(found["steps"], start=1):
        output.line(f"  {number}. {step}")


def _render_stats(output: Printer, found: dict[str, Any]) -> None:
    spread = found["batch_ms"]
    output.fields(
        {
            "pipeline": found["id"],
            "knots": found["knots"],
            "in": found["rows_in"],
            "out": found["rows_out"],
            "filtered": found["filtered"],
            "dead": found["dead"],
            "late": found["late"],
            "absorbed": found["absorbed"],
            "rows a second": found["rows_per_second"],
            "batch": f"{spread['p50']:g} ms p50, {spread['p95']:g} ms p95" if spread else None,
            "behind": sum(found["behind"].values()),
        }
    )
