"""The `weft` command: all nouns in the order that the API has them."""

from __future__ import annotations

import click

import weft
from weft.cli import branch  # noqa: F401 - adds its verbs to `weft stream`
from weft.cli.alert import alert
from weft.cli.anomaly import anomaly
from weft.cli.bisect import bisect
from weft.cli.command import Group
from weft.cli.completion import completion
from weft.cli.demo import demo
from weft.cli.events import events
from weft.cli.function import function
from weft.cli.history import history
from weft.cli.knot import knot
from weft.cli.lineage import lineage
from weft.cli.logs import logs
from weft.cli.operation import operation
from weft.cli.pipeline import pipeline
from weft.cli.prepare import prepare
from weft.cli.product import product
from weft.cli.project import apply, check, init, schema
from weft.cli.record import record
from weft.cli.replay import replay
from weft.cli.rollback import rollback
from weft.cli.rule import rule
from weft.cli.scaling import scaling
from weft.cli.service import checkpoint, status, weaver
from weft.cli.state import state, windows
from weft.cli.store import backup, restore, store
from weft.cli.stream import stream
from weft.cli.table import table
from weft.cli.up import up
from weft.cli.verify import verify
from weft.cli.worker import worker


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(weft.__version__, prog_name="weft")
def cli() -> None:
    """Streaming pipelines on Spark whose every batch ties a knot.

    Start with `weft init my-project`, `cd my-project`, `weft up`.
    """


for command in (
    init,
    check,
    schema,
    up,
    weaver,
    worker,
    demo,
    prepare,
    apply,
    status,
    checkpoint,
    pipeline,
    stream,
    knot,
    lineage,
    record,
    table,
    product,
    windows,
    state,
    events,
    logs,
    rule,
    function,
    rollback,
    replay,
    bisect,
    history,
    operation,
    scaling,
    anomaly,
    alert,
    verify,
    store,
    backup,
    restore,
    completion,
):
    cli.add_command(command)


def main() -> None:
    """Run the command that was typed."""
    cli(prog_name="weft")
