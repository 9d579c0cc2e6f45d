"""`weft worker`: runs a worker; `weft worker list` says which there are."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Group, asks_weaver
from weft.cli.service import (
    debug_option,
    port_for,
    storage_of,
    storage_option,
    supervised_option,
)
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer

DEFAULT_MASTER = "local[*]"

master_option = click.option(
    "--master", default=DEFAULT_MASTER, show_default=True, help="Spark's master."
)
worker_metrics_option = click.option(
    "--worker-metrics-port",
    default=0,
    help="Port for the figures of `metrics` sinks, on loopback; default: none.",
)
executors_option = click.option(
    "--executors",
    metavar="N|MIN..MAX",
    help="Executors on a cluster: always N, or within bounds as the load needs them.  "
    "[default: as Spark's own settings say]",
)
label_option = click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="LABEL",
    help="What this worker is good for: `processing.placement` asks for it; may be repeated.",
)
conf_option = click.option(
    "--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark; may be repeated."
)


@click.group(cls=Group, invoke_without_command=True)
@storage_option
@master_option
@worker_metrics_option
@executors_option
@label_option
@conf_option
@debug_option
@supervised_option
@asks_weaver
@click.pass_context
def worker(
    ctx: click.Context,
    terminal: Terminal,
    storage: str,
    master: str,
    worker_metrics_port: int,
    executors: str | None,
    labels: tuple[str, ...],
    conf: tuple[str, ...],
    debug: bool,
    supervised: bool,
) -> None:
    """Run a worker: a Spark driver that runs pipelines and ties knots.

    On SIGTERM it finishes the batches in hand, ties their knots and gives its pipelines back.
    """
    if ctx.invoked_subcommand is None:
        settings = dict(_setting(text) for text in conf)
        run_worker(
            terminal.address,
            storage,
            master=master,
            worker_metrics_port=worker_metrics_port,
            executors=executors,
            labels=labels,
            conf=settings,
            debug=debug,
            supervised=supervised,
        )


@worker.command("list")
@asks_weaver
def list_workers(terminal: Terminal) -> None:
    """The workers, whether they are connected, and the pipelines they hold."""
    terminal.show(terminal.get("/workers"), _render_workers)


def run_worker(
    weaver: str,
    storage: str,
    *,
    master: str,
    worker_metrics_port: int,
    executors: str | None,
    labels: tuple[str, ...],
    conf: dict[str, str],
    debug: bool,
    supervised: bool,
) -> None:
    """Work for a weaver until a signal comes."""
    from prometheus_client import start_http_server

    from weft import logs
    from weft.cli.supervisor import end_with_parent
    from weft.runtime import session
    from weft.runtime.executors import Bounds
    from weft.runtime.worker import Worker

    bounds = None if executors is None else Bounds.parse(executors)
    logs.set_up("worker", debug=debug)
    # A project's own sources and sinks are modules of the folder in which its worker is started.
    sys.path.insert(0, str(Path.cwd()))
    if supervised:
        end_with_parent()
    if worker_metrics_port:
        with port_for("worker-metrics", worker_metrics_port):
            start_http_server(worker_metrics_port, addr="127.0.0.1")
    place = storage_of(storage)
    settings = {**(bounds.settings() if bounds else {}), **conf}
    spark = session.create(master, app="weft", conf=settings, storage=place.root)
    running = Worker(spark, weaver, place, executors=bounds, labels=labels)
    # After Spark's own handlers, which would tear down the session under a batch.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: running.stop())
    try:
        running.run()
    finally:
        session.stop(spark)


def _setting(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise click.BadParameter(f"'{text}' is not KEY=VALUE.", param_hint="--conf")
    return name, value


def _render_workers(output: Printer, workers: list[dict[str, Any]]) -> None:
    from weft.cli.output import moment

    output.table(
        [
            *("WORKER", "STATE", "MASTER", "PID", "BUSY", "EXECUTORS", "LABELS", "PIPELINES"),
            *("STARTED", "LAST SEEN"),
        ],
        (
            [
                worker["worker"],
                "connected" if worker["connected"] else "gone",
                worker["master"],
                worker["pid"],
                f"{worker['busy']:.2f}",
                worker["executors"],
                ", ".join(worker["labels"]) or None,
                ", ".join(worker["leases"]),
                moment(worker["started"]),
                None if worker["connected"] else moment(worker["seen"]),
            ]
            for worker in workers
        ),
        empty="No worker was ever here. Start one with `weft worker`.",
        optional=("EXECUTORS", "LABELS", "LAST SEEN"),
        gives=("WORKER", "PIPELINES"),
    )
