"""`weft up`: a project on one machine, kept running until it is told to stop."""

from __future__ import annotations

import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.cli.command import Command, pass_terminal
from weft.cli.project import (
    project_file,
    read_project,
    recompute_option,
    rename_option,
    render_changes,
)
from weft.cli.service import (
    DEFAULT_STORAGE,
    debug_option,
    metrics_option,
    storage_of,
    store_option,
)
from weft.cli.terminal import Terminal
from weft.cli.worker import (
    conf_option,
    executors_option,
    master_option,
    worker_metrics_option,
)
from weft.locations.location import is_local

if TYPE_CHECKING:
    from weft.cli.local import Local
    from weft.project.definition import Project
    from weft.streams.storage import Storage

START_S = 180
SLOW_S = 30
"""How long a start may take before it is told that it goes on."""
LOOK_S = 2.0
QUIET_S = 60.0
"""Without a word for so long, a pipeline that failed has been tried again and has not."""


@click.command(cls=Command)
@project_file
@click.option(
    "--storage",
    metavar="FOLDER|ADDRESS",
    help="Where streams and checkpoints go: a folder, s3a://BUCKET/FOLDER or hdfs://HOST/FOLDER.  "
    "[default: what FILE says, else .weft beside it]",
)
@store_option
@click.option("--port", default=8080, show_default=True, help="Port of the weaver, on loopback.")
@metrics_option
@worker_metrics_option
@master_option
@executors_option
@conf_option
@recompute_option
@rename_option
@debug_option
@pass_terminal
def up(
    terminal: Terminal,
    file: Path,
    storage: str | None,
    store: str | None,
    port: int,
    metrics_port: int,
    worker_metrics_port: int,
    master: str,
    executors: str | None,
    conf: tuple[str, ...],
    recompute: bool,
    rename: bool,
    debug: bool,
) -> None:
    """Run the project in FILE on this machine: a weaver and a worker, each started again if it dies.

    Ctrl-C or SIGTERM stops it: batches in hand are finished and their knots tied.
    """
    from weft import logs
    from weft.cli.local import Local

    logs.set_up("up", debug=debug)
    project = read_project(file)
    folder = file if file.is_dir() else file.parent
    local = Local(
        _storage(project, folder, storage, store),
        folder=folder.absolute(),
        port=port,
        metrics_port=metrics_port,
        worker_metrics_port=worker_metrics_port,
        master=master,
        executors=executors,
        conf=conf,
        debug=debug,
    )
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    local.fetch()
    try:
        with terminal.wait("Starting the weaver"):
            changes = local.start(project, recompute=recompute, rename=rename)
        render_changes(terminal.output, changes)
        _run(terminal, local, stopping)
    finally:
        with terminal.wait("Finishing the batches in hand"):
            local.stop()


def _storage(project: Project, folder: Path, named: str | None, store: str | None) -> Storage:
    """The storage that was named, or that of the project; what is no folder has its store beside the project."""
    home = folder / DEFAULT_STORAGE
    said = project.storage or str(DEFAULT_STORAGE)
    address = named or (str(folder / said) if is_local(said) else said)
    return storage_of(address, store or (None if is_local(address) else str(home / "weaver")))


def _run(terminal: Terminal, local: Local, stopping: threading.Event) -> None:
    ready = _await_pipelines(terminal, local, stopping)
    if not stopping.is_set():
        what = "Weft" if ready else "The weaver"
        terminal.output.line(f"{what} is up: {local.address} (its API is described at /docs)")
        terminal.output.line("What it does is in `weft logs`; Ctrl-C stops it.", style="dim")
        sys.stdout.flush()
    failing: dict[str, _Failing] = {}
    looked = time.monotonic()
    while not stopping.wait(0.2):
        local.tend()
        if time.monotonic() - looked > LOOK_S:
            looked = time.monotonic()
            _tell_failures(terminal, local, failing)


def _await_pipelines(terminal: Terminal, local: Local, stopping: threading.Event) -> bool:
    """Wait until all pipelines run, saying now and then which do not yet; False when that takes too long."""
    from weft.runtime.client import WeaverAwayError

    for waited in range(0, START_S, SLOW_S):
        with terminal.wait("Starting Spark" if not waited else "Starting the pipelines"):
            if local.wait_for(lambda: stopping.is_set() or not local.starting(), seconds=SLOW_S):
                return True
        try:
            names = ", ".join(local.starting())
        except WeaverAwayError:
            continue  # it is being started again
        so_far = f"after {waited + SLOW_S} s; `weft logs` shows what they do"
        terminal.output.line(f"Still starting {so_far}: {names}.", style="yellow")
        sys.stdout.flush()
    return False


@dataclass
class _Failing:
    """A pipeline that was told to fail: with what, at which knot, and since when it has said nothing more."""

    message: str
    knot: int | None
    quiet_since: float | None = None

    def is_over(self, knot: int | None, now: float) -> bool:
        """Whether it goes on: it ties knots again, or has said nothing for longer than it waits between two tries."""
        if self.quiet_since is None:
            self.quiet_since = now
        return (knot or 0) > (self.knot or 0) or now - self.quiet_since > QUIET_S


def _tell_failures(terminal: Terminal, local: Local, failing: dict[str, _Failing]) -> None:
    """Say in a line when a pipeline fails, and when it goes on; `failing` are those that were told of."""
    from weft.runtime.client import WeaverAwayError

    try:
        pipelines = {one["id"]: one for one in local.pipelines()}
    except WeaverAwayError:
        return  # it is being started again
    for name, one in pipelines.items():
        if one["error"] is None:
            continue
        message = one["error"]["message"]
        if name not in failing or failing[name].message != message:
            terminal.output.line(
                f"Pipeline {name} fails, and is tried again: {message}", style="red"
            )
        failing[name] = _Failing(message, one["knot"])
    for name, known in list(failing.items()):
        found = pipelines.get(name)
        if found is None:
            del failing[name]
        elif found["error"] is None and known.is_over(found["knot"], time.monotonic()):
            terminal.output.line(f"Pipeline {name} goes on.", style="green")
            del failing[name]
    sys.stdout.flush()
