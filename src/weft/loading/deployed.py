"""A project that arrives over the wire, checked as its file was: nothing that it says of itself is believed.

In comes the stored form of a project, out comes the project that its own parts make: it is written as the document
its author would have written, with its Python files beside it, and loaded as a file is. So names, graph, columns,
expressions and windows are checked, and function versions are computed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from weft import codec
from weft.errors import WeftError
from weft.loading.load import load
from weft.products.tree import Product
from weft.products.write import write_product
from weft.project.definition import PipelineSpec, Project, SinkSpec, SourceSpec, StreamSpec
from weft.project.settings import Processing
from weft.queries.form import write_group, write_top
from weft.schema.change import CHANGE
from weft.steps.step import to_dict


class UnreadableProjectError(WeftError):
    """What was sent is not a project."""

    code = "project.unreadable"
    domain = "user"


def checked(form: Mapping[str, Any]) -> Project:
    """The project behind a form that somebody sent; raises ProjectError with everything that is wrong."""
    try:
        sent = Project.from_dict(form)
    except (codec.StoredError, WeftError) as error:
        raise UnreadableProjectError(
            f"The body is not a project in its canonical form: {error.message}",
            hint="Deploy a project file with `weft apply`, which writes it.",
        ) from error
    _check_paths(sent)
    with TemporaryDirectory(prefix="weft-") as folder:
        _write_modules(sent, Path(folder))
        return load(document_of(sent), folder=folder, runs_code=False)


def altered(project: Project, settings: Mapping[str, Any]) -> Project:
    """A project with other values at some paths of its document, such as `pipelines.revenue.window.size_ms`."""
    document = document_of(project)
    for path, value in settings.items():
        _set(document, path, value)
    with TemporaryDirectory(prefix="weft-") as folder:
        _write_modules(project, Path(folder))
        return load(document, folder=folder, runs_code=False)


def _set(document: dict[str, Any], path: str, value: Any) -> None:
    *way, last = path.split(".")
    place: Any = document
    for name in way:
        place = place.get(name) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            raise UnreadableProjectError(
                f"The project has nothing at '{path}': there is no '{name}'.",
                code="project.no-path",
                hint="Name the parts from the top, as pipelines.revenue.window.size_ms.",
            )
    place[last] = value


def document_of(project: Project) -> dict[str, Any]:
    """A project as its author would write it, with everything said that the author may leave out."""
    return {
        "app_name": project.name,
        "debug": project.debug,
        "processing": _processing(project.processing),
        "streams": {
            name: _stream(stream)
            for name, stream in project.streams.items()
            if not _is_table(stream)
        },
        "tables": {
            name: _table(stream) for name, stream in project.streams.items() if _is_table(stream)
        },
        "pipelines": {
            name: _pipeline(spec)
            for name, spec in project.pipelines.items()
            if spec.product is None
        },
        "products": {
            name: _product(spec.product, spec)
            for name, spec in project.pipelines.items()
            if spec.product is not None
        },
    }


def _is_table(stream: StreamSpec) -> bool:
    return stream.changing and stream.source is not None


def _table(stream: StreamSpec) -> dict[str, Any]:
    assert stream.source is not None
    is_topic = stream.source.kind == "debezium"
    written = {
        **(stream.source.options if is_topic else {"source": _part(stream.source)}),
        "key": list(stream.key),
        "columns": {one.name: str(one.type) for one in stream.schema if one.name != CHANGE},
        "sinks": [_part(sink) for sink in stream.sinks] or None,
        "provenance": stream.provenance.written(),
    }
    return _said(written)


def _product(product: Mapping[str, Any], spec: PipelineSpec) -> dict[str, Any]:
    written = write_product(codec.from_form(Product, product))
    return _said({**written, "sinks": [_part(sink) for sink in spec.sinks] or None})


def _stream(stream: StreamSpec) -> dict[str, Any]:
    if stream.changing:
        # What makes it says all the rest.
        return _said({"provenance": stream.provenance.written(), "watch": _watch(stream)})
    written = {
        "source": _part(stream.source) if stream.source else None,
        "schema": stream.schema.to_dict(),
        "key": list(stream.key) or None,
        "event_time": stream.event_time,
        "watermarks": _watermarks(stream),
        "history": _said(codec.to_form(stream.history)) or None,
        "watch": _watch(stream),
        "sinks": [_part(sink) for sink in stream.sinks] or None,
        "provenance": stream.provenance.written(),
    }
    return _said(written)


def _watch(stream: StreamSpec) -> dict[str, Any] | None:
    return {name: list(said) for name, said in codec.to_form(stream.watch).items() if said} or None


def _watermarks(stream: StreamSpec) -> dict[str, Any] | None:
    """Those of a stream that has a clock; the others have none to say anything of."""
    if stream.writer is not None and stream.clock != "own":
        return None
    return codec.to_form(stream.watermarks)


def _pipeline(spec: PipelineSpec) -> dict[str, Any]:
    written = {
        "from": list(spec.inputs),
        "to": spec.to,
        "steps": [to_dict(step) for step in spec.steps] or None,
        "window": None if spec.window is None else dict(spec.window),
        "by": list(spec.by) or None,
        "aggregate": dict(spec.aggregate) or None,
        "join": None if spec.join is None else {**spec.join, "on": dict(spec.join["on"])},
        "dedupe": None if spec.dedupe is None else dict(spec.dedupe),
        "reducer": spec.reducer,
        "group": None if spec.group is None else write_group(spec.group),
        "top": None if spec.top is None else write_top(spec.top),
        "sinks": [_part(sink) for sink in spec.sinks] or None,
    }
    return _said(written)


def _part(part: SourceSpec | SinkSpec) -> dict[str, Any]:
    return {part.kind: dict(part.options)}


def _processing(processing: Processing) -> dict[str, Any]:
    form = codec.to_form(processing)
    return {**form, "scaling": _said(form["scaling"])}


def _said(written: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in written.items() if value is not None}


def _check_paths(project: Project) -> None:
    """A path counts from the project's folder, which is not here: what is sent must have gone through `load`."""
    sources: list[SourceSpec | SinkSpec]
    sources = [stream.source for stream in project.streams.values() if stream.source]
    sinks = [sink for stream in project.streams.values() for sink in stream.sinks]
    sinks += [sink for spec in project.pipelines.values() for sink in spec.sinks]
    for part in (*sources, *sinks):
        path = part.options.get("path")
        if part.kind not in ("files", "delta") or not isinstance(path, str) or "://" in path:
            continue
        if not Path(path).is_absolute():
            raise UnreadableProjectError(
                f"The path {path!r} is not absolute, and it cannot be known where it counts from.",
                hint="Deploy a project file with `weft apply`, which completes paths.",
            )


def _write_modules(project: Project, folder: Path) -> None:
    """Put the Python files of a project where `load` looks for them."""
    sources: dict[str, str] = {}
    for function in project.functions.values():
        for module, text in function.modules.items():
            if not all(part.isidentifier() for part in module.split(".")):
                raise UnreadableProjectError(f"{module!r} cannot be the name of a Python module.")
            if sources.setdefault(module, text) != text:
                raise UnreadableProjectError(
                    f"Module {module!r} is there twice, with different sources."
                )
    for module, text in sources.items():
        is_package = any(other.startswith(f"{module}.") for other in sources)
        place = folder.joinpath(*module.split("."))
        file = place / "__init__.py" if is_package else place.with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
