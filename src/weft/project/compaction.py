"""What a project says of compaction: when the small files of old knots are put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from weft.declared.key import Key
from weft.declared.limit import number, whole


@dataclass(frozen=True)
class CompactionSpec:
    """When the small files of old knots are put together, and when those that they replace are deleted."""

    every: Annotated[
        int, Key(whole(0, 10**9), "After so many knots of a stream; 0 is never by itself.", 500)
    ] = 100
    apart: Annotated[
        int, Key(whole(1, 10**9), "So many of its newest knots keep their own files.", 200)
    ] = 50
    grace_seconds: Annotated[
        float,
        Key(
            number(0, 1e12),
            "Files that were replaced lie so much longer, for who reads them now.",
            86400,
        ),
    ] = 3600.0
