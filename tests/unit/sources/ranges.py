"""How the kernel reads a range of a text file, said once more in a few lines of Python: tests hold one against the
other, and follow files by this one where there is no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.sources import lines
from weft.sources.lines import Place, Text


def read_range(form: Mapping[str, Any]) -> Iterator[tuple[str, bytes, str | None]]:
    """The position, bytes and reason of each record of a range, given as the kernel gets it."""
    name, suffix = form["name"], form["suffix"]
    if "path" not in form:
        yield f"{name}#{form['line'] + 1}{suffix}", b"", form["reason"]
        return
    separator = None if form["separator"] is None else form["separator"].encode()
    text = Text(form["path"], form["end"] if form["end"] >= 0 else None, separator)
    for block in lines.blocks(text, Place(form["line"], form["first"])):
        for number, record in zip(block.numbers, block.records, strict=True):
            if block.damage is not None:
                yield f"{name}#{number}{suffix}", record, block.damage
            elif record.strip():
                yield f"{name}#{number}{suffix}", record.removesuffix(b"\r"), form["reason"]
