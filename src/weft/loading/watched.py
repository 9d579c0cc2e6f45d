"""Which series of streams are watched: what was declared of each, held against its columns. Called by `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.loading.problem import Problems
from weft.loading.read import Draft
from weft.project.definition import StreamSpec

NO_TEXT = ("array", "map", "struct", "binary")
NUMBERS = ("byte", "short", "int", "long", "float", "double", "decimal", "unknown")


def watched(
    draft: Draft, streams: Mapping[str, StreamSpec], report: Problems
) -> dict[str, StreamSpec]:
    """The streams with the series that were declared of them."""
    found = dict(streams)
    for name, declared in draft.streams.items():
        stream, asked = streams.get(name), declared.watch
        if asked is None or stream is None:
            continue
        path = (*declared.path, "watch")
        columns = ", ".join(stream.schema.names)
        for column in dict.fromkeys((*asked.of, *asked.by)):
            field = stream.schema.find(column)
            if field is None:
                report.add(
                    "project.column-missing",
                    path,
                    f"Stream {name!r} has no column {column!r} to watch.",
                    f"Its columns are {columns}.",
                )
            elif column in asked.of and field.type.name not in NUMBERS:
                report.add(
                    "project.watch",
                    path,
                    f"Column {column!r} of stream {name!r} is {field.type}, and only numbers can be watched.",
                    "Watch another one, or make a number of it in a step.",
                )
            elif column in asked.by and field.type.name in NO_TEXT:
                report.add(
                    "project.watch",
                    path,
                    f"Column {column!r} of stream {name!r} is {field.type}, by which no series can be named.",
                    "Name another one, or make a text of it in a step.",
                )
        if not asked.of:
            report.add(
                "project.watch",
                path,
                f"Nothing of stream {name!r} is named to be watched.",
                "Write `watch: {of: total}`.",
            )
        found[name] = replace(stream, watch=asked)
    return found
