"""The columns of a table that declares none, from the database's catalogue. Called by the project's check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.declared.read import made
from weft.schema.schema import Schema
from weft.sources.postgres.address import need_client
from weft.sources.postgres.catalogue import find_table
from weft.sources.postgres.source import PostgresSource


def learn_table(stream: str, options: Mapping[str, Any]) -> Schema:
    """The columns of the table that the source of a stream names; refuses one that is not there."""
    need_client()
    source = made(PostgresSource, options)
    address = source.address(stream)
    with address.connect() as connection:
        return find_table(connection, source.table_name(stream), address).schema()
