"""Names that a shell completes: those that the weaver knows, or where it is away those of the project file beside us.
And `weft completion`, which prints what a shell needs for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from weft.cli.command import Command, pass_terminal
from weft.cli.terminal import Terminal
from weft.errors import WeftError

SLOWEST_S = 0.5
"""Nobody who pressed a key waits longer for a list of names."""

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_INSTALL = {
    "bash": "weft completion bash > ~/.local/share/bash-completion/completions/weft",
    "zsh": 'weft completion zsh > "${fpath[1]}/_weft"',
    "fish": "weft completion fish > ~/.config/fish/completions/weft.fish",
}


def _completes(path: str, key: str, written: str | None = None) -> Complete:
    """Completes by the things that the weaver has at a path; `written` is where a project file says them."""

    def complete(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
        names = _asked(ctx.ensure_object(Terminal), path, key)
        if names is None:
            names = _read(written) if written is not None else []
        return [CompletionItem(name) for name in names if name.startswith(begun)]

    return complete


streams = _completes("/streams", "name", "streams")
pipelines = _completes("/pipelines", "id", "pipelines")
products = _completes("/products", "name", "products")
rules = _completes("/rules", "id")
operations = _completes("/operations", "id")
branches = _completes("/branches", "name")
functions = _completes("/functions", "ref")


def _asked(terminal: Terminal, path: str, key: str) -> list[str] | None:
    """The names that the weaver gives, or None where it does not answer as one does."""
    from weft.runtime.client import WeaverClient

    client = WeaverClient(terminal.address, timeout=SLOWEST_S, transport=terminal.transport)
    try:
        return _names(client.call("GET", path), key)
    except (WeftError, ValueError):  # also what answers there, and is no weaver
        return None
    finally:
        client.close()


def _names(answer: Any, key: str) -> list[str]:
    if not isinstance(answer, list):
        raise ValueError("no list of things")
    named = [str(one[key]) for one in answer if isinstance(one, dict) and key in one]
    return list(dict.fromkeys(named))


def _read(written: str) -> list[str]:
    """The names of a project file, right or wrong as it may be. No Python of the project runs for it."""
    from weft.loading.document import from_text
    from weft.loading.load import FILE

    try:
        document = from_text(Path(FILE).read_text(encoding="utf-8")).value
    except (OSError, UnicodeDecodeError):
        return []
    parts = document if isinstance(document, dict) else {}
    said, pipelines = (parts.get(key) for key in (written, "pipelines"))
    found: dict[str, None] = dict.fromkeys(said if isinstance(said, dict) else ())
    if written == "streams" and isinstance(pipelines, dict):
        for name, pipeline in pipelines.items():
            to = pipeline.get("to", name) if isinstance(pipeline, dict) else name
            found[str(to)] = None
    return list(found)


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(list(_INSTALL)))
@pass_terminal
def completion(terminal: Terminal, shell: str) -> None:
    """Print the script by which SHELL completes commands, options and names of streams, pipelines and rules.

    Its first lines say where to put it.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    root = click.get_current_context().find_root().command
    first, _, rest = kind(root, {}, "weft", "_WEFT_COMPLETE").source().lstrip().partition("\n")
    note = f"# Install it with: {_INSTALL[shell]}"
    # Of zsh's script the first line has to be its own.
    lines = (first, note, rest) if shell == "zsh" else (note, first, rest)
    script = "\n".join(lines).rstrip()
    terminal.show({"shell": shell, "script": script}, lambda output, _: output.line(script))
