"""Which values of a stream are watched for what is unusual: declared per stream, measured by the worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from weft.declared.key import Key
from weft.declared.limit import names

MOST_SERIES = 10_000
"""So many series of a stream are watched; of more, the others are left alone."""


@dataclass(frozen=True)
class WatchSpec:
    """The numbers of a stream that are watched one by one: each column, for each value of others, is a series."""

    of: Annotated[
        tuple[str, ...],
        Key(
            names(),
            "The columns with numbers whose mean in every knot is a value of a series.",
            "total",
        ),
    ] = ()
    by: Annotated[
        tuple[str, ...],
        Key(
            names(),
            "The columns whose values tell series apart.",
            ["country"],
            unsaid="there is one series for each column",
            beside={"of": "total"},
        ),
    ] = ()


UNWATCHED = WatchSpec()
