"""A side stream: it has no source of its own, and rules write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from weft.declared.key import Key
from weft.declared.limit import TEXT
from weft.sources.options import Source


@dataclass(frozen=True)
class RuleSource(Source):
    """Records that rules write into this stream. It needs a `schema`."""

    of: Annotated[
        str | None,
        Key(TEXT, "The stream whose rules write it, for people to read.", "orders", unsaid="any"),
    ] = None
