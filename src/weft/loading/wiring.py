"""Who reads and writes what in a draft: pipelines of the short form, writers, unknown streams,
cycles."""

from __future__ import annotations

from weft.loading.expand import parts_of
from weft.loading.problem import Problems
from weft.loading.read import Draft, DraftStream
from weft.project.definition import PipelineSpec, SourceSpec
from weft.project.graph import Graph
from weft.schema.schema import nearest
from weft.sources import shop

SHORT_STREAM = "events"


def add_windows(draft: Draft, report: Problems) -> None:
    """Add the pipelines of `windowing.windows`: one for each window and source stream.

    A project without streams and pipelines reads the mock source.
    """
    if not draft.streams and not draft.pipelines:
        draft.streams[SHORT_STREAM] = DraftStream(SHORT_STREAM, (), source=SourceSpec("mock"))
    sources = [stream for stream in draft.streams.values() if stream.source is not None]
    for path, window in draft.windows:
        lengths = [window.get(key) for key in ("size_ms", "slide_ms", "gap_ms")]
        numbers = [str(length) for length in lengths if length is not None]
        for stream in sources:
            name = "-".join([stream.name, str(window.get("type", "tumbling")), *numbers])
            if name in draft.pipelines:
                report.add(
                    "project.name-clash",
                    path,
                    f"The pipeline of this window is called {name!r}, and there is one already.",
                    "Leave one of the two out.",
                )
                continue
            draft.paths[name] = path
            draft.pipelines[name] = PipelineSpec(
                name=name,
                inputs=(stream.name,),
                to=name,
                window=window,
                by=stream.key if stream.key is not None else _default_key(stream),
                aggregate={"count": "count(*)"},
            )


def _default_key(stream: DraftStream) -> tuple[str, ...]:
    is_shop = stream.source is not None and stream.source.kind == "mock"
    return (shop.KEY,) if is_shop and not stream.declares_schema else ()


def check_graph(draft: Draft, report: Problems) -> Graph:
    """The graph of a draft; notes unknown streams, streams of two writers or none, and cycles."""
    graph, writers = _written(draft, report)
    _check_inputs(draft, report, {*writers, *draft.streams})
    for name, declared in draft.streams.items():
        source = f"streams.{name}.source"
        is_noted = any(problem.path.startswith(source) for problem in report.problems)
        if name not in writers and not is_noted:
            report.add(
                "project.no-writer",
                declared.path,
                f"Stream {name!r} has no source, and no pipeline writes it.",
                f"Add `source: {{mock: {{}}}}`, or a pipeline with `to: {name}`.",
                on_key=True,
            )
    _check_parts(draft, report)
    cycle = graph.find_cycle()
    if cycle:
        report.add(
            "project.cycle",
            draft.paths.get(graph.find_writer(cycle[0]) or "", ()),
            f"Streams are made from themselves: {' → '.join(cycle)}.",
            "Break the cycle: let one of these pipelines read another stream.",
            on_key=True,
        )
    return graph


def _check_parts(draft: Draft, report: Problems) -> None:
    """A pipeline that runs as several names the others after itself; nothing else may have such a name."""
    taken = {*draft.pipelines, *draft.streams, *(one.to for one in draft.pipelines.values())}
    for name, pipeline in draft.pipelines.items():
        for part in parts_of(pipeline)[:-1]:
            if part.name in taken:
                report.add(
                    "project.name-clash",
                    draft.paths[name],
                    f"What pipeline {name!r} does first is called {part.name!r}, and there is one.",
                    f"Give the other {part.name!r} another name.",
                    on_key=True,
                )


def _written(draft: Draft, report: Problems) -> tuple[Graph, dict[str, str]]:
    """The graph, and who writes each stream; a second writer gets an output of its own."""
    sources = [name for name, stream in draft.streams.items() if stream.source is not None]
    inputs: dict[str, tuple[str, ...]] = dict.fromkeys(sources, ())
    outputs = {name: name for name in sources}
    writers: dict[str, str] = dict.fromkeys(sources, "its source")
    for name, pipeline in draft.pipelines.items():
        path, to = draft.paths[name], pipeline.to
        if name in sources:
            report.add(
                "project.name-clash",
                path,
                f"Pipeline {name!r} has the name of a stream that is read from a source.",
                f"Give it another name, such as {f'{name}-pipeline'!r}.",
                on_key=True,
            )
            continue
        if to in writers:
            report.add(
                "project.two-writers",
                (*path, "to"),
                f"Stream {to!r} is written by {writers[to]} and by pipeline {name!r}.",
                "Every stream has one writer: give this pipeline another `to`.",
            )
        outputs[name] = to if to not in writers else f"{to} by {name}"
        inputs[name] = pipeline.inputs
        writers.setdefault(to, f"pipeline {name!r}")
    return Graph(inputs, outputs), writers


def _check_inputs(draft: Draft, report: Problems, known: set[str]) -> None:
    for name, pipeline in draft.pipelines.items():
        for number, stream in enumerate(pipeline.inputs):
            if stream in known:
                continue
            near = nearest(stream, known)
            listed = f"Streams are {', '.join(sorted(known))}."
            report.add(
                "project.unknown-stream",
                (*draft.paths[name], "from", number),
                f"Pipeline {name!r} reads {stream!r}, and there is no such stream.",
                f"Did you mean {near!r}?" if near else listed,
            )
