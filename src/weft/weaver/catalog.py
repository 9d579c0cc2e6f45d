"""The catalog: which project is deployed, which streams there are, and what each pipeline should be doing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from weft import canonical, codec
from weft.errors import WeftError
from weft.lineage.facts import StreamKind
from weft.project.definition import Project, StreamSpec
from weft.project.provenance import LAZY
from weft.project.settings import HistorySpec
from weft.schema.schema import Schema, StoredSchema, nearest
from weft.weaver.store.records import Records, put
from weft.weaver.store.store import Write

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
class Deployed:
    """Which version of the project is in force."""

    hash: str
    rebuilt: bool = False
    """Whether it was put together from tables: it has no sinks and no secrets, and must be deployed before it runs."""


@dataclass(frozen=True)
class KnownSchema:
    """The columns of a stream, stored once under their fingerprint."""

    schema: StoredSchema


@dataclass(frozen=True)
class Pipeline:
    """What a pipeline should be doing, and with which definition.

    One that the project no longer declares stays known as `removed`: what it has made of its inputs is rolled back with
    them, and it goes on from there when it is declared again.
    """

    name: str
    stream: str
    inputs: tuple[str, ...]
    version: str
    project: str
    """The version of the project that declared it last."""
    desired: Desired = "running"
    epoch: int = 0
    last_epoch: int = 0
    """The highest epoch that was ever begun, whether it came into use or not."""
    removed: bool = False
    redeliver: bool = False
    """Whether its newest knot may not have reached its sinks, because the store was rebuilt."""
    anew_after: int = 0
    """Knots up to this one were made by a definition that this one cannot go on from; they do not come back."""


@dataclass(frozen=True)
class Stream:
    """A stream: the pipeline that writes it, and the stream whose knots it shares (itself, or its origin)."""

    name: str
    pipeline: str
    origin: str
    kind: StreamKind = "main"
    schema: str | None = None
    dropped: bool = False


@dataclass(frozen=True)
class Changes:
    """The pipelines that a deployment adds, changes and removes."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


