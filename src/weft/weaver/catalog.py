"""The catalog: which project is deployed, which streams there are, and what each pipeline should be doing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from weft import canonical
from weft.errors import WeftError
from weft.project.definition import Project
from weft.weaver.store.records import Records, put, remove
from weft.weaver.store.store import Write
from weft.weaving.schema import nearest

Desired = Literal["running", "stopped"]


class NotDeployedError(WeftError):
    """There is no project yet."""

    code = "project.missing"
    domain = "missing"

    def __init__(self) -> None:
        super().__init__(
            "No project is deployed to this weaver.", hint="Deploy one with `weft apply weft.yaml`."
        )


class NameMissingError(WeftError):
    """A stream or pipeline that does not exist."""

    domain = "missing"

    def __init__(self, noun: str, name: str, names: list[str]) -> None:
        near = nearest(name, names)
        known = ", ".join(sorted(names)) or "none"
        super().__init__(
            f"There is no {noun} '{name}'. There are: {known}.",
            code=f"{noun}.missing",
            hint=f"Did you mean '{near}'?" if near else f"See `weft {noun} list`.",
            name=name,
        )


@dataclass(frozen=True)
class Pipeline:
    """What a pipeline should be doing, and with which definition."""

    name: str
    stream: str
    inputs: tuple[str, ...]
    version: str
    desired: Desired = "running"
    epoch: int = 0
    hold: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "inputs": list(self.inputs)}

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Pipeline:
        return Pipeline(**{**fields, "inputs": tuple(fields["inputs"])})


@dataclass(frozen=True)
class Stream:
    """A stream: the pipeline that writes it, and the stream whose knots it shares (itself, or its origin)."""

    name: str
    pipeline: str
    origin: str
    kind: Literal["main", "side", "dead", "late"] = "main"
    schema: str | None = None
    dropped: bool = False

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Stream:
        return Stream(**fields)


class Catalog:
    """The deployed project, its pipelines and streams."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._loaded: tuple[str, Project] | None = None

    def find_project(self) -> Project | None:
        """The deployed project, or None."""
        current = self._records.find("project", "current")
        if current is None:
            return None
        if self._loaded is None or self._loaded[0] != current["hash"]:
            form = self._records.get("project", "version", current["hash"])
            self._loaded = (current["hash"], Project.from_dict(form))
        return self._loaded[1]

    def project(self) -> Project:
        """The deployed project."""
        project = self.find_project()
        if project is None:
            raise NotDeployedError
        return project

    def pipelines(self) -> Iterator[Pipeline]:
        """All pipelines."""
        for fields in self._records.scan("pipeline"):
            yield Pipeline.from_dict(fields)

    def pipeline(self, name: str) -> Pipeline:
        """A pipeline by name."""
        fields = self._records.find("pipeline", name)
        if fields is None:
            raise NameMissingError("pipeline", name, [p.name for p in self.pipelines()])
        return Pipeline.from_dict(fields)

    def streams(self) -> Iterator[Stream]:
        """All streams, those diverted from others included."""
        for fields in self._records.scan("stream"):
            yield Stream.from_dict(fields)

    def stream(self, name: str) -> Stream:
        """A stream by name."""
        stream = self.find_stream(name)
        if stream is None:
            raise NameMissingError("stream", name, [s.name for s in self.streams()])
        return stream

    def find_stream(self, name: str) -> Stream | None:
        """A stream by name, or None."""
        fields = self._records.find("stream", name)
        return Stream.from_dict(fields) if fields else None

    def schema(self, fingerprint: str) -> dict[str, Any] | None:
        """The schema with this fingerprint, in Spark's JSON form."""
        found: dict[str, Any] | None = self._records.find("schema", fingerprint)
        return found

    def readers(self, stream: str) -> list[Pipeline]:
        """The pipelines that read a stream."""
        return [pipeline for pipeline in self.pipelines() if stream in pipeline.inputs]

    def downstream(self, pipeline: Pipeline) -> list[Pipeline]:
        """A pipeline and all that depend on what it writes, in the order data moves."""
        found = [pipeline]
        for current in found:
            written = [s.name for s in self.streams() if s.pipeline == current.name]
            for stream in written:
                found += [reader for reader in self.readers(stream) if reader not in found]
        names = [p.name for p in found]
        project = self.project()
        order = [name for name in _topological(project) if name in names]
        return sorted(found, key=lambda p: order.index(p.name) if p.name in order else len(order))

    def deploy(self, project: Project) -> tuple[list[Write], dict[str, list[str]]]:
        """The writes that make this project the deployed one, and what changes by them."""
        version = canonical.digest(project.to_dict())
        before = {pipeline.name: pipeline for pipeline in self.pipelines()}
        after = {pipeline.name: pipeline for pipeline in declared(project)}
        writes = [
            put("project", "current", record={"hash": version}),
            put("project", "version", version, record=project.to_dict()),
        ]
        changes: dict[str, list[str]] = {"added": [], "changed": [], "removed": []}
        for name, pipeline in after.items():
            old = before.get(name)
            if old is None:
                changes["added"].append(name)
            elif old.version != pipeline.version:
                changes["changed"].append(name)
            kept = (
                pipeline
                if old is None
                else replace(pipeline, desired=old.desired, epoch=old.epoch, hold=old.hold)
            )
            writes.append(put("pipeline", name, record=kept.to_dict()))
            writes += self._declare_streams(pipeline)
        for name in before.keys() - after.keys():
            changes["removed"].append(name)
            writes.append(remove("pipeline", name))
        return writes, changes

    def want(self, name: str, desired: Desired) -> Write:
        """The write that says whether a pipeline should run."""
        return put("pipeline", name, record=replace(self.pipeline(name), desired=desired).to_dict())

    def _declare_streams(self, pipeline: Pipeline) -> list[Write]:
        if self.find_stream(pipeline.stream) is not None:
            return []
        stream = Stream(pipeline.stream, pipeline.name, origin=pipeline.stream)
        return [put("stream", stream.name, record=asdict(stream))]


def declared(project: Project) -> Iterator[Pipeline]:
    """The pipelines of a project: one per source stream that ingests it, and those it declares."""
    form = project.to_dict()
    streams = {stream["name"]: stream for stream in form["streams"]}
    for stream in project.streams.values():
        if stream.ingested:
            version = canonical.digest([streams[stream.name], form["processing"]])
            yield Pipeline(stream.name, stream.name, (), version=version)
    for spec in project.pipelines.values():
        inputs = [streams[name] for name in spec.inputs if name in streams]
        version = canonical.digest(
            [spec.to_dict(), project.version_of(spec.name), inputs, form["processing"]]
        )
        yield Pipeline(spec.name, spec.to, spec.inputs, version=version)


def _topological(project: Project) -> list[str]:
    order = [stream.name for stream in project.streams.values() if stream.ingested]
    waiting = dict(project.pipelines)
    unwritten = {spec.to for spec in waiting.values()}
    while waiting:
        name = next(n for n, spec in waiting.items() if not unwritten & set(spec.inputs))
        order.append(name)
        unwritten.discard(waiting.pop(name).to)
    return order
