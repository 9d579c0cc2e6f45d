"""What is read of a database, and as what. Made by `source`, read by all that does it."""

from __future__ import annotations

from dataclasses import dataclass

from weft.locations.location import Location
from weft.schema.schema import Schema
from weft.sources.postgres.address import Address
from weft.sources.postgres.name import TableName


@dataclass(frozen=True)
class Capture:
    """One table, its slot and publication, and the columns that a project declares."""

    address: Address
    table: TableName
    slot: str
    publication: str
    columns: Schema
    key: tuple[str, ...]
    folder: Location
    restarts: bool = False
    """Whether the table is read anew when changes are gone."""
