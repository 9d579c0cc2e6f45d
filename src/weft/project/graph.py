"""Who writes what and who reads it: the order of pipelines, cycles, and what lies up and down the
stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from weft.project.definition import Project


@dataclass(frozen=True)
class Graph:
    """Pipelines between streams. A source stream is written by an ingest pipeline of its name."""

    inputs: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, str]

    @staticmethod
    def of(project: Project) -> Graph:
        """The graph of a project, its ingest pipelines included."""
        ingested = [stream for stream in project.streams.values() if stream.writer is None]
        inputs: dict[str, tuple[str, ...]] = {stream.name: () for stream in ingested}
        outputs = {stream.name: stream.name for stream in ingested}
        for pipeline in project.pipelines.values():
            inputs[pipeline.name] = pipeline.inputs
            outputs[pipeline.name] = pipeline.to
        return Graph(inputs, outputs)

    def find_writer(self, stream: str) -> str | None:
        """The pipeline that writes a stream."""
        return next((name for name, output in self.outputs.items() if output == stream), None)

    def readers(self, stream: str) -> tuple[str, ...]:
        """The pipelines that read a stream themselves."""
        return tuple(name for name, inputs in self.inputs.items() if stream in inputs)

    def downstream(self, stream: str) -> tuple[str, ...]:
        """Every pipeline that a change of this stream reaches, nearest first."""
        found: dict[str, None] = {}
        waiting = list(self.readers(stream))
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found[name] = None
                waiting += self.readers(self.outputs[name])
        return tuple(found)

    def upstream(self, stream: str) -> tuple[str, ...]:
        """Every stream that this one is made from, nearest first."""
        found: dict[str, None] = {}
        waiting = [stream]
        while waiting:
            writer = self.find_writer(waiting.pop(0))
            for source in self.inputs.get(writer or "", ()):
                if source not in found and source != stream:
                    found[source] = None
                    waiting.append(source)
        return tuple(found)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The pipelines, each after those whose streams it reads; those of a cycle are left out."""
        written: set[str] = set()
        done: dict[str, None] = {}
        known = set(self.outputs.values())
        while True:
            ready = [
                name
                for name, inputs in self.inputs.items()
                if name not in done and all(one in written or one not in known for one in inputs)
            ]
            if not ready:
                return tuple(done)
            for name in ready:
                done[name] = None
                written.add(self.outputs[name])

    def find_cycle(self) -> tuple[str, ...] | None:
        """The streams of a cycle, the first of them again at the end; None when there is none."""
        stuck = {name: self.inputs[name] for name in self.inputs if name not in self.order}
        if not stuck:
            return None
        by_output = {self.outputs[name]: name for name in stuck}
        stream = next(iter(by_output))
        path = [stream]
        while True:
            inputs = stuck[by_output[path[-1]]]
            source = next(one for one in inputs if one in by_output)
            path.append(source)
            if source in path[:-1]:
                cycle = path[path.index(source) :]
                return tuple(reversed(cycle))
