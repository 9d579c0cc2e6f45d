"""The Python that a project names: functions, reducers, sources and sinks, read from its files, and
loaded once to tell what a worker could not load. Called by `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as Folder
from typing import Any

from weft.errors import WeftError
from weft.loading.document import Path
from weft.loading.kind import is_installed
from weft.loading.probe import Probe, run_probes
from weft.loading.problem import Problems
from weft.loading.read import Draft
from weft.project.definition import SinkSpec
from weft.steps.function import FunctionVersion, find
from weft.steps.step import Function


def find_code(
    draft: Draft, report: Problems, folder: Folder, *, runs_it: bool
) -> dict[str, FunctionVersion]:
    """Every function and class of the project's own that is named somewhere, with its version."""
    found = _Code(report, folder)
    for name, pipeline in draft.pipelines.items():
        path = draft.paths[name]
        paths = draft.step_paths.get(name, ())
        for step, where in zip(pipeline.steps, paths, strict=False):
            if isinstance(step, Function):
                found.function(step.ref, step.params, (*where, "function"))
        if pipeline.reducer:
            found.reducer(pipeline.reducer, (*path, "reducer"))
        found.sinks(pipeline.sinks, pipeline.to, path)
    for stream in draft.streams.values():
        found.sinks(stream.sinks, stream.name, stream.path)
        if stream.source is not None and stream.source.kind == "python":
            found.outside("source", stream.source.options, stream.name, (*stream.path, "source"))
    if runs_it:
        found.load()
    return found.versions


@dataclass
class _Code:
    """What was found so far, and what is to be loaded, with the place that names it."""

    report: Problems
    folder: Folder
    versions: dict[str, FunctionVersion] = field(default_factory=dict)
    probes: list[tuple[Probe, Path]] = field(default_factory=list)

    def find(self, ref: str, path: Path) -> FunctionVersion | None:
        try:
            self.versions[ref] = find(ref, self.folder)
        except WeftError as error:
            self.report.add_error(error, path)
            return None
        return self.versions[ref]

    def function(self, ref: str, params: Mapping[str, Any], path: Path) -> None:
        version = self.versions.get(ref) or self.find(ref, path)
        if version is not None and version.form != "class":
            self.probes.append((Probe("function", ref, version, params), path))

    def reducer(self, ref: str, path: Path) -> None:
        version = self.find(ref, path)
        if version is None:
            return
        if version.returns is None:
            self.report.add(
                "function.declaration",
                path,
                f"Reducer {ref!r} does not say which columns it returns.",
                'Write `@weft.function(returns={"total": "double"})` above its class.',
            )
        self.probes.append((Probe("reducer", ref, version), path))

    def sinks(self, sinks: tuple[SinkSpec, ...], stream: str, path: Path) -> None:
        for number, sink in enumerate(sinks):
            if sink.kind == "python":
                self.outside("sink", sink.options, stream, (*path, "sinks", number))

    def outside(self, role: Any, options: Mapping[str, Any], stream: str, path: Path) -> None:
        """A source or sink; one of the project's own is kept with its version, as functions are."""
        ref = str(options.get("class", ""))
        if not is_installed(ref, self.folder) and self.find(ref, path) is None:
            return
        self.probes.append((Probe(role, ref, None, options, stream), path))

    def load(self) -> None:
        answers = run_probes([probe for probe, _ in self.probes], self.folder)
        for (_, path), failure in zip(self.probes, answers, strict=True):
            if failure is not None:
                self.report.add_error(failure, path)
