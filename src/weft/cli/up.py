"""`weft up`: a project on one machine, kept running until it is told to stop."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weft.cli.command import Command, pass_terminal
from weft.cli.project import project_file, read_project, recompute_option, render_changes
from weft.cli.service import debug_option, metrics_option
from weft.cli.terminal import Terminal
from weft.cli.worker import conf_option, master_option, worker_metrics_option

if TYPE_CHECKING:
    from weft.cli.local import Local

START_S = 180.0


@click.command(cls=Command)
@project_file
@click.option(
    "--storage",
    type=click.Path(path_type=Path),
    help="The folder for streams, checkpoints and the weaver's store; default: .weft beside FILE.",
)
@click.option("--port", default=8080, show_default=True, help="Port of the weaver, on loopback.")
@metrics_option
@worker_metrics_option
@master_option
@conf_option
@recompute_option
@debug_option
@pass_terminal
def up(
    terminal: Terminal,
    file: Path,
    storage: Path | None,
    port: int,
    metrics_port: int,
    worker_metrics_port: int,
    master: str,
    conf: tuple[str, ...],
    recompute: bool,
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
        (storage or folder / ".weft").absolute(),
        folder=folder.absolute(),
        port=port,
        metrics_port=metrics_port,
        worker_metrics_port=worker_metrics_port,
        master=master,
        conf=conf,
        debug=debug,
    )
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        with terminal.wait("Starting the weaver"):
            changes = local.start(project, recompute=recompute)
        render_changes(terminal.output, changes)
        _run(terminal, local, stopping)
    finally:
        with terminal.wait("Finishing the batches in hand"):
            local.stop()


def _run(terminal: Terminal, local: Local, stopping: threading.Event) -> None:
    with terminal.wait("Starting Spark"):
        ready = local.wait_for(lambda: stopping.is_set() or local.is_running(), seconds=START_S)
    if not stopping.is_set():
        if ready:
            terminal.output.line(f"Weft is up: {local.address} (its API is described at /docs)")
        else:
            terminal.output.line(f"The weaver is up at {local.address}, pipelines are not yet.")
        sys.stdout.flush()
    while not stopping.wait(0.2):
        local.tend()
