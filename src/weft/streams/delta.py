"""Stream tables as any tool that reads Delta sees them: opened with what a bucket asks for. Called by the commands that
show rows, the test kit, and whatever checkpoints a table's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.locations.bucket import find_endpoint
from weft.locations.location import is_local

if TYPE_CHECKING:
    from deltalake import DeltaTable


def open_table(address: str) -> DeltaTable:
    """The Delta table at an address, which must be there."""
    from deltalake import DeltaTable

    return DeltaTable(address, storage_options=_options(address))


def _options(address: str) -> dict[str, str] | None:
    endpoint = None if is_local(address) else find_endpoint()
    if endpoint is None:
        return None
    return {
        "aws_endpoint": endpoint,
        "aws_allow_http": str(endpoint.startswith("http://")).lower(),
    }