class Catalog:
    """The deployed project, its pipelines and streams."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._loaded: tuple[str, Project] | None = None

    def is_rebuilt(self) -> bool:
        """Whether the project was put together from tables, and nobody has deployed it since."""
        current = self._records.find(Deployed, "catalog", "project")
        return current is not None and current.rebuilt

    def find_project(self) -> Project | None:
        """The deployed project, or None."""
        current = self._records.find(Deployed, "catalog", "project")
        if current is None:
            return None
        if self._loaded is None or self._loaded[0] != current.hash:
            self._loaded = (current.hash, self.version(current.hash))
        return self._loaded[1]

    def project(self) -> Project:
        """The deployed project."""
        project = self.find_project()
        if project is None:
            raise NotDeployedError
        return project

    def version(self, hash: str) -> Project:
        """The project in a version that was deployed once."""
        return self._records.get(Project, "projects", hash)

    def find_version(self, hash: str) -> Project:
        """The project in a version that somebody names; refuses one that was never deployed."""
        found = self._records.find(Project, "projects", hash)
        if found is None:
            raise NameMissingError("project", hash[:10], [])
        return found

    def versions(self) -> Iterator[Project]:
        """The project in every version that was ever deployed or tried."""
        return self._records.scan(Project, "projects")

    def has_version(self, hash: str) -> bool:
        """Whether the project is stored under this hash; one that was altered is not under its own."""
        return self._records.find(Project, "projects", hash) is not None

    def pipelines(self, *, removed: bool = False) -> Iterator[Pipeline]:
        """The pipelines of the project; `removed` gives those that it no longer declares too."""
        for pipeline in self._records.scan(Pipeline, "catalog", "pipeline"):
            if removed or not pipeline.removed:
                yield pipeline

    def find_pipeline(self, name: str) -> Pipeline | None:
        """A pipeline by name, declared or removed, or None."""
        return self._records.find(Pipeline, "catalog", "pipeline", name)

    def pipeline(self, name: str) -> Pipeline:
        """A pipeline of the project by name."""
        pipeline = self.find_pipeline(name)
        if pipeline is None or pipeline.removed:
            raise NameMissingError("pipeline", name, [p.name for p in self.pipelines()])
        return pipeline

    def streams(self) -> Iterator[Stream]:
        """All streams, those diverted from others included."""
        return self._records.scan(Stream, "catalog", "stream")

    def stream(self, name: str) -> Stream:
        """A stream by name."""
        stream = self.find_stream(name)
        if stream is None:
            raise NameMissingError("stream", name, [s.name for s in self.streams()])
        return stream

    def find_stream(self, name: str) -> Stream | None:
        """A stream by name, or None."""
        return self._records.find(Stream, "catalog", "stream", name)

    def schema(self, fingerprint: str) -> Schema | None:
        """The columns with this fingerprint."""
        known = self._records.find(KnownSchema, "schemas", fingerprint)
        return known.schema if known else None

    def written_by(self, pipeline: str) -> tuple[str, ...]:
        """The streams that a pipeline writes: its own, and those diverted from it."""
        return tuple(stream.name for stream in self.streams() if stream.pipeline == pipeline)

    def readers(self, stream: str, *, removed: bool = False) -> list[Pipeline]:
        """The pipelines that read a stream."""
        return [one for one in self.pipelines(removed=removed) if stream in one.inputs]

    def downstream(self, pipeline: Pipeline) -> list[Pipeline]:
        """A pipeline and all that depend on what it writes, removed ones too, in the order data moves."""
        found = [pipeline]
        for current in found:
            for stream in self.written_by(current.name):
                readers = self.readers(stream, removed=True)
                found += [reader for reader in readers if reader not in found]
        return self.in_order(found)

    def in_order(self, pipelines: list[Pipeline]) -> list[Pipeline]:
        """These pipelines in the order data moves."""
        waiting = {pipeline.name: pipeline for pipeline in pipelines}
        ordered: list[Pipeline] = []
        while waiting:
            unwritten = {s for p in waiting.values() for s in (p.stream, *self.written_by(p.name))}
            ready = [p for p in waiting.values() if not unwritten & set(p.inputs)]
            # Removed pipelines may once have read each other; in whichever order, none is left out.
            ordered += [waiting.pop(pipeline.name) for pipeline in ready or list(waiting.values())]
        return ordered

    def deploy(self, project: Project) -> tuple[list[Write], Changes]:
        """The writes that make this project the deployed one, and what changes by them."""
        known = {pipeline.name: pipeline for pipeline in self.pipelines(removed=True)}
        after = {pipeline.name: pipeline for pipeline in declared(project)}
        before = {name for name, pipeline in known.items() if not pipeline.removed}
        writes = [
            put("catalog", "project", value=Deployed(project.hash)),
            put("projects", project.hash, value=project),
        ]
        for name, pipeline in after.items():
            old = known.get(name)
            kept = pipeline
            if old is not None:
                kept = replace(
                    pipeline,
                    desired=old.desired,
                    epoch=old.epoch,
                    last_epoch=old.last_epoch,
                    redeliver=old.redeliver,
                    anew_after=old.anew_after,
                )
            writes.append(store_pipeline(kept))
            writes += self._declare_stream(pipeline)
        gone = sorted(before - after.keys())
        writes += [store_pipeline(replace(known[name], removed=True)) for name in gone]
        changes = Changes(
            added=tuple(name for name in after if name not in before),
            changed=tuple(
                name
                for name in after
                if name in before and known[name].version != after[name].version
            ),
            removed=tuple(gone),
        )
        return writes, changes

    def want(self, name: str, desired: Desired) -> Write:
        """The write that says whether a pipeline should run."""
        return store_pipeline(replace(self.pipeline(name), desired=desired))

    def _declare_stream(self, pipeline: Pipeline) -> list[Write]:
        known = self.find_stream(pipeline.stream)
        if known is not None and known.pipeline == pipeline.name:
            return []
        return [store_stream(Stream(pipeline.stream, pipeline.name, origin=pipeline.stream))]


def store_pipeline(pipeline: Pipeline) -> Write:
    """The write that stores a pipeline."""
    return put("catalog", "pipeline", pipeline.name, value=pipeline)


def store_stream(stream: Stream) -> Write:
    """The write that stores a stream."""
    return put("catalog", "stream", stream.name, value=stream)


def store_schema(fingerprint: str, schema: Any) -> Write:
    """The write that stores columns under their fingerprint."""
    return put("schemas", fingerprint, value=KnownSchema(Schema.from_json(schema)))


def declared(project: Project) -> Iterator[Pipeline]:
    """The pipelines of a project: one per source stream that ingests it, and those it declares."""
    processing = codec.to_form(project.processing, sparse=True)
    # What is written down beside a stream, and how long its rows are kept, is nothing to those who read it.
    streams = {
        name: codec.to_form(replace(stream, provenance=LAZY, history=HistorySpec()), sparse=True)
        for name, stream in project.streams.items()
    }
    for stream in project.streams.values():
        if stream.ingested:
            parts = [streams[stream.name], processing, *_written_down(stream)]
            version = canonical.digest(parts)
            yield Pipeline(stream.name, stream.name, (), version=version, project=project.hash)
    for spec in project.pipelines.values():
        inputs = [streams[name] for name in spec.inputs if name in streams]
        form = codec.to_form(spec, sparse=True)
        beside = _written_down(project.stream(spec.to))
        parts = [form, project.version_of(spec.name), inputs, processing, *beside]
        version = canonical.digest(parts)
        yield Pipeline(spec.name, spec.to, spec.inputs, version=version, project=project.hash)


def _written_down(stream: StreamSpec) -> list[Any]:
    """What a pipeline writes beside its stream, where that is anything."""
    beside = [] if stream.provenance == LAZY else [codec.to_form(stream.provenance)]
    return beside if stream.history.raw is None else [*beside, {"raw": stream.history.raw}]
