"""`weft init`, `weft check`, `weft schema` and `weft apply`: from a project file to a deployed project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Command, asks_weaver, pass_terminal
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer
    from weft.project.definition import Project

rename_option = click.option(
    "--rename", is_flag=True, help="The project has another app_name than the one deployed."
)
recompute_option = click.option(
    "--recompute",
    is_flag=True,
    help="Run pipelines that cannot go on with what is kept again from their recorded input.",
)
FIELD_TYPE = r"(?<=[\w`]):\w+(\([\d,]+\))?(?=[,>])|`"
"""The plain type of a field inside a struct, and the quotes around its name."""

project_file = click.argument("file", type=click.Path(path_type=Path), default=Path("weft.yaml"))


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@pass_terminal
def init(terminal: Terminal, folder: Path) -> None:
    """Write a project that runs into FOLDER."""
    from weft.loading.init import write

    written = [str(path) for path in write(folder)]

    def render(output: Printer, _: Any) -> None:
        for path in written:
            output.line(f"wrote {path}")
        go = "" if folder == Path() else f"cd {folder} && "
        output.line(f"\nNext: {go}weft up")

    terminal.show({"written": written}, render)


@click.command(cls=Command)
@project_file
@pass_terminal
def check(terminal: Terminal, file: Path) -> None:
    """Find everything that is wrong with the project in FILE, before it runs."""
    from weft.loading.problem import ProjectError
    from weft.loading.render import render

    try:
        project = read_project(file)
    except ProjectError as error:
        told = render(error)
        terminal.show({"problems": error.ids["problems"]}, lambda output, _: output.line(told))
        click.get_current_context().exit(2)
    found = {
        "problems": [],
        "project": project.name,
        "streams": list(project.streams),
        "pipelines": list(project.pipelines),
        "schemas": {
            stream.name: {field.name: str(field.type) for field in stream.schema}
            for stream in project.streams.values()
        },
    }

    def render_found(output: Printer, found: dict[str, Any]) -> None:
        output.line(_praise(file, project))
        output.line()
        schemas = found["schemas"].items()
        output.fields({name: _columns(types) for name, types in schemas})

    terminal.show(found, render_found)


@click.command(cls=Command)
@pass_terminal
def schema(terminal: Terminal) -> None:
    """Print the JSON schema of project files, by which editors complete and check them.

    Save it as weft.schema.json, and begin a project file with the line
    `# yaml-language-server: $schema=weft.schema.json`.
    """
    import json

    from weft.loading.schema import project_schema

    terminal.show(project_schema(), lambda output, found: output.line(json.dumps(found, indent=2)))


@click.command(cls=Command)
@project_file
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@recompute_option
@rename_option
@asks_weaver
def apply(terminal: Terminal, file: Path, dry_run: bool, recompute: bool, rename: bool) -> None:
    """Deploy the project in FILE: what it adds or changes is started, the rest is not touched.

    A change that cannot go on with what is kept, such as another window, is refused unless --recompute is given.
    """
    project = read_project(file)
    with terminal.wait("Deploying"):
        changes = terminal.weaver.call(
            "PUT",
            "/project",
            project.to_dict(),
            dry_run=str(dry_run).lower(),
            recompute=str(recompute).lower(),
            rename=str(rename).lower(),
        )
    terminal.show(changes, lambda output, found: render_changes(output, found, dry_run=dry_run))


def read_project(file: Path) -> Project:
    """The checked project of a file."""
    from weft.loading.load import load

    return load(file)


def _is_recomputed(changes: dict[str, Any]) -> bool:
    return any(effect["verdict"] == "recomputed" for effect in changes["effects"])


def render_changes(output: Printer, changes: dict[str, Any], *, dry_run: bool = False) -> None:
    """What a deployment adds, changes and removes, one pipeline a line."""
    signs = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}
    for kind, (sign, style) in signs.items():
        for name in changes[kind]:
            output.line(
                f"{sign} pipeline {name} {'would be ' if dry_run else ''}{kind}", style=style
            )
    for effect in changes["effects"]:
        output.line(f"  {effect['pipeline']}: {effect['what']} ({effect['verdict']})")
    for number, step in enumerate(changes["steps"], start=1):
        output.line(f"  {number}. {step}")
    if dry_run and not changes["steps"] and _is_recomputed(changes):
        output.line("It would be refused without --recompute.", style="yellow")
    if not any(changes[kind] for kind in signs):
        output.line("Nothing changes: this project is deployed already.")


def _columns(types: Mapping[str, str]) -> str:
    """Columns with their types, in one line; of a struct only the names of its fields."""
    return ", ".join(f"{name} {re.sub(FIELD_TYPE, '', kind)}" for name, kind in types.items())


def _praise(file: Path, project: Project) -> str:
    from weft.cli.output import plural

    sources = sum(stream.source is not None for stream in project.streams.values())
    return (
        f"{file} is right: project '{project.name}' with {plural(sources, 'source')}, "
        f"{plural(len(project.pipelines), 'pipeline')} and {plural(len(project.streams), 'stream')}."
    )
