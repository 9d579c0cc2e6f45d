"""A project put together from what the commits of its streams tell, when nothing else is left of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weft import codec
from weft.project.definition import PipelineSpec, Project, StreamSpec
from weft.project.settings import Processing
from weft.steps.function import FunctionVersion


def project_of(definitions: Iterable[Mapping[str, Any]]) -> Project:
    """The project whose pipelines have these definitions; it has no sinks and no secrets."""
    name, processing = "rebuilt", Processing()
    streams: dict[str, StreamSpec] = {}
    pipelines: dict[str, PipelineSpec] = {}
    functions: dict[str, FunctionVersion] = {}
    for definition in definitions:
        name = definition["app"]
        processing = codec.from_form(Processing, definition["processing"])
        stream = codec.from_form(StreamSpec, definition["stream"])
        streams[stream.name] = stream
        if definition["pipeline"] is not None:
            spec = codec.from_form(PipelineSpec, definition["pipeline"])
            pipelines[spec.name] = spec
        for form in definition["functions"]:
            function = codec.from_form(FunctionVersion, form)
            functions[function.ref] = function
    return Project(name, streams, pipelines, processing, functions=functions)
