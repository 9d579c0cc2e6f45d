"""Streams that are filled: what was woven into one from recorded rows, before its first knot."""

from __future__ import annotations

from weft.lineage.facts import FilledPart
from weft.weaver.knots import line
from weft.weaver.store.records import Records, put, remove
from weft.weaver.store.store import Write

NOT_YET = 2**62
"""The knot from which a rule is in force while its stream is still being filled."""
CLOSE = 3
"""So few knots behind, the stream is joined to the live flow."""


def store_fill(part: FilledPart) -> Write:
    """The write that remembers a part."""
    return put(line(part.stream), "fill", part.knot, value=part)


def forget_fills(records: Records, stream: str) -> list[Write]:
    """The writes that forget what a stream was filled with."""
    parts = records.scan(FilledPart, line(stream), "fill")
    return [remove(line(stream), "fill", part.knot) for part in parts]
