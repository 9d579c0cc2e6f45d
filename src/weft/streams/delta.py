"""Stream tables as any tool that reads Delta sees them: opened with what a bucket asks for. Called by the commands that
show rows, the test kit, and whatever checkpoints a table's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.locations.bucket import delta_options

if TYPE_CHECKING:
    from deltalake import DeltaTable


def open_table(address: str) -> DeltaTable:
    """The Delta table at an address, which must be there."""
    from deltalake import DeltaTable

    return DeltaTable(address, storage_options=delta_options(address))
