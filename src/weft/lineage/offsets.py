"""Offsets: what a batch takes in, as Spark planned it before the batch ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field


@dataclass(frozen=True)
class Offsets:
    """Where each source of a batch starts (None: from its beginning) and ends."""

    start: Annotated[tuple[Any, ...], Field(alias="from")] = ()
    end: Annotated[tuple[Any, ...], Field(alias="to")] = ()
    inputs: Mapping[str, int] = field(default_factory=dict)
    """The last knot of each input stream that was consumed when the batch was done."""
    order: tuple[str, ...] = ()
    """The input streams as they take turns: knots go by number, and of one number the first stream's is first."""
