"""`weft function`: every version of the code that ran, what it says, and how two of them differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from weft.cli import completion
from weft.cli.command import Group, asks_weaver
from weft.cli.terminal import Terminal, path_to

if TYPE_CHECKING:
    from weft.cli.output import Printer

reference = click.argument("ref", shell_complete=completion.functions)
kind_option = click.option(
    "--kind",
    type=click.Choice(["function", "pipeline", "rule"]),
    help="Which it is, where one name is several things.",
)


@click.group(cls=Group)
def function() -> None:
    """Functions, pipelines and rules by version: which ran when, what they say, how they differ."""


@function.command("list")
@click.argument("ref", required=False, shell_complete=completion.functions)
@kind_option
@asks_weaver
def list_versions(terminal: Terminal, ref: str | None, kind: str | None) -> None:
    """Every version that was ever deployed or attached, of REF or of all; of each the newest last."""
    terminal.show(terminal.get("/functions", ref=ref, kind=kind), _render_versions)


@function.command()
@reference
@click.argument("version", required=False)
@kind_option
@asks_weaver
def show(terminal: Terminal, ref: str, version: str | None, kind: str | None) -> None:
    """One version with its sources and all that it depends on: VERSION, whose first digits will do, or the newest.

    REF is a function (`rules:mask_email`), a pipeline or a rule.
    """
    parts = (ref,) if version is None else (ref, version)
    terminal.show(terminal.get(path_to("functions", *parts), kind=kind), _render_definition)


@function.command()
@reference
@click.argument("before")
@click.argument("after")
@kind_option
@asks_weaver
def diff(terminal: Terminal, ref: str, before: str, after: str, kind: str | None) -> None:
    """How version AFTER differs from BEFORE: a diff of the sources, and what else, such as packages and parameters."""
    found = terminal.get(path_to("functions", ref, before, "diff", after), kind=kind)
    terminal.show(found, _render_diff)


def _render_versions(output: Printer, versions: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment, short

    output.table(
        ["KIND", "REF", "VERSION", "NOW", "USED BY", "SINCE", "KNOTS"],
        (
            [
                found["kind"],
                found["ref"],
                short(found["version"]),
                "yes" if found["current"] else "",
                _users(found),
                moment(found["since"]),
                ", ".join(map(_span, found["knots"])),
            ]
            for found in versions
        ),
        empty="There is none. Deploy a project with `weft apply`, or look at `weft function list`.",
        gives=("USED BY", "KNOTS"),
    )


def _render_definition(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.output import moment

    version = found["version"]
    output.fields(
        {
            version["kind"]: version["ref"],
            "version": version["version"],
            "now": "yes" if version["current"] else "no",
            "since": moment(version["since"]) if version["since"] else None,
            "knots": ", ".join(map(_span, version["knots"])) or None,
            "used by": _users(version) or None,
            "form": found["form"],
            "returns": _columns(found["returns"]),
            "adds": _columns(found["adds"]),
            "needs": ", ".join(found["needs"]) or None,
            "installed": ", ".join(f"{n} {v}" for n, v in found["installed"].items()) or None,
            "Python": found["python"],
            "Spark": found["spark"],
            "kernel": found["kernel"],
            "projects": ", ".join(one[:10] for one in version["projects"]) or None,
        }
    )
    for call in found["calls"]:
        given = _columns(call["parameters"]) or "no parameters"
        output.line(f"  step {call['step']} of {call['pipeline']}: {given}")
    for ref, used in found["functions"].items():
        output.line(f"  calls {ref} in version {used}")
    if not found["intact"]:
        output.line("Its sources are not those that its version was made of.", style="red")
    for one in found["differs"]:
        output.line(f"It is not the same here: {one}.", style="yellow")
    for name, text in found["sources"].items():
        output.line()
        output.line(f"# {_file(name)}", style="bold")
        output.line(text.rstrip("\n"))


def _render_diff(output: Printer, found: dict[str, Any]) -> None:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    if found["before"] == found["after"]:
        output.line("It is one version.", style="dim")
    for line in found["diff"].splitlines():
        output.line(line, style=styles.get(line[:1]))
    if found["diff"] and found["others"]:
        output.line()
    for other in found["others"]:
        output.line(f"{other['what']}: {other['before'] or '-'} → {other['after'] or '-'}")


def _users(found: Mapping[str, Any]) -> str:
    return ", ".join([*found["pipelines"], *(f"rule {name}" for name in found["rules"])])


def _span(span: Mapping[str, Any]) -> str:
    return f"{span['stream']} {span['first']}–{'' if span['last'] is None else span['last']}"


def _columns(pairs: Mapping[str, Any] | None) -> str | None:
    return ", ".join(f"{name} {value}" for name, value in pairs.items()) if pairs else None


def _file(name: str) -> str:
    return name if name.endswith(".yaml") else f"{name.replace('.', '/')}.py"
