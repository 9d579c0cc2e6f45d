"""What is secret in a project: passwords and keys among the options of sources and sinks. Shown to nobody.

Called where a project leaves the weaver's store: for `GET /project`, and for what table commits tell of pipelines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from weft import codec
from weft.project.definition import Project

MASK = "********"
_SECRET = re.compile(
    r"password|passwd|secret|token|credential|jaas|private|\bkey\b|api[._-]?key", re.IGNORECASE
)


def masked(form: Mapping[str, Any]) -> dict[str, Any]:
    """The stored form of a project with every secret option covered."""
    return {
        **form,
        "streams": [_stream(stream) for stream in form["streams"]],
        "pipelines": [
            {**spec, "sinks": _parts(spec.get("sinks", []))} for spec in form["pipelines"]
        ],
    }


def definition_of(project: Project, pipeline: str, version: str) -> dict[str, Any]:
    """What a pipeline is made of, for the record: its declaration and its functions, without its sinks."""
    spec = project.pipelines.get(pipeline)
    stream = _stream(codec.to_form(project.stream(spec.to if spec else pipeline)))
    functions = [project.functions[ref] for ref in spec.functions] if spec else []
    return {
        "version": version,
        "app": project.name,
        "processing": codec.to_form(project.processing),
        "stream": {**stream, "sinks": []},
        "pipeline": None if spec is None else {**codec.to_form(spec), "sinks": []},
        "functions": [codec.to_form(function) for function in functions],
    }


def _stream(stream: Mapping[str, Any]) -> dict[str, Any]:
    source = stream.get("source")
    return {
        **stream,
        "source": None if source is None else _part(source),
        "sinks": _parts(stream.get("sinks", [])),
    }


def _parts(parts: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [_part(part) for part in parts]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {**part, "options": _options(part.get("options", {}))}


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with what is secret covered; what is handed on to a client is looked into."""
    covered: dict[str, Any] = {}
    for name, value in options.items():
        if isinstance(value, Mapping):
            covered[name] = _options(value)
        else:
            covered[name] = MASK if _is_secret(name, value) else value
    return covered


def _is_secret(name: str, value: Any) -> bool:
    # `key` of a Kafka sink names columns.
    return name != "key" and isinstance(value, str) and _SECRET.search(name) is not None
