"""The terminal of one command: how to print, and the line to the weaver. Made by the command, used by its body."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import click

from weft.errors import WeftError

if TYPE_CHECKING:
    import httpx

    from weft.cli.output import Printer
    from weft.runtime.client import WeaverClient

DEFAULT_WEAVER = "http://127.0.0.1:8080"
SLOWEST_ANSWER_S = 300.0


MEANT = {
    "absences": ("stream",),
    "alerts": ("alert",),
    "anomalies": ("anomaly",),
    "blames": ("stream", "record"),
    "branches": ("branch",),
    "causes": ("product",),
    "functions": ("function, pipeline or rule", "version", "version", "version"),
    "history": ("stream",),
    "knots": ("stream", "knot"),
    "operations": ("operation",),
    "pipelines": ("pipeline",),
    "products": ("product",),
    "records": ("stream", "record"),
    "replays": ("replay",),
    "rules": ("rule",),
    "streams": ("stream",),
}
"""What the parts of a path name, by the noun that it begins with."""
DOTS = {".": "%2E", "..": "%2E%2E"}
"""Names that a path would take for the folder itself and the one above."""


class NoNameError(WeftError):
    """A name that is empty, with which a path would be that of something else."""

    code = "cli.no-name"
    domain = "user"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"Which {what}? Its name is empty.",
            hint="Name one. A variable that is not set gives an empty name too.",
        )


def path_to(noun: str, *parts: str | int, key: str | None = None) -> str:
    """The path of a thing in the API, whatever its name holds; refuses a name that is empty.

    A key of a document ends it: that may be any text, also an empty one.
    """
    for part, what in zip(parts, MEANT[noun], strict=False):
        if part == "":
            raise NoNameError(what)
    ends = () if key is None else (key,)
    return "/" + "/".join(map(_quoted, (noun, *parts, *ends)))


def _quoted(part: str | int) -> str:
    text = str(part)
    return DOTS.get(text) or quote(text, safe="")


@dataclass
class Terminal:
    """What a command prints with and asks."""

    format: Literal["text", "json"] = "text"
    address: str = DEFAULT_WEAVER
    transport: httpx.BaseTransport | None = None

    @cached_property
    def output(self) -> Printer:
        """Renders text for eyes."""
        from weft.cli.output import Printer

        return Printer()

    @cached_property
    def weaver(self) -> WeaverClient:
        """The line to the weaver."""
        from weft.runtime.client import WeaverClient

        return WeaverClient(self.address, timeout=SLOWEST_ANSWER_S, transport=self.transport)

    def get(self, path: str, **params: Any) -> Any:
        """Ask the weaver for something; parameters that are None are left out."""
        given = {name: value for name, value in params.items() if value is not None}
        with self.wait("Waiting for the weaver"):
            return self.weaver.call("GET", path, **given)

    def post(self, path: str, body: Any = None, *, doing: str, **params: Any) -> Any:
        """Have the weaver do something."""
        given = {name: value for name, value in params.items() if value is not None}
        with self.wait(doing):
            return self.weaver.call("POST", path, body, **given)

    def show(self, value: Any, render: Callable[[Printer, Any], None]) -> None:
        """Print a value: as JSON just as it is, as text the way `render` does."""
        if self.format == "json":
            import orjson

            click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))
        else:
            render(self.output, value)

    def fail(self, error: WeftError) -> None:
        """Print an error: what could not be done, what to do about it, and its code."""
        if self.format == "json":
            import orjson

            click.echo(orjson.dumps(error.to_dict(), option=orjson.OPT_INDENT_2), err=True)
            return
        if "problems" in error.ids:
            self._fail_project(error)
            return
        click.secho("error: ", fg="red", nl=False, err=True)
        click.echo(f"{error.message} [{error.code}]", err=True)
        if error.hint:
            click.secho("hint:  ", fg="cyan", nl=False, err=True)
            click.echo(error.hint, err=True)

    def _fail_project(self, error: WeftError) -> None:
        from weft.loading.problem import ProjectError
        from weft.loading.render import render

        # One that the weaver told has lost its class on the way.
        told = ProjectError(error.message, hint=error.hint, **error.ids)
        click.echo(render(told), err=True)

    @contextmanager
    def wait(self, doing: str) -> Iterator[None]:
        """Show that something goes on, once it has taken a moment; on a terminal only."""
        if self.format == "json" or not sys.stderr.isatty():
            yield
            return
        from weft.cli.output import waiting

        with waiting(doing):
            yield
