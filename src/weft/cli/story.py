"""Telling a story at a terminal: words, then the command that does it, then what it printed.

The commands are the real ones, run in this process against the weaver that the story started.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from weft.cli.local import Local
from weft.cli.terminal import Terminal
from weft.errors import WeftError
from weft.runtime.client import WeaverAwayError

PATIENCE_S = 300.0
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
        self.folder = storage.parent
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
        status = cli.main(
            [*words, *self._own_options(cli, words)], prog_name="weft", standalone_mode=False
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

    def _own_options(self, command: click.Command, words: Sequence[str]) -> list[str]:
        """What makes a command ask this story's weaver and read its storage."""
        for word in words:
            if isinstance(command, click.Group) and word in command.commands:
                command = command.commands[word]
        known = {"weaver": self.local.address, "storage": str(self.storage)}
        taken = [param.name for param in command.params if param.name in known]
        return [part for name in taken if name for part in (f"--{name}", known[name])]

    def pause(self) -> None:
        """Time to read, where somebody does."""
        if sys.stdout.isatty():
            self.stopping.wait(READING_S)


def _quoted(word: str) -> str:
    return f"'{word}'" if any(c in word for c in " =()*<>") else word
