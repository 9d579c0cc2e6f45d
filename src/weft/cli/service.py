"""`weft weaver`, `weft status` and `weft checkpoint`: the service itself."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Command, asks_weaver, pass_terminal
from weft.cli.terminal import Terminal
from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.cli.output import Printer
    from weft.streams.storage import Storage

DEFAULT_STORAGE = Path(".weft")
WORKER_FIRST_S = 20.0

storage_option = click.option(
    "--storage",
    metavar="FOLDER|ADDRESS",
    default=str(DEFAULT_STORAGE),
    show_default=True,
    help="Where streams and checkpoints lie: a folder, s3a://BUCKET/FOLDER or hdfs://HOST/FOLDER.",
)
store_option = click.option(
    "--store",
    metavar="FOLDER|ADDRESS",
    help="The weaver's store: a folder, or cassandra://HOST,HOST:PORT/KEYSPACE, which several weavers share.  "
    "[default: weaver in the storage, or in .weft where that is no folder]",
)


def storage_of(address: str, store: str | None = None) -> Storage:
    """The storage that was named, with the place of the weaver's store."""
    from weft.locations.location import is_local, locate
    from weft.streams.storage import Storage

    root = locate(address).address
    if is_local(address):
        apart = None if store is None else _store_place(store)
        return Storage(str(Path(root).absolute()), apart=apart)
    return Storage(root, apart=_store_place(store or str(DEFAULT_STORAGE / "weaver")))


def _store_place(store: str) -> str:
    """A folder with its whole path, or the address of a keyspace."""
    from weft.weaver.store.address import KeyspaceAddress

    is_address = "://" in store
    return str(KeyspaceAddress.parse(store)) if is_address else str(Path(store).absolute())


metrics_option = click.option(
    "--metrics-port",
    default=9090,
    show_default=True,
    help="Port of the Prometheus metrics, on loopback; 0 serves none.",
)
supervised_option = click.option("--supervised", is_flag=True, hidden=True)
debug_option = click.option("--debug", is_flag=True, help="Log more.")


@click.command(cls=Command)
@storage_option
@store_option
@click.option("--port", default=8080, show_default=True, help="Its port; 0 takes a free one.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The name or address of this machine at which it answers. Whoever reaches it may do everything: there are "
    "no users.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Another name under which it is asked, such as a load balancer's; may be repeated.",
)
@metrics_option
@click.option(
    "--lease-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="After so long a silence, a worker's pipelines pass to another.",
)
@debug_option
@supervised_option
@pass_terminal
def weaver(
    terminal: Terminal,
    storage: str,
    store: str | None,
    port: int,
    host: str,
    names: tuple[str, ...],
    metrics_port: int,
    lease_seconds: float,
    debug: bool,
    supervised: bool,
) -> None:
    """Run a weaver: the service that keeps rules and knots and tells workers what to run.

    Several weavers may share a store in Cassandra. One of them leads; the others hand requests on to it, and one of
    them takes over when it is gone.
    """
    from weft.cli.supervisor import end_with_parent
    from weft.logs import get_logger, set_up
    from weft.weaver.serve import LOOPBACK, WeaverHost, make_server, make_sharing_server
    from weft.weaver.store.opening import is_shared

    set_up("weaver", debug=debug)
    if supervised:
        end_with_parent(after_s=WORKER_FIRST_S)
    # The server hands a signal on when it has shut down; this way the store is closed too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    place, lease = storage_of(storage, store), timedelta(seconds=lease_seconds)
    if host in ("0.0.0.0", "::"):
        raise click.BadParameter(
            "Name the machine by a name or address that others can use.", param_hint="--host"
        )
    reached = WeaverHost(host, names)
    log = get_logger("weft.weaver")
    if is_shared(place.store):
        sharing = make_sharing_server(
            place, port=port, lease=lease, host=reached, metrics_port=metrics_port or None
        )
        log.info("the weaver answers at %s", sharing.address)
        sharing.run()
        return
    server = make_server(place, port=port, host=reached)
    server.weaver.leases.duration = lease
    if metrics_port:
        with port_for("metrics", metrics_port):
            server.weaver.metrics.serve(metrics_port, LOOPBACK)
    log.info("the weaver answers at %s", server.address)
    server.run()


@contextmanager
def port_for(what: str, port: int) -> Iterator[None]:
    """Say in a sentence that a port cannot be listened on."""
    try:
        yield
    except OSError as error:
        raise WeftError(
            f"The {what} cannot be served on port {port}: {error.strerror}.",
            code="service.port-taken",
            domain="user",
            hint=f"Stop what uses it, or choose another with `--{what}-port`; 0 serves none.",
            port=port,
        ) from error


@click.command(cls=Command)
@asks_weaver
def status(terminal: Terminal) -> None:
    """The project, its pipelines and workers at a glance."""
    terminal.show(terminal.get("/status"), _render_status)


@click.command(cls=Command)
@asks_weaver
def checkpoint(terminal: Terminal) -> None:
    """Have every running pipeline tie a knot now."""
    tied = terminal.post("/checkpoint", doing="Waiting for every pipeline to tie a knot")
    terminal.show(tied, _render_checkpoint)


def _render_status(output: Printer, status: dict[str, Any]) -> None:
    from weft.cli.output import plural, short
    from weft.cli.pipeline import render_pipelines

    if status["project"] is None:
        output.line("No project is deployed. Deploy one with `weft apply`.")
        return
    connected = sum(worker["connected"] for worker in status["workers"])
    output.line(
        f"project {status['project']} ({short(status['version'])}), "
        f"{plural(status['streams'], 'stream')}, {plural(connected, 'worker')} connected"
    )
    if not connected and any(one["desired"] == "running" for one in status["pipelines"]):
        output.line(
            "Pipelines wait for a worker: `weft up` or `weft worker` starts one.", style="yellow"
        )
    output.line()
    render_pipelines(output, status["pipelines"])


def _render_checkpoint(output: Printer, tied: dict[str, Any]) -> None:
    output.table(["PIPELINE", "KNOT"], tied["knots"].items(), empty="No pipeline is running.")
