"""`weft stream`: what there is, with which columns, and its history like `git log`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Group, asks_weaver, pass_terminal
from weft.cli.service import storage_of, storage_option
from weft.cli.terminal import Terminal, path_to
from weft.locations.location import locate

if TYPE_CHECKING:
    from weft.cli.output import Printer

MOST_KNOTS = 1000

stream_name = click.argument("name", metavar="STREAM", shell_complete=completion.streams)


@click.group(cls=Group)
def stream() -> None:
    """Streams: what there is, with which columns, and what happened to it."""


@stream.command("list")
@asks_weaver
def list_streams(terminal: Terminal) -> None:
    """All streams; side, late and dead-letter streams too."""
    terminal.show(terminal.get("/streams"), _render_streams)


@stream.command()
@stream_name
@asks_weaver
def show(terminal: Terminal, name: str) -> None:
    """One stream: its columns, where it stands, who writes and reads it."""
    terminal.show(terminal.get(path_to("streams", name)), _render_stream)


@stream.command()
@click.argument("name", metavar="[STREAM]", required=False, shell_complete=completion.streams)
@asks_weaver
def head(terminal: Terminal, name: str | None) -> None:
    """The newest knot of STREAM, or of all, with its whole hash: keep it elsewhere, and history is proven by it."""
    if name is not None:
        heads = [terminal.get(path_to("streams", name))]
    else:
        heads = [one for one in terminal.get("/streams") if one["origin"] == one["name"]]
    terminal.show(heads, _render_heads)


@stream.command()
@stream_name
@click.option("-n", "--limit", default=20, show_default=True, help="How many knots.")
@click.option("--before", type=int, metavar="KNOT", help="Only knots before this one.")
@click.option("--graph", is_flag=True, help="Draw which knots follow which.")
@asks_weaver
def log(terminal: Terminal, name: str, limit: int, before: int | None, graph: bool) -> None:
    """The knots of a stream, newest first."""
    knots: list[dict[str, Any]] = []
    while len(knots) < limit:
        size = min(MOST_KNOTS, limit - len(knots))
        page = terminal.get("/knots", stream=name, before=before, limit=size)
        knots += page
        if len(page) < size:
            break
        before = page[-1]["number"]

    def render(output: Printer, found: list[dict[str, Any]]) -> None:
        from weft.cli.log import render_log

        render_log(output, name, found, graph=graph)

    terminal.show(knots, render)


@stream.command()
@stream_name
@storage_option
@click.option("-n", "--limit", default=10, show_default=True, help="How many rows.")
@click.option("--weft", is_flag=True, help="With what each row carries beside its columns.")
@click.option("--current", is_flag=True, help="What is there now: the newest row of each key.")
@pass_terminal
def rows(
    terminal: Terminal, name: str, storage: str, limit: int, weft: bool, current: bool
) -> None:
    """The newest rows of a stream, read from its table."""
    from weft.cli.rows import current_rows, newest_rows, render_rows

    table = locate(storage_of(storage).table(name))
    read = current_rows if current else newest_rows
    found = read(table, name, limit=limit, weft=weft)
    terminal.show(found, render_rows)


@stream.command()
@click.argument("name", metavar="[STREAM]", required=False, shell_complete=completion.streams)
@asks_weaver
def watermarks(terminal: Terminal, name: str | None) -> None:
    """How far event time has come, in STREAM or in all: each partition, its lag, what holds the minimum back."""
    terminal.show(terminal.get("/watermarks", stream=name), _render_watermarks)


def _render_streams(output: Printer, streams: list[dict[str, Any]]) -> None:
    output.table(
        ["STREAM", "KIND", "KNOT", "WRITTEN BY", "READ BY", "COLUMNS"],
        (
            [
                found["name"],
                found["kind"],
                found["knot"],
                found["pipeline"],
                ", ".join(found["readers"]),
                ", ".join(field["name"] for field in (found["columns"] or {}).get("fields", ())),
            ]
            for found in streams
        ),
        empty="There are no streams. Deploy a project with `weft apply`.",
        gives=("READ BY", "COLUMNS"),
    )


def _render_heads(output: Printer, streams: list[dict[str, Any]]) -> None:
    # No table: a hash that is cut proves nothing.
    for found in streams:
        what = f"knot {found['knot']} of {found['name']}" if found["knot"] else found["name"]
        output.line(f"{found['hash'] or 'no knot yet':64}  {what}")
    if not streams:
        output.line("There are no streams. Deploy a project with `weft apply`.", style="dim")


def _render_stream(output: Printer, found: dict[str, Any]) -> None:
    output.fields(
        {
            "stream": found["name"],
            "kind": found["kind"],
            "shares knots with": None if found["origin"] == found["name"] else found["origin"],
            "written by": found["pipeline"],
            "read by": ", ".join(found["readers"]) or None,
            "knot": found["knot"],
        }
    )
    if found["columns"]:
        output.line()
        output.table(
            ["COLUMN", "TYPE"],
            ([field["name"], _type(field["type"])] for field in found["columns"]["fields"]),
            empty="It has no columns.",
        )


def _type(form: Any) -> str:
    from weft.schema.schema import Type

    return str(Type.from_json(form))


def _render_watermarks(output: Printer, found: Any) -> None:
    from weft.cli.watermark import render_watermarks

    render_watermarks(output, found)
