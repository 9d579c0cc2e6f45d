"""`weft record`: where one record is, how it came to be, what came of it, and why one is not there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Group, asks_weaver, pass_terminal
from weft.cli.service import storage_of, storage_option, store_option
from weft.cli.stream import stream_name
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from weft.cli.output import Printer


LONGEST = 2_000
"""So many characters of a value are shown."""


@click.group(cls=Group)
def record() -> None:
    """Records: where one is, how it came to be, what came of it, and why one is not there."""


@record.command()
@stream_name
@click.argument("id")
@click.option("--depth", default=10, show_default=True, help="How many streams to go back at most.")
@click.option("--most", default=5, show_default=True, help="How many records of a pane to tell of.")
@asks_weaver
def show(terminal: Terminal, name: str, id: str, depth: int, most: int) -> None:
    """One record by its id, which is in the column _weft.id: the whole way back to its source.

    Its knots are run again for that, each to the very row: what is shown is what was done.
    """
    found = terminal.get(path_to("records", name, id), depth=depth, most=most)
    terminal.show(found, _render)


@record.command()
@stream_name
@click.argument("id")
@asks_weaver
def blame(terminal: Terminal, name: str, id: str) -> None:
    """For each column of a record: which step, rule or function gave it its value, and who attached it."""
    terminal.show(terminal.get(path_to("blames", name, id)), _render_blame)


@record.command("why-not")
@stream_name
@click.argument("id", required=False)
@click.option(
    "--where",
    metavar="SQL",
    help="Ask for the newest records for which this holds, in place of an ID.",
)
@click.option(
    "--of", metavar="STREAM", help="The stream in which to look for them; default: STREAM."
)
@asks_weaver
def why_not(
    terminal: Terminal, name: str, id: str | None, where: str | None, of: str | None
) -> None:
    """Why a record is not in STREAM: filtered, dead, late, unread, rolled back, overwritten, or on its way."""
    if id is None and where is None:
        raise click.UsageError("Name a record by its ID, or some with --where.")
    found = terminal.get(path_to("absences", name), id=id, where=where, of=of)
    terminal.show(found, _render_absences)


@record.command()
@stream_name
@click.argument("id")
@click.option("--knot", type=int, help="The knot that wrote it; else the newest row with this id.")
@click.option("--head", metavar="HASH", help="The head that was published; else the newest knot.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the proof to this file."
)
@storage_option
@store_option
@pass_terminal
def prove(
    terminal: Terminal,
    name: str,
    id: str,
    knot: int | None,
    head: str | None,
    out: Path | None,
    storage: str,
    store: str | None,
) -> None:
    """Write a proof that a record is in STREAM, for whoever knows the hash of a later knot.

    It holds the record, its way to the root of its file, and the knots from its own to the head. How to check it
    without Weft is in docs/how-to/prove-a-record.md. It reads only, and may run beside a weaver.
    """
    from weft import codec
    from weft.weaver.proving import prove

    with terminal.wait("Hashing the rows of its file"):
        proof = codec.to_form(prove(storage_of(storage, store), name, id, knot=knot, head=head))
    if out is None:
        terminal.show(proof, lambda output, found: output.line(_json(found)))
        return
    _write(out, _json(proof) + "\n")
    told = {"stream": name, "id": id, "head": proof["head"], "knots": len(proof["knots"])}
    terminal.show({**told, "written": str(out)}, _render_proof)


def _json(proof: dict[str, Any]) -> str:
    import orjson

    return orjson.dumps(proof, option=orjson.OPT_INDENT_2).decode()


def _write(out: Path, text: str) -> None:
    from weft.errors import WeftError

    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WeftError(
            f"The proof cannot be written to {out}: {error.strerror}.",
            code="proof.unwritable",
            domain="user",
            hint="Name a file in a folder that is there, and that you may write to.",
        ) from error


def _render_proof(output: Printer, told: dict[str, Any]) -> None:
    from weft.cli.output import plural

    output.line(f"wrote {told['written']}: {plural(told['knots'], 'knot')}, from the record's to")
    output.line(f"head {told['head']}")


def _render(output: Printer, found: dict[str, Any]) -> None:
    from rich.tree import Tree

    explained = found["explained"]
    tree = Tree(_title(explained), guide_style="dim")
    _grow(tree, explained)
    output.tree(tree)
    if found["into"]:
        output.line()
        output.table(
            ["WENT INTO", "KNOT", "ROW"],
            (
                [one["stream"], pane["knot"], _text(own(pane["row"]))]
                for one in found["into"]
                for pane in one["rows"]
            ),
            empty="",
            gives=["ROW"],
        )
    others = [place for place in found["places"] if place["stream"] != explained["stream"]]
    if others:
        output.line()
        output.table(
            ["ALSO IN", "KNOT", "ROW"],
            ([place["stream"], place["knot"], _text(own(place["row"]))] for place in others),
            empty="",
            gives=["ROW"],
        )


def _title(record: Mapping[str, Any]) -> str:
    from weft.cli.output import moment

    return (
        f"{record['id']}  in {record['stream']}, knot {record['knot']}, {moment(record['created'])}"
    )


def _grow(tree: Tree, record: Mapping[str, Any]) -> None:
    """What was done to a record, the last first, and what it was made of."""
    from weft.cli.output import short

    tree.add(_text(own(record["row"])))
    for step in reversed(record["steps"]):
        version = f" ({short(step['version'])})" if step["version"] else ""
        who = f", {step['attached']}" if step["attached"] else ""
        branch = tree.add(f"{step['by']}{version}{who}: {_said(step['step'])}")
        for name, (before, after) in _changes(step).items():
            branch.add(f"{name}: {_cut(str(before))} → {_cut(str(after))}")
    if record["written_down"] is not None:
        said = "says the same" if record["written_down"] else "says otherwise"
        tree.add(f"what was written down on {record['where']} {said}", style="dim")
    if record["source"]:
        branch = tree.add(f"came in from {record['source']}")
        if record["raw"] is not None:
            branch.add(_given(record["raw"]))
    if record["note"]:
        tree.add(record["note"], style="dim")
    for parent in record["parents"]:
        _grow(tree.add(_title(parent)), parent)
    if record["count"] > len(record["parents"]):
        tree.add(f"… made of {record['count']} records in all", style="dim")


def _given(raw: str) -> Text:
    """What a source gave, as it is where a terminal can show it."""
    from rich.text import Text

    return Text(_cut(raw if raw.isprintable() else json.dumps(raw)))


def _cut(text: str) -> str:
    """A text, or its beginning where it is very long; JSON has it whole."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def _changes(step: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    before, after = step["before"] or {}, step["after"] or {}
    return {
        name: (before.get(name), after[name])
        for name in after
        if name not in before or before[name] != after[name]
    }


