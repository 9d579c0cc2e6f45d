"""`weft lineage`: which knots a knot came from, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Command, asks_weaver
from weft.cli.stream import stream_name
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from rich.tree import Tree

    from weft.cli.output import Printer


@click.command(cls=Command)
@stream_name
@click.argument("number", metavar="[KNOT]", type=int, required=False)
@click.option(
    "--direction",
    type=click.Choice(["up", "down", "both"]),
    default="both",
    show_default=True,
    help="Where it came from, what came of it, or both.",
)
@click.option("--depth", default=10, show_default=True, help="How many streams to pass at most.")
@click.option("--openlineage", is_flag=True, help="The last knots as OpenLineage events, in JSON.")
@asks_weaver
def lineage(
    terminal: Terminal,
    name: str,
    number: int | None,
    direction: str,
    depth: int,
    openlineage: bool,
) -> None:
    """The graph around a knot of STREAM, the newest one unless KNOT is given."""
    if openlineage:
        terminal.format = "json"
        found = terminal.get("/lineage/openlineage", stream=name)
    else:
        found = terminal.get("/lineage", stream=name, knot=number, direction=direction, depth=depth)
    terminal.show(found, render_lineage)


def render_lineage(output: Printer, graph: Mapping[str, Any]) -> None:
    """The graph around a knot as a tree: what it came from, then what came of it."""
    from rich.tree import Tree

    notes = {_name(node): _notes(node) for node in graph["nodes"]}
    start = _name(graph["start"])
    tree = Tree(_label(start, notes), guide_style="dim")
    for title, edges in (
        ("came from", [(_name(e["to"]), _name(e["from"])) for e in graph["edges"]]),
        ("went into", [(_name(e["from"]), _name(e["to"])) for e in graph["edges"]]),
    ):
        if any(near == start for near, _ in edges):
            _grow(tree.add(title, style="dim"), start, edges, notes, seen=frozenset({start}))
    output.tree(tree)


def _grow(
    tree: Tree,
    node: str,
    edges: Sequence[tuple[str, str]],
    notes: Mapping[str, str],
    *,
    seen: frozenset[str],
) -> None:
    for near, far in edges:
        if near == node and far not in seen:
            _grow(tree.add(_label(far, notes)), far, edges, notes, seen=seen | {far})


def _label(node: str, notes: Mapping[str, str]) -> str:
    noted = notes.get(node)
    return f"{node}  ({noted})" if noted else node


def _notes(node: Mapping[str, Any]) -> str:
    """Which rules were in force at a node, and what was unusual there."""
    said = {"rules": node["rules"], "unusual": node["anomalies"]}
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in said.items() if names)


def _name(node: Mapping[str, Any]) -> str:
    first, last = node["first"], node["last"]
    return f"{node['stream']} {first}" + (f"–{last}" if last > first else "")
