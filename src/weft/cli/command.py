"""What every command has in common: its options, and the edge at which errors become words and an exit code."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from weft.cli.terminal import DEFAULT_WEAVER, Terminal
from weft.errors import EDGES, WeftError

LONGEST_HELP = 1000

pass_terminal = click.make_pass_decorator(Terminal, ensure=True)


class Command(click.Command):
    """A command with `--output`, whose errors end as a message, a hint, a code and an exit code."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not any(param.name == "output" for param in self.params):
            self.params.append(_output_option())

    def invoke(self, ctx: click.Context) -> Any:
        with edge(ctx):
            return super().invoke(ctx)


class Group(click.Group):
    """A noun with its verbs."""

    command_class = Command
    group_class = type

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order in which they were declared."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs, each with its whole first sentence: a narrow terminal wraps it."""
        listed = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(LONGEST_HELP))
            for name, command in listed
            if not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        with edge(ctx):
            return super().invoke(ctx)


@contextmanager
def edge(ctx: click.Context) -> Iterator[None]:
    """Where errors leave the command line: each is told in words and ends it with its exit code."""
    try:
        yield
    except WeftError as error:
        ctx.exit(_tell(ctx, error))
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except KeyboardInterrupt:
        ctx.exit(130)
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        ctx.exit(0)
    except Exception as error:  # noqa: BLE001 - one of the four edges
        if os.environ.get("WEFT_DEBUG"):
            traceback.print_exc()
        ctx.exit(_tell(ctx, _defect(error)))


def asks_weaver(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--weaver` and the terminal that has the line to it."""
    option = click.option(
        "--weaver",
        metavar="URL",
        envvar="WEFT_WEAVER",
        default=DEFAULT_WEAVER,
        show_default=True,
        show_envvar=True,
        expose_value=False,
        callback=lambda ctx, _, value: setattr(ctx.ensure_object(Terminal), "address", value),
        help="Where the weaver answers; several with commas, where several share a store.",
    )
    return option(pass_terminal(function))


def _output_option() -> click.Option:
    return click.Option(
        ["--output"],
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        expose_value=False,
        callback=lambda ctx, _, value: setattr(ctx.ensure_object(Terminal), "format", value),
        help="Text for eyes, or JSON as the API has it.",
    )


def _tell(ctx: click.Context, error: WeftError) -> int:
    ctx.ensure_object(Terminal).fail(error)
    return EDGES[error.domain].exit_code


def _defect(error: Exception) -> WeftError:
    return WeftError(
        f"This command failed in a way that it should not: {type(error).__name__}: {error}",
        code="cli.defect",
        hint="Set WEFT_DEBUG=1 to see where, and please report it.",
    )
