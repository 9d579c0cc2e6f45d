"""The columns of a stream from outside, its key and its event time among them. Called by `check`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from weft.declared.read import faults
from weft.errors import WeftError
from weft.gate.coercion import UNKNOWN
from weft.loading.merge import check_paths
from weft.loading.problem import Problems
from weft.loading.read import DraftStream
from weft.products.boundary import COLUMNS
from weft.project.timing import EVENT_TIME
from weft.schema.path import find_path
from weft.schema.schema import Schema
from weft.sources.learn import learn_columns
from weft.sources.options import declaration
from weft.sources.postgres.learn import learn_table
from weft.sources.sample import infer
from weft.steps.compile import new_name


def inferred(stream: DraftStream, report: Problems) -> Schema | None:
    """The columns of a stream that declares none, from its files, its events or its database."""
    source = stream.source
    learners: dict[str, Callable[[Mapping[str, Any]], Schema]] = {
        "files": _infer,
        "debezium": _learn,
        "postgres": partial(learn_table, stream.name),
    }
    if source is None or source.kind not in learners:
        reason = f"source {source.kind if source else 'none'!r} cannot tell them"
    elif any(faults(declaration(source.kind), source.options)):
        return None  # they were told of where the source is read
    else:
        try:
            schema = learners[source.kind](source.options)
            for field in schema:
                new_name(field.name)
            return schema
        except (WeftError, OSError, ValueError) as failure:
            reason = str(failure)
    named = "columns" if stream.path[:1] == ("tables",) else "schema"
    report.add(
        "project.schema-missing",
        stream.path,
        f"Stream {stream.name!r} declares no columns: {reason.rstrip('.')}.",
        f"Add `{named}: {{id: long, at: timestamp}}`.",
        on_key=True,
    )
    return None


def check_columns(
    stream: DraftStream,
    schema: Schema,
    key: tuple[str, ...],
    event_time: str | None,
    report: Problems,
) -> tuple[tuple[str, ...], str | None]:
    """Key and event time of a stream, as its columns spell them."""
    key = check_paths(key, schema, (*stream.path, "key"), report)
    if event_time is None or event_time == EVENT_TIME:
        return key, event_time
    path = (*stream.path, "event_time")
    named = check_paths([event_time], schema, path, report)
    for place in [find_path(name, schema) for name in named]:
        kind = place.type if place is not None else UNKNOWN
        if kind.name not in ("timestamp", "timestamp_ntz", "unknown"):
            report.add(
                "project.event-time",
                path,
                f"The event time of stream {stream.name!r} is {event_time!r}, a {kind}.",
                "Declare the column as timestamp.",
            )
    return key, named[0] if named else None


def _learn(options: Mapping[str, Any]) -> Schema:
    return COLUMNS if options.get("transactions") else learn_columns(options)


def _infer(options: Mapping[str, Any]) -> Schema:
    path = os.path.join(str(options.get("path", "")), str(options.get("pattern", "")))
    return infer(
        path,
        str(options.get("format", "json")),
        header=bool(options.get("header", True)),
        separator=str(options.get("separator", ",")),
    )
