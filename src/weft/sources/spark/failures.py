"""Why a source that is asked in the worker itself could not be read: Spark would only tell a text of it."""

from __future__ import annotations

from weft.errors import WeftError
from weft.locations.location import Addressed, locate

_FAILED: dict[str, WeftError] = {}


def keep(folder: Addressed, error: WeftError) -> None:
    """Remember why the source that keeps in this folder what it must could not be read."""
    _FAILED[locate(folder).address] = error


def take(folder: Addressed) -> WeftError | None:
    """Why a source could not be read, told once."""
    return _FAILED.pop(locate(folder).address, None)
