"""A table of a real PostgreSQL as a source behind a journal reads it, without Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from weft.declared.read import made
from weft.errors import WeftError
from weft.locations.location import locate
from weft.project.definition import SourceSpec, StreamSpec
from weft.schema.schema import Schema
from weft.servers.postgres import Postgres
from weft.servers.process import wait_until
from weft.sources.journal import Journal, records
from weft.sources.postgres.changes import TableChanges
from weft.sources.postgres.event import PLACEHOLDER
from weft.sources.postgres.learn import learn_table
from weft.sources.postgres.slot import SlotRecord
from weft.sources.postgres.source import PostgresSource
from weft.sources.segment import JOURNAL

QUEUE = 7
Row = dict[str, Any]
Follow = Callable[..., "FollowedTable"]


@dataclass
class FollowedTable:
    """A table as it is read, and what its events say so far."""

    postgres: Postgres
    name: str
    folder: Path
    key: tuple[str, ...] = ("id",)
    options: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, str] | None = None
    queue: int = QUEUE
    number: int = 0
    events: list[Row] = field(default_factory=list)
    journal: Journal | None = None
    opened: list[Journal] = field(default_factory=list)

    @property
    def source(self) -> dict[str, Any]:
        connection = self.postgres.connection
        place = {name: connection[name] for name in ("host", "port", "user")}
        return {**place, "database": connection["dbname"], "table": self.name, **self.options}

    def open(self) -> Journal:
        """The journal with its source, as a worker that starts has it."""
        stream = f"s{self.name}".replace('"', "_").lower()[:20]
        schema = Schema.of(self.columns) if self.columns else learn_table(stream, self.source)
        spec = StreamSpec(stream, schema, SourceSpec("postgres", self.source), key=self.key)
        capture = made(PostgresSource, self.source).capture(spec, locate(self.folder))
        self.journal = Journal(self.folder / JOURNAL, TableChanges(capture))
        self.opened.append(self.journal)
        return self.journal

    def read(self) -> bool:
        """Read one batch; False if there is none now."""
        journal = self.journal or self.open()
        number = journal.next(self.number, max_events=self.queue)
        if number == self.number:
            return False
        self.number = number
        found = [json.loads(value) for _, value in records(self.folder / JOURNAL, number)]
        assert 0 < len(found) <= self.queue
        self.events += found
        return True

    def drop(self) -> None:
        """Lose the reader as one that hangs: its connections are still open."""
        self.journal = None

    def close(self) -> None:
        """Let go of the database."""
        for journal in self.opened:
            journal.close()
        self.journal = None

    def leave(self) -> None:
        """Let go of the database, and wait until it knows."""
        self.close()
        asked = "select 1 from pg_replication_slots where slot_name = %s and active"
        wait_until(lambda: not self.postgres.run(asked, slot(self)), what="the slot is still read")

    def reads_until(self, rows: list[Row]) -> None:
        """Read until the rows are these."""

        def are_there() -> bool:
            while self.read():
                pass
            return self.rows() == rows

        wait_until(are_there, what=f"{self.rows()} did not become {rows}", seconds=30)

    def rows(self) -> list[Row]:
        """What the table holds by what its events say: the highest position wins, in whatever order they came."""
        held: dict[Any, tuple[tuple[int, int], Row | None]] = {}
        swept = (0, 0)
        for event in self.events:
            place = (event["source"]["commit_lsn"], event["source"]["event_serial_no"])
            if event["op"] == "t" or event["source"].get("snapshot") == "last":
                swept = max(swept, place)
            if event["op"] == "t":
                continue
            row = event.get("after") or event["before"]
            key = tuple(row[name] for name in self.key)
            known = held.get(key, ((-1, -1), None))
            if place >= known[0]:
                kept = known[1] or {}
                filled = {
                    name: kept.get(name) if value == PLACEHOLDER else value
                    for name, value in row.items()
                }
                held[key] = (place, None if event["op"] == "d" else filled)
        left = [row for place, row in held.values() if row is not None and place >= swept]
        return sorted(left, key=lambda row: tuple(row[name] for name in self.key))


def rows_of(postgres: Postgres, table: str, order: str = "id") -> list[Row]:
    """The rows as the database itself writes them in JSON."""
    return [row for (row,) in postgres.run(f"select to_jsonb(t) from {table} t order by {order}")]


def code_of(table: FollowedTable) -> str:
    with pytest.raises(WeftError) as refused:
        table.read()
    assert refused.value.hint
    return refused.value.code


def places(table: FollowedTable) -> list[tuple[int, int]]:
    return [(one["source"]["commit_lsn"], one["source"]["event_serial_no"]) for one in table.events]


def slot(table: FollowedTable) -> str:
    record = SlotRecord.find(locate(table.folder))
    assert record is not None
    return record.slot
