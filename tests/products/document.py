"""Documents from anywhere as plain values, so that what an engine wrote can be compared with what a model says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def normalised(value: Any) -> Any:
    """A value of plain dicts and lists: rows of Spark become dicts, and times without a zone are in UTC."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, Mapping):
        return {name: normalised(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [normalised(one) for one in value]
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value
