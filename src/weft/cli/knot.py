"""`weft knot`: one batch, whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Group, asks_weaver
from weft.cli.stream import log, stream_name
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.group(cls=Group)
def knot() -> None:
    """Knots: what came in, which rules were in force, what went out."""


knot.add_command(log, "list")


@knot.command()
@stream_name
@click.argument("number", type=int)
@asks_weaver
def show(terminal: Terminal, name: str, number: int) -> None:
    """One knot of a stream."""
    terminal.show(terminal.get(path_to("knots", name, number)), render_knot)


def render_knot(output: Printer, found: Mapping[str, Any]) -> None:
    """A knot with everything that it says."""
    from weft.cli.log import rules_of
    from weft.cli.output import moment, moment_ms, short

    watermark = found["watermark"]
    output.fields(
        {
            "knot": f"{found['number']} of stream {found['stream']}",
            "status": found["status"],
            "id": found["id"],
            "hash": found["hash"],
            "previous": _previous(found),
            "pipeline": f"{found['pipeline']}, batch {found['batch']} of epoch {found['epoch']}",
            "pinned": moment(found["now"]),
            "tied": f"{moment(found['completed'])}, after {found['duration_ms']} ms"
            if found["completed"]
            else None,
            "from": ", ".join(map(_range, found["parents"])) or _source(found["offsets"]),
            "rules": rules_of(found) or "none",
            "watermark": moment_ms(watermark) if watermark is not None else None,
            "ledger": balance(found["ledger"]) if found["completed"] else None,
        }
    )
    if found["steps"]:
        output.line()
        output.table(
            ["FUNCTION", "VERSION", "IN", "OUT", "INPUT HASH", "OUTPUT HASH"],
            (
                [
                    step["function"],
                    short(step["version"]),
                    step["rows_in"],
                    step["rows_out"],
                    short(step["input_hash"]),
                    short(step["output_hash"]),
                ]
                for step in found["steps"]
            ),
            empty="",
        )
    if found["outputs"]:
        output.line()
        output.table(
            ["OUTPUT", "ROWS", "BYTES", "FILES", "TABLE VERSION", "HASH"],
            (
                [
                    name,
                    written["rows"],
                    written["bytes"],
                    len(written["files"]),
                    written["version"],
                    short(written["hash"]),
                ]
                for name, written in found["outputs"].items()
            ),
            empty="",
        )


def balance(ledger: Mapping[str, Any]) -> str:
    """The ledger as the sum that it is."""
    filtered = [f"{count} filtered ({by})" for by, count in ledger["filtered"].items()]
    others = [f"{ledger[name]} {name}" for name in ("late", "dead", "absorbed") if ledger[name]]
    text = f"{ledger['in']} in = " + " + ".join([f"{ledger['out']} out", *filtered, *others])
    if ledger["copied"]:
        text += "; " + ", ".join(f"{n} copied to {to}" for to, n in ledger["copied"].items())
    if ledger["results"]:
        text += f"; results: {balance(ledger['results'])}"
    return text


def _previous(found: Mapping[str, Any]) -> str:
    from weft.cli.output import short

    if found["previous"] is None:
        return "none, it is the first"
    return f"{found['previous']} ({short(found['previous_hash'])})"


def _range(parent: Mapping[str, Any]) -> str:
    first, last = parent["first"], parent["last"]
    return f"{parent['stream']} {first}" + (f"–{last}" if last > first else "")


def _source(offsets: Mapping[str, Any]) -> str | None:
    before, after = offsets.get("from"), offsets.get("to")
    if not after:
        return None
    start = before[0] if before else None
    return f"source, {_position(start)} to {_position(after[0])}"


def _position(position: Any) -> str:
    if isinstance(position, Mapping):
        return ", ".join(f"{name} {value}" for name, value in position.items())
    return "its start" if position is None else str(position)