def _said(step: Mapping[str, Any]) -> str:
    kind, said = next(iter(step.items()))
    return f"{kind} {_text(said) if isinstance(said, Mapping) else said}"


def own(row: Mapping[str, Any]) -> dict[str, Any]:
    """The user's own columns of a row."""
    return {name: value for name, value in row.items() if not name.startswith("_")}


def _text(values: Mapping[str, Any]) -> str:
    from weft.cli.rows import text_of

    return _cut(str(text_of(values)))


def _render_blame(output: Printer, found: list[dict[str, Any]]) -> None:
    from weft.cli.output import short
    from weft.cli.rows import text_of

    output.table(
        ["COLUMN", "VALUE", "BY", "VERSION", "STREAM", "KNOT", "ATTACHED"],
        (
            [
                one["column"],
                _cut(str(text_of(one["value"]))),
                one["by"],
                short(one["version"]) if one["version"] else "-",
                one["stream"],
                one["knot"],
                one["attached"],
            ]
            for one in found
        ),
        empty="It has no columns.",
        optional=["ATTACHED"],
        gives=["VALUE"],
    )


def _render_absences(output: Printer, found: list[dict[str, Any]]) -> None:
    if not found:
        output.line("No record is like that.", style="dim")
    for one in found:
        output.line(f"{one['id']}: {one['text']}")
        if one["row"] and one["cause"] != "there":
            output.line(f"  {_text(own(one['row']))}", style="dim")
