"""The columns of a table that declares none, from the newest event of its topic that tells its schema. Called by the
project's check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.declared.read import made
from weft.schema.schema import Schema
from weft.sources.debezium import DebeziumSource
from weft.sources.envelope import envelope_columns
from weft.sources.newest import NewestEvents
from weft.sources.options import SourceError

NEWEST = 20
"""So many events from the end of each partition on are looked at: tombstones and deletions tell no columns."""


def learn_columns(options: Mapping[str, Any]) -> Schema:
    """The columns that the events of a Debezium source tell; refuses a topic that tells none."""
    source = made(DebeziumSource, options)
    topic = source.topic.partition(",")[0].strip()
    if source.registry is not None:
        message = (
            f"the events of topic {topic!r} are in Avro, and tell their columns to the worker alone"
        )
        raise SourceError(message, hint="Declare the columns.")
    newest = NewestEvents(source.servers, topic, source.client)
    found = None
    try:
        for value in newest.read(NEWEST) or ():
            found = envelope_columns(value, unwrapped=source.unwrapped) or found
    finally:
        newest.close()
    if found is None:
        raise SourceError(
            f"topic {topic!r} at {source.servers} has no event yet that tells its schema",
            hint="Declare the columns, or switch schemas on in the connector's converter.",
        )
    return found
