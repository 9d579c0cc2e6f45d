"""Lets go of what a table that is no longer read keeps in its database. Called by `weft table drop-slot`."""

from __future__ import annotations

from weft.declared.read import made
from weft.project.definition import Project
from weft.sources.postgres.address import PostgresError
from weft.sources.postgres.name import quoted
from weft.sources.postgres.slot import drop_slot, find_slot
from weft.sources.postgres.source import PostgresSource


def release(project: Project, name: str) -> list[str]:
    """Drop the slot of a table, and its publication unless the project names one; what was dropped."""
    source = project.stream(name).source
    if source is None or source.kind != "postgres":
        raise PostgresError(
            f"Table {name!r} is not read from PostgreSQL, and has no slot.",
            code="source.no-slot",
            domain="user",
            hint="`weft table list` shows where tables come from.",
            stream=name,
        )
    said = made(PostgresSource, source.options)
    slot, address, done = said.slot_name(name), said.address(name), []
    with address.connect() as connection:
        found = find_slot(connection, slot)
        if found is not None and found.reader is not None:
            raise PostgresError(
                f"Slot {slot!r} is read by process {found.reader} of the server.",
                code="source.slot-active",
                domain="conflict",
                hint=f"Stop it first: weft pipeline stop {name}",
                stream=name,
            )
        if found is not None:
            drop_slot(connection, slot)
            done.append(f"slot {slot}")
        asked = "select 1 from pg_publication where pubname = %s"
        if said.publication is None and connection.execute(asked, (slot,)).fetchone():
            connection.execute(f"DROP PUBLICATION {quoted(slot)}".encode())
            done.append(f"publication {slot}")
    return done
