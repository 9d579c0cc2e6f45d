"""Steps as options of a command, applied in the order in which they are typed.

An option parser gathers values by option and forgets their order among each other, so every step option is
rewritten into the one `--step` before the parser sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from weft.cli.command import Command

F = TypeVar("F", bound=Callable[..., Any])


def _pair(option: str, text: str) -> dict[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise click.BadParameter(f"'{text}' is not NAME=VALUE.", param_hint=option)
    return {name.strip(): value.strip()}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


FORMS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "--filter": ("CONDITION", lambda text: {"filter": text}, "Keep the rows for which this holds."),
    "--set": ("COLUMN=SQL", lambda text: {"set": _pair("--set", text)}, "Set a column."),
    "--drop": ("COLUMNS", lambda text: {"drop": _names(text)}, "Drop columns: a,b."),
    "--select": ("COLUMNS", lambda text: {"select": _names(text)}, "Keep only these columns: a,b."),
    "--rename": ("OLD=NEW", lambda text: {"rename": _pair("--rename", text)}, "Rename a column."),
}


class StepsCommand(Command):
    """A command that takes steps."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _in_order(args))


def step_options(function: F) -> F:
    """Give a command the step options; it gets them as one list, `steps`."""
    for option, (metavar, _, text) in reversed(FORMS.items()):
        function = click.option(option, metavar=metavar, expose_value=False, help=text)(function)
    return click.option(
        "--step",
        "steps",
        multiple=True,
        metavar="YAML",
        callback=lambda _ctx, _param, texts: [_read(text) for text in texts],
        help="Any step as the project file has it: 'filter: total > 10'.",
    )(function)


def _in_order(args: list[str]) -> list[str]:
    import orjson

    rewritten: list[str] = []
    rest = iter(args)
    for arg in rest:
        option, sign, value = arg.partition("=")
        if option not in FORMS:
            rewritten.append(arg)
            continue
        if not sign:
            value = next(rest, "")
        rewritten += ["--step", orjson.dumps(FORMS[option][1](value)).decode()]
    return rewritten


def _read(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise click.BadParameter(f"'{text}' cannot be read: {error}", param_hint="--step") from None
