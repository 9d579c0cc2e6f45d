"""`weft store`, `weft backup` and `weft restore`: what is stored, as a whole."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.command import Command, Group, asks_weaver, pass_terminal
from weft.cli.service import storage_of, storage_option, store_option
from weft.cli.terminal import Terminal

if TYPE_CHECKING:
    from weft.cli.output import Printer
    from weft.operations.cut import Cut
    from weft.streams.storage import Storage


@click.group(cls=Group)
def store() -> None:
    """The weaver's store: what it is, and making it anew from the tables of its streams."""


@store.command()
@click.option(
    "--store",
    "address",
    metavar="ADDRESS",
    required=True,
    help="cassandra://HOST,HOST:PORT/KEYSPACE; the port may be left out.",
)
@click.option(
    "--replicas",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How many nodes of each data centre have each row, if the keyspace is new.",
)
@pass_terminal
def create(terminal: Terminal, address: str, replicas: int) -> None:
    """Make the keyspace and the tables of a store in Cassandra; what is there stays as it is.

    Credentials are taken from WEFT_CASSANDRA_USER and WEFT_CASSANDRA_PASSWORD, where the cluster asks for any.
    """
    from weft.weaver.store.address import KeyspaceAddress, connect

    place = KeyspaceAddress.parse(address)
    with terminal.wait("Making the tables"):
        keyspace = connect(place, is_made=False)
        try:
            keyspace.create(replicas=replicas)
        finally:
            keyspace.close()
    terminal.show({"store": str(place)}, _render_created)


@store.command()
@click.argument("address")
@storage_option
@store_option
@pass_terminal
def copy(terminal: Terminal, address: str, storage: str, store: str | None) -> None:
    """Put the store of a storage into the empty keyspace at ADDRESS, so that several weavers can share it.

    No weaver may run meanwhile. The old store stays where it is; start weavers with `--store ADDRESS` from then on.
    """
    from weft.weaver.store.address import KeyspaceAddress
    from weft.weaver.store.moving import copy_into

    place = KeyspaceAddress.parse(address)
    with terminal.wait("Copying"):
        count = copy_into(Path(storage_of(storage, store).store), place)
    terminal.show({"store": str(place), "records": count}, _render_copied)


@store.command()
@storage_option
@store_option
@pass_terminal
def show(terminal: Terminal, storage: str, store: str | None) -> None:
    """Which history a store keeps, how often it was opened, and how much is in it."""
    from weft import codec
    from weft.weaver.identity import KEY, StoreRecord
    from weft.weaver.store.opening import read_store
    from weft.weaver.store.records import Records

    with read_store(storage_of(storage, store).store) as snapshot:
        known = Records(snapshot).get(StoreRecord, *KEY)
        count = sum(1 for _ in snapshot.scan(b""))
    terminal.show({**codec.to_form(known), "records": count}, _render_store)


@store.command()
@storage_option
@store_option
@pass_terminal
def rebuild(terminal: Terminal, storage: str, store: str | None) -> None:
    """Make the store anew from what the tables say: after it was lost, damaged, or restored from an older copy.

    No weaver may run meanwhile. The old store is kept beside the new one. Every knot that is in a table is
    known again, with the rules that were in force; batches that were not finished run again.
    """
    from weft import codec
    from weft.weaver.recover import recover

    place = storage_of(storage, store)
    with terminal.wait("Reading the tables"):
        found = recover(place, lambda stream, cut: _cut_table(place, stream, cut))
    terminal.show(codec.to_form(found), _render_rebuilt)


@click.command(cls=Command)
@click.argument("name", default=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ"))
@click.option(
    "--offline",
    type=click.Path(path_type=Path, exists=True),
    metavar="STORAGE",
    help="Copy this storage, whose weaver does not run, in place of asking a weaver.",
)
@asks_weaver
def backup(terminal: Terminal, name: str, offline: Path | None) -> None:
    """Copy everything that is stored, while all pipelines stand still for it.

    The copy is the folder NAME (default: the time) in STORAGE.backups, beside the storage.
    """
    from weft.streams.storage import Storage
    from weft.weaver.backup import copy_offline, place_of

    if offline is None:
        done = terminal.post("/backups", {"name": name}, doing="Copying")
        terminal.show(done, _render_backup)
        return
    source = Storage(str(offline.absolute()))
    with terminal.wait("Copying"):
        copied = copy_offline(source, place_of(source, name))
    terminal.show({"result": vars(copied), "status": "done"}, _render_backup)


@click.command(cls=Command)
@click.argument("backup", type=click.Path(path_type=Path, exists=True))
@storage_option
@pass_terminal
def restore(terminal: Terminal, backup: Path, storage: str) -> None:
    """Make a storage of a BACKUP; it must not be there yet.

    It goes on from the moment of the backup. What left through sinks after that is out there, and leaves again.
    """
    from weft.streams.storage import Storage
    from weft.weaver.backup import put_back

    with terminal.wait("Copying"):
        copied = put_back(Storage(str(backup.absolute())), storage_of(storage))
    terminal.show(vars(copied), _render_restored)


def _cut_table(storage: Storage, stream: str, cut: Cut) -> None:
    """Take the rows of a batch that was not finished out of a table, which only the kernel can write."""
    from weft.runtime import session
    from weft.streams.table import Table

    assert cut.gone is not None
    spark = session.create("local[1]", app="weft-store-rebuild", storage=storage.root)
    Table(spark, storage.table(stream)).cut(
        cut.gone.after, cut.gone.upto, {"operation": "store rebuild"}
    )


def _render_created(output: Printer, made: dict[str, Any]) -> None:
    output.line(f"The store is there. Start weavers on it with `--store {made['store']}`.")


def _render_copied(output: Printer, copied: dict[str, Any]) -> None:
    from weft.cli.output import plural

    output.line(f"Copied {plural(copied['records'], 'record')}.")
    output.line(f"Start weavers with `--store {copied['store']}`.")


def _render_store(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.output import moment

    output.fields(
        {
            "history": found["history"],
            "made": moment(found["created"]),
            "opened": f"{len(found['generations'])} times",
            "records": found["records"],
        }
    )


def _render_rebuilt(output: Printer, found: dict[str, Any]) -> None:
    from weft.cli.output import plural

    output.line(
        f"The store of history {found['history']} is made anew: {plural(found['streams'], 'stream')}, "
        f"{plural(found['knots'], 'knot')} ({found['new_knots']:,} that it did not know), "
        f"{plural(found['rules'], 'rule')}."
    )
    if found["cut_tables"]:
        output.line(f"Unfinished batches were taken out of {', '.join(found['cut_tables'])}.")
    if found["kept_as"]:
        output.line(f"The old store is kept in {found['kept_as']}.")
    output.line("Run `weft verify`, then start Weft with its project file, as ever.")


def _render_backup(output: Printer, done: dict[str, Any]) -> None:
    if done["status"] != "done":
        output.line(f"{done['id']} is {done['status']}; see `weft operation show {done['id']}`.")
        return
    copied = done["result"]
    output.line(f"Copied {copied['files']:,} files ({copied['bytes']:,} bytes) to {copied['to']}.")
    output.line(f"Check it with `weft verify --storage {copied['to']}`.")


def _render_restored(output: Printer, copied: dict[str, Any]) -> None:
    output.line(
        f"Restored {copied['files']:,} files ({copied['bytes']:,} bytes) to {copied['to']}."
    )
    output.line("Start Weft on it with its project file, as ever.")
