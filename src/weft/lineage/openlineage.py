"""Knots as OpenLineage events with column lineage: one connected graph, because streams keep their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from sqlglot import exp, parse_one

from weft import codec
from weft.lineage.knot import Knot
from weft.project.definition import PipelineSpec, Project, StreamSpec
from weft.schema.schema import Schema
from weft.steps.compile import origins
from weft.weaving.rule import Rule

PRODUCER = "urn:weft"
SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
SCHEMA_FACET = "https://openlineage.io/spec/facets/1-1-1/SchemaDatasetFacet.json"
COLUMN_FACET = "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json"
KNOT_FACET = "urn:weft:facet:knot"


def event(
    knot: Knot, project: Project, rules: Iterable[Rule], schemas: Mapping[str, Schema]
) -> dict[str, Any]:
    """One tied knot as a run of its pipeline that is complete."""
    spec = project.pipelines.get(knot.pipeline)
    stream = project.streams.get(knot.stream)
    inputs = spec.inputs if spec else ()
    return {
        "eventType": "COMPLETE",
        "eventTime": knot.completed,
        "producer": PRODUCER,
        "schemaURL": SPEC,
        "run": {"runId": knot.id, "facets": {"weft_knot": _knot_facet(knot)}},
        "job": {"namespace": project.slug, "name": knot.pipeline},
        "inputs": [_dataset(project, name, schemas) for name in inputs]
        or [_outside(project, stream)],
        "outputs": [
            _output(
                project,
                spec,
                name,
                schemas,
                [r for r in rules if r.stream == name or r.output == name],
            )
            for name in knot.outputs
        ],
    }


def _knot_facet(knot: Knot) -> dict[str, Any]:
    return {
        "_producer": PRODUCER,
        "_schemaURL": KNOT_FACET,
        "number": knot.number,
        "hash": knot.hash,
        "rules": [rule.id for rule in knot.rules],
        "functions": {step.function: step.version for step in knot.steps},
        "ledger": codec.to_form(knot.ledger),
    }


def _dataset(project: Project, name: str, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    facets = {"schema": _schema_facet(schemas[name])} if name in schemas else {}
    return {"namespace": project.slug, "name": name, "facets": facets}


def _outside(project: Project, stream: StreamSpec | None) -> dict[str, Any]:
    """Where the records of a source stream come from."""
    source = stream.source if stream else None
    if source is None:
        return {"namespace": project.slug, "name": "unknown"}
    options = source.options
    if source.kind in ("kafka", "debezium"):
        servers = options.get("servers", "localhost:9092")
        return {"namespace": f"kafka://{servers}", "name": str(options.get("topic"))}
    if source.kind == "postgres":
        return _table(options, stream.name if stream else "")
    if source.kind == "files":
        return {"namespace": "file", "name": str(options.get("path"))}
    return {"namespace": source.kind, "name": stream.name if stream else ""}


def _table(options: Mapping[str, Any], stream: str) -> dict[str, Any]:
    """A table of PostgreSQL, as OpenLineage names it."""
    url = urlsplit(str(options.get("url") or ""))
    host = url.hostname or options.get("host") or "localhost"
    port = url.port or options.get("port") or 5432
    database = url.path.strip("/") or options.get("database") or ""
    table = str(options.get("table") or stream)
    named = table if "." in table else f"public.{table}"
    return {"namespace": f"postgres://{host}:{port}", "name": f"{database}.{named}".lstrip(".")}


def _output(
    project: Project,
    spec: PipelineSpec | None,
    name: str,
    schemas: Mapping[str, Schema],
    rules: list[Rule],
) -> dict[str, Any]:
    made = _dataset(project, name, schemas)
    columns = _columns(project, spec, name, schemas, rules)
    if columns:
        made["facets"]["columnLineage"] = {
            "_producer": PRODUCER,
            "_schemaURL": COLUMN_FACET,
            "fields": {column: {"inputFields": fields} for column, fields in columns.items()},
        }
    return made


def _columns(
    project: Project,
    spec: PipelineSpec | None,
    name: str,
    schemas: Mapping[str, Schema],
    rules: list[Rule],
) -> dict[str, list[dict[str, Any]]]:
    """From which columns of the inputs each column of an output is made."""
    if spec is None or name not in schemas:
        return {}
    found: dict[str, list[dict[str, Any]]] = {}
    for position, source in enumerate(spec.inputs):
        schema = project.schema_of(source)
        made = _operator_origins(spec, position, schema) or origins(
            spec.steps, schema, project.functions
        )
        for rule in rules:
            after = origins(rule.steps, _reachable(made, schema), project.functions)
            made = {
                column: {one for part in parts for one in made.get(part, set())}
                for column, parts in after.items()
            }
        for column, parts in made.items():
            if schemas[name].find(column) is not None:
                found.setdefault(column, []).extend(
                    {"namespace": project.slug, "name": source, "field": part}
                    for part in sorted(parts)
                )
    return found


def _operator_origins(
    spec: PipelineSpec, position: int, schema: Schema
) -> dict[str, set[str]] | None:
    if spec.join is not None:
        return {name: {name} for name in schema.names}
    by, aggregate = spec.by, spec.aggregate
    if spec.group is not None:
        by, aggregate = spec.group["by"], dict(spec.group["aggregate"])
    elif spec.window is None:
        return None
    made = {name: {name} for name in by}
    for name, text in aggregate.items():
        made[name] = {column.name for column in parse_one(text, read="spark").find_all(exp.Column)}
    return made


def _reachable(made: Mapping[str, set[str]], schema: Schema) -> Schema:
    """A schema with the columns that were made, for steps that come after; types do not matter here."""
    known = {field.name: field for field in schema}
    return Schema(tuple(known[name] for name in made if name in known))


def _schema_facet(schema: Schema) -> dict[str, Any]:
    return {
        "_producer": PRODUCER,
        "_schemaURL": SCHEMA_FACET,
        "fields": [{"name": field.name, "type": str(field.type)} for field in schema],
    }
