"""Telling a story at a terminal: words, then the command that does it, then what it printed.

The commands are the real ones, run in this process against the weaver that the story started.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from weft.cli.local import Local
from weft.cli.terminal import Terminal
from weft.errors import WeftError
from weft.runtime.client import WeaverAwayError

PATIENCE_S = 180.0
READING_S = 1.2
LOOK_S = 0.1


class StoryStuckError(WeftError):
    """Something that the story waits for did not happen."""

    code = "demo.stuck"
    domain = "external"


class StoryStoppedError(WeftError):
    """Somebody has heard enough."""

    code = "demo.stopped"
    domain = "user"


class Story:
    """A storyteller with a running Weft at hand, which is kept alive while the story goes on."""

    def __init__(self, terminal: Terminal, local: Local, storage: Path) -> None:
        self.terminal = terminal
        self.local = local
        self.storage = storage
        self.stopping = threading.Event()
        self._chapter = 0

    @contextmanager
    def tended(self) -> Iterator[None]:
        """Start again what dies, from a thread beside the story."""
        done = threading.Event()

        def tend() -> None:
            while not done.wait(0.2):
                self.local.tend()

        thread = threading.Thread(target=tend, name="tend", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def chapter(self, title: str) -> None:
        """Begin the next part."""
        self._chapter += 1
        self.pause()
        self.terminal.output.line()
        self.terminal.output.line(f"{self._chapter}. {title}", style="bold cyan")

    def say(self, text: str) -> None:
        """One line of the story."""
        self.terminal.output.line(text)

    def type(self, *words: str) -> None:
        """Type a command and run it."""
        from weft.cli.root import cli

        self.terminal.output.line(f"$ weft {' '.join(map(_quoted, words))}", style="green")
        args = [*words, "--storage", str(self.storage)] if _reads_storage(words) else list(words)
        status = cli.main(
            args,
            prog_name="weft",
            standalone_mode=False,
            default_map=_weaver_everywhere(cli, self.local.address),
        )
        sys.stdout.flush()
        if isinstance(status, int) and status:
            raise StoryStuckError(f"`weft {' '.join(words)}` ended with status {status}.")
        self.pause()

    def wait_for(self, what: str, ready: Callable[[], Any]) -> Any:
        """Wait until something is so, and return what `ready` found."""
        deadline = time.monotonic() + PATIENCE_S
        with self.terminal.wait(f"Waiting for {what}"):
            while time.monotonic() < deadline:
                if self.stopping.is_set():
                    raise StoryStoppedError("The demo was stopped.")
                try:
                    found = ready()
                except WeaverAwayError:
                    found = None  # it is being started again
                if found:
                    return found
                time.sleep(LOOK_S)
        raise StoryStuckError(
            f"The demo waited {PATIENCE_S:.0f} s for {what}, in vain.",
            hint="The end of the log is above.",
        )

    def get(self, path: str, **params: Any) -> Any:
        """What the weaver answers."""
        return self.local.client.call("GET", path, **params)

    def head(self, stream: str) -> int:
        """The newest live knot of a stream; 0 while there is none."""
        return next((s["knot"] or 0 for s in self.get("/streams") if s["name"] == stream), 0)

    def pause(self) -> None:
        """Time to read, where somebody does."""
        if sys.stdout.isatty():
            self.stopping.wait(READING_S)


def _weaver_everywhere(command: click.Command, address: str) -> dict[str, Any]:
    """Defaults by which every command below this one asks the weaver at this address."""
    below = command.commands.items() if isinstance(command, click.Group) else ()
    return {"weaver": address} | {name: _weaver_everywhere(one, address) for name, one in below}


def _reads_storage(words: tuple[str, ...]) -> bool:
    return words[0] == "verify" or words[:2] == ("stream", "rows")


def _quoted(word: str) -> str:
    return f"'{word}'" if any(c in word for c in " =()*<>") else word
