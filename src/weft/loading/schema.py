"""The JSON schema of a project file, for editors that complete and check while one types. Made of the declarations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.declared.read import schema_of
from weft.loading.form import PipelineKeys, ProjectKeys, StreamKeys, TableKeys, Windowing
from weft.products.form import PartKeys, ProductKeys
from weft.project.operator import Deduplication, Joining
from weft.project.settings import HistorySpec, Processing, WatermarkSpec
from weft.project.watch import WatchSpec
from weft.queries.form import Grouping, Ranking
from weft.sinks import options as sinks
from weft.sources import options as sources
from weft.steps.step import KINDS as STEPS
from weft.windows.window import WindowSpec

_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}


def project_schema() -> dict[str, Any]:
    """The schema of a whole file."""
    stream = _filled(
        schema_of(StreamKeys),
        source=_kinds({kind: schema_of(sources.declaration(kind)) for kind in sources.KINDS}),
        schema=_TEXTS,
        watermarks=schema_of(WatermarkSpec),
        history=schema_of(HistorySpec),
        watch=schema_of(WatchSpec),
        sinks=_list(_sinks()),
    )
    pipeline = _filled(
        schema_of(PipelineKeys),
        dedupe=schema_of(Deduplication),
        join=schema_of(Joining),
        steps=_list(_one({kind: step.written.limit.schema for kind, step in STEPS.items()})),
        window=schema_of(WindowSpec),
        aggregate=_TEXTS,
        group=schema_of(Grouping),
        top=schema_of(Ranking),
        sinks=_list(_sinks()),
    )
    whole = _filled(
        schema_of(ProjectKeys),
        processing=schema_of(Processing),
        watermarks=schema_of(WatermarkSpec),
        streams={
            "type": "object",
            "additionalProperties": {"anyOf": [stream, {"type": "null"}]},
        },
        tables={
            "type": "object",
            "additionalProperties": _filled(
                schema_of(TableKeys), columns=_TEXTS, sinks=_list(_sinks())
            ),
        },
        products={
            "type": "object",
            "additionalProperties": _filled(schema_of(ProductKeys), sinks=_list(_sinks())),
        },
        pipelines={"type": "object", "additionalProperties": pipeline},
        windowing=_filled(schema_of(Windowing), windows=_list(schema_of(WindowSpec))),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Weft project",
        "$defs": {"part": schema_of(PartKeys)},
        **whole,
    }


def _sinks() -> dict[str, Any]:
    return _kinds({kind: schema_of(sinks.declaration(kind)) for kind in sinks.KINDS})


def _filled(schema: dict[str, Any], /, **parts: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with those of parts that are read by themselves."""
    properties = dict(schema["properties"])
    for name, part in parts.items():
        properties[name] = {**part, **properties[name]}
    return {**schema, "properties": properties}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _one(below: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A mapping of one key."""
    return {
        "type": "object",
        "properties": dict(below),
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


def _kinds(below: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A kind alone, or with its options below it; a class may stand for all options of `python`."""
    may_be = {kind: [schema, {"type": "null"}] for kind, schema in below.items()}
    may_be["python"].append({"type": "string"})
    options = {kind: {"anyOf": schemas} for kind, schemas in may_be.items()}
    return {"anyOf": [{"enum": list(below)}, _one(options)]}
