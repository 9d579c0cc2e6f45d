"""`weft history`: what is kept of each stream, from when on it can be run again, what it costs, what goes next."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Group, asks_weaver, pass_terminal
from weft.cli.replay import knot_range
from weft.cli.service import storage_of, storage_option, store_option
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def history(context: click.Context) -> None:
    """History: which rows and states are kept, since when, in how many bytes, and what goes next.

    Without a verb it is `weft history list`.
    """
    if context.invoked_subcommand is None:
        with list_history.make_context("list", [], parent=context) as listing:
            list_history.invoke(listing)


@history.command("list")
@asks_weaver
def list_history(terminal: Terminal) -> None:
    """What is kept of every stream: from which knot on it can be read and run again, and what it costs."""
    terminal.show(terminal.get("/history"), _render_list)


@history.command()
@click.argument("stream", shell_complete=completion.streams)
@asks_weaver
def show(terminal: Terminal, stream: str) -> None:
    """What is kept of STREAM: rows, states, what its source keeps, and what goes next."""
    [found] = terminal.get("/history", stream=stream)
    terminal.show(found, _render_one)


@history.command()
@click.argument("stream", shell_complete=completion.streams)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--note", help="Why.")
@click.option("--author", default=getpass.getuser, help="Who; default: the user that types this.")
@asks_weaver
def trim(terminal: Terminal, stream: str, dry_run: bool, note: str | None, author: str) -> None:
    """Let go of the rows that STREAM need not keep, now.

    The weaver does so by itself every few minutes. What is too old or too much is said by `history` in the project;
    what a pipeline, a branch or a replay still needs stays. Knots and their hashes stay in any case.
    """
    found = terminal.post(
        path_to("history", stream, "trim"),
        {"note": note, "author": author},
        doing=f"Letting go of old rows of {stream}",
        dry_run="true" if dry_run else None,
    )
    terminal.show(found, _render_trim)


@history.command()
@click.argument("stream", shell_complete=completion.streams)
@click.option("--dry-run", is_flag=True, help="Only say which knots.")
@click.option("--note", help="Why.")
@click.option("--author", default=getpass.getuser, help="Who; default: the user that types this.")
@asks_weaver
def compact(terminal: Terminal, stream: str, dry_run: bool, note: str | None, author: str) -> None:
    """Put the small files of old knots of STREAM together into few large ones, now.

    The weaver does so by itself as the stream grows. Rows, knots and hashes stay as they are, for every reader; files
    that are replaced are deleted after a while.
    """
    found = terminal.post(
        path_to("history", stream, "compact"),
        {"note": note, "author": author},
        doing=f"Putting files of {stream} together",
        dry_run="true" if dry_run else None,
    )
    terminal.show(found, _render_compact)


@history.command()
@click.argument("stream", shell_complete=completion.streams)
@click.option(
    "--knots", metavar="FIRST..LAST", required=True, callback=knot_range, help="Which knots."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FOLDER",
    help="The folder to write to; it must not be there, or be empty.",
)
@storage_option
@store_option
@pass_terminal
def export(
    terminal: Terminal,
    stream: str,
    knots: tuple[int, int],
    out: Path,
    storage: str,
    store: str | None,
) -> None:
    """Cut recorded knots of STREAM out as files: what came into each, and what it gave, as JSON lines.

    `weft.testing.recorded(FOLDER)` feeds them to the project of today in a test. It reads only, and may run beside a
    weaver. Of a pipeline with state, knots are cut out from the first one on.
    """
    from weft import codec
    from weft.weaver.exporting import export

    first, last = knots
    with terminal.wait("Writing rows"):
        made = export(storage_of(storage, store), stream, first, last, out)
    terminal.show({**codec.to_form(made), "out": str(out)}, _render_export)


def _render_export(output: Printer, made: dict[str, Any]) -> None:
    from weft.cli.output import plural

    rows = sum(one["rows"] for one in made["knots"])
    output.line(
        f"Wrote {plural(len(made['knots']), 'knot')} of {made['stream']} with {plural(rows, 'row')} to {made['out']}."
    )


def _render_list(output: Printer, found: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment

    output.table(
        ["STREAM", "FROM", "SINCE", "ROWS", "SIZE", "FILES", "STATES", "KEEPS", "GOES"],
        (
            [
                one["stream"],
                one["first"],
                moment(one["since"], brief=output.is_narrow),
                one["rows"],
                _size(one["bytes"]),
                one["files"],
                _size(one["states"]["bytes"]) if one["states"] else None,
                _limits(one["keeps"]),
                _goes(one["next"]),
            ]
            for one in found
        ),
        empty="There are no streams yet.",
        optional=("FILES", "STATES", "GOES"),
        gives=("GOES",),
    )


def _render_one(output: Printer, one: dict[str, Any]) -> None:
    from weft.cli.output import moment, plural

    kept = "none"
    if one["first"] is not None:
        kept = f"knots {one['first']} to {one['last']}, since {moment(one['since'])}"
    facts = {
        "stream": one["stream"],
        "rows": kept,
        "size": f"{plural(one['rows'], 'row')} in {plural(one['knots'], 'knot')}, {_size(one['bytes'])}",
        "files": "not known here" if one["files"] is None else f"{one['files']:,}",
        "gone": f"the rows of knots up to {one['expired']}" if one["expired"] else "nothing",
        "keeps": _limits(one["keeps"]),
    }
    if one["states"]:
        facts["states"] = _states(one["states"])
    if one["source"]:
        first = one["source_first"]
        since = "how far back is not known here" if first is None else f"from knot {first} on"
        facts["source"] = f"{one['source']}, {since}"
    if one["next"]:
        facts["next"] = _next(one["next"])
    output.fields(facts)


def _states(states: dict[str, Any]) -> str:
    from weft.cli.output import plural

    told = [f"{_size(states['bytes'])}"]
    if states["first"] is not None:
        told.append(f"every knot from {states['first']} on")
    if states["keyframes"]:
        since = states["first_keyframe"]
        told.append(f"{plural(states['keyframes'], 'keyframe')} from knot {since} on")
    return ", ".join(told)


def _limits(keeps: dict[str, Any]) -> str:
    told = [] if keeps["keep_days"] is None else [f"{keeps['keep_days']:g} d"]
    told += [] if keeps["keep_mb"] is None else [f"{keeps['keep_mb']} MB"]
    return ", ".join(told) or "all"


def _goes(coming: dict[str, Any] | None) -> str | None:
    """What goes next, in a few letters; `held` where somebody keeps all that would."""
    if coming is None:
        return None
    if coming["rows"]:
        return f"to {coming['upto']}"
    return "held" if coming["held_by"] else "nothing"


def _next(coming: dict[str, Any]) -> str:
    going = f"up to {coming['upto']}, {_size(coming['bytes'])}" if coming["rows"] else "nothing"
    return going if coming["held_by"] is None else f"{going}: more is kept for {coming['held_by']}"


def _render_trim(output: Printer, found: dict[str, Any]) -> None:
    if found["status"] == "nothing":
        output.line(f"There is nothing that {found['stream']} need not keep.")
        return
    if found["status"] == "planned":
        output.line(f"To trim {found['stream']}:")
    elif found["status"] == "done":
        done = found["result"]
        if "upto" in done:
            output.line(
                f"{found['id']}: the rows of knots up to {done['upto']} of {found['stream']} are gone "
                f"({done['files']:,} files, {_size(done['bytes'])})."
            )
        if "first" in done:
            output.line(f"{found['id']}: {found['stream']} begins with knot {done['first']} now.")
    else:
        output.line(
            f"{found['id']} is {found['status']}; `weft operation show {found['id']}` says how far it is."
        )
    for number, step in enumerate(found["steps"], start=1):
        output.line(f"  {number}. {step}")


def _render_compact(output: Printer, found: dict[str, Any]) -> None:
    if found["status"] == "nothing":
        output.line(f"{found['stream']} has no knots that are old enough.")
        return
    if found["status"] == "planned":
        output.line(f"To put files of {found['stream']} together:")
    elif found["status"] == "done":
        done = found["result"]
        output.line(
            f"{found['id']}: {done['replaced']:,} files of {found['stream']} are {done['made']:,} now; "
            f"{done['files']:,} that were replaced before are deleted ({_size(done['bytes'])})."
        )
    else:
        output.line(
            f"{found['id']} is {found['status']}; `weft operation show {found['id']}` says how far it is."
        )
    for number, step in enumerate(found["steps"], start=1):
        output.line(f"  {number}. {step}")


def _size(number: int) -> str:
    value = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
