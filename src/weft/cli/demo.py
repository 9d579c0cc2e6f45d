"""`weft demo`: what Weft does, told in two minutes on the project that `weft init` writes, or with `--cdc` on documents
that follow a database."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Command, pass_terminal
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.story import Story

LOG_LINES = 30


@click.command(cls=Command)
@click.option("--port", default=8080, show_default=True, help="Port of the weaver, if it is free.")
@click.option("--once", is_flag=True, help="End when the story is told; so does DEMO=once.")
@click.option(
    "--cdc", is_flag=True, help="Tell another: documents that follow a database's changes."
)
@pass_terminal
def demo(terminal: Terminal, port: int, once: bool, cdc: bool) -> None:
    """See in two minutes what Weft does: a shop's orders, a rule, a mistake, a crash.

    With --cdc, a PostgreSQL, a Kafka and a Kafka Connect with Debezium are started too, and documents follow what is
    changed in the database; that needs `pip install 'weft[demo]'`.
    """
    from weft.loading.init import write
    from weft.runtime import jars

    # Until there is a story to stop, to be told to end is an interrupt, so that all that was started ends.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    jars.find_for()
    with tempfile.TemporaryDirectory(prefix="weft-demo-") as folder:
        if not cdc:
            shop = Path(folder) / "shop"
            write(shop)
            _play(terminal, shop, _tell, port=port, once=once)
            return
        from weft.cli.forge import open_forge
        from weft.cli.profile import introduce, tell

        introduce(terminal)
        with open_forge(terminal, Path(folder)) as forge:
            _play(terminal, forge.project, partial(tell, forge), port=port, once=once)


def _play(
    terminal: Terminal, folder: Path, tell: Callable[[Story], None], *, port: int, once: bool
) -> None:
    """Tell a story over the project in a folder, and unless it is to end at once, wait to be stopped."""
    from weft.cli.journal import PARTS, journal_of, last_lines
    from weft.cli.local import Local
    from weft.cli.story import Story, StoryStoppedError, StoryStuckError
    from weft.streams.storage import Storage

    storage = folder / ".weft"
    local = Local(Storage(str(storage)), folder=folder, port=_free(port), master="local[2]")
    story = Story(terminal, local, storage)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: story.stopping.set())
    try:
        tell(story)
        if not once and os.environ.get("DEMO") != "once":
            story.say(f"\nWeft is up: {local.address}  (Ctrl-C stops it)")
            while not story.stopping.wait(0.2):
                local.tend()
    except StoryStoppedError:
        story.say("Stopped.")
    except StoryStuckError:
        for part in PARTS:
            for line in last_lines(journal_of(storage, part), LOG_LINES):
                click.echo(line, err=True)
        raise
    finally:
        with terminal.wait("Stopping"):
            local.stop()


def _tell(story: Story) -> None:
    from weft.cli.project import read_project

    story.say("Orders come in from a mock source, are cleaned, and summed up by country. This is")
    story.say("the project that `weft init` writes; a weaver and a worker with Spark are started.")
    with story.terminal.wait("Starting"):
        story.local.start(read_project(story.folder))
    with story.tended():
        story.wait_for("the streams to flow", lambda: _rows(story, "clean-orders"))
        story.wait_for("windows", lambda: story.head("revenue") >= 1)
        _look(story)
        _find_dead_letters(story)
        _change(story)
        _take_back(story)
        _crash(story)
    story.chapter("All that was recorded is true of all that is stored, byte by byte.")
    story.type("verify", "--deep")
    story.say(f"\nThe weaver answers at {story.local.address}, its API is described at /docs.")


def _look(story: Story) -> None:
    story.chapter("Every micro-batch ties a knot: what came in, what went out, with hashes.")
    story.type("status")
    story.type("stream", "log", "clean-orders", "-n", "5")
    story.type("knot", "show", "clean-orders", str(_rows(story, "clean-orders")))


def _find_dead_letters(story: Story) -> None:
    story.chapter("A record that cannot be read is not lost: it is in a stream of its own.")
    story.wait_for("a bad record", lambda: story.get("/streams/orders")["knot"] and _dead(story))
    story.type("stream", "rows", "orders.dead", "-n", "2")


def _dead(story: Story) -> bool:
    return any(stream["name"] == "orders.dead" for stream in story.get("/streams"))


def _change(story: Story) -> None:
    story.chapter("Change a stream while it runs. First dry, on rows that are recorded:")
    rule = ["rule", "attach", "discount", "--stream", "clean-orders"]
    rule += ["--set", "total=cast(total * 0.9 as decimal(10,2))"]
    rule += ["--output-stream", "discounted", "--percent", "10"]
    story.type(*rule, "--dry-run", "--knots", "2")
    story.say("Then for 10 % of the keys, into a stream beside the original:")
    story.type(*rule)
    story.wait_for("its first rows", lambda: _rows(story, "discounted"))
    story.type("stream", "rows", "discounted", "-n", "2")
    story.say("Then for all of them, in place:")
    story.type("rule", "promote", "discount", "--percent", "100", "--in-place")
    last = story.get("/streams/clean-orders")["last_number"]
    story.wait_for("the next knot", lambda: story.head("clean-orders") > last)
    story.type("stream", "log", "clean-orders", "-n", "3")


def _take_back(story: Story) -> None:
    story.chapter("A mistake: a rule that lets nothing through. The ledger shows it.")
    good = story.head("clean-orders")
    story.type("rule", "attach", "oops", "--stream", "clean-orders", "--filter", "total > 1e9")
    story.wait_for("the damage", lambda: _filtered(story))
    story.type("stream", "log", "clean-orders", "-n", "4")
    story.say("Roll the stream back, and everything that was made of it:")
    story.type("rollback", "clean-orders", "--to", str(good), "--dry-run")
    story.type("rollback", "clean-orders", "--to", str(good))
    last = story.get("/streams/clean-orders")["last_number"]
    story.wait_for("data to flow again", lambda: story.head("clean-orders") > last)
    story.type("stream", "log", "clean-orders", "-n", "6", "--graph")


def _crash(story: Story) -> None:
    story.chapter("kill -9 for the worker, in the middle of its batches. It is started again:")
    process = story.local.worker.process
    assert process is not None
    last = story.get("/streams/orders")["last_number"]
    story.say(f"$ kill -9 {process.pid}")
    process.kill()
    story.wait_for("the worker to come back", lambda: story.head("orders") > last)
    knots: list[dict[str, Any]] = story.get("/knots", stream="orders", limit=1000)
    live = [knot for knot in knots if knot["status"] == "COMPLETE"]
    read = live[0]["offsets"]["to"][0]["record"]
    counted = sum(knot["ledger"]["in"] for knot in live)
    story.say(
        f"The source was read up to record {read:,}; the ledgers of all {len(live)} knots account "
        f"for {counted:,}: {'nothing lost, nothing twice' if read == counted else 'NOT EQUAL'}."
    )


def _rows(story: Story, stream: str) -> int | None:
    """The newest live knot that wrote rows to a stream."""
    knots = story.get("/knots", stream=stream, limit=20)
    live = (knot for knot in knots if knot["status"] == "COMPLETE")
    return next((knot["number"] for knot in live if knot["outputs"][stream]["rows"]), None)


def _filtered(story: Story) -> bool:
    knots = story.get("/knots", stream="clean-orders", limit=5)
    return any("oops" in str(knot["ledger"]["filtered"]) for knot in knots)


def _free(port: int) -> int:
    """The port, or another one if something listens on it."""
    for wanted in (port, 0):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return int(tried.getsockname()[1])
    return port
