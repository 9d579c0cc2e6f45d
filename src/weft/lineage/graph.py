"""The lineage graph: from which knots a knot came, and what came of it, across streams.

Nodes are ranges of knots, because a batch consumes ranges; whatever the length of the history, a trace reads a
few knots per stream it passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from weft.lineage.knot import Knot, Status

Direction = Literal["up", "down", "both"]


class KnotReader(Protocol):
    """What a trace reads."""

    def find_knot(self, stream: str, number: int) -> Knot | None:
        """A knot of a stream, by the stream that ties it."""
        ...

    def origin(self, stream: str) -> str:
        """The stream whose knots this one shares."""
        ...

    def written_beside(self, stream: str) -> list[str]:
        """The streams that share the knots of this one: side, late and dead-letter streams."""
        ...

    def readers(self, stream: str) -> list[str]:
        """The streams written by the pipelines that read this one."""
        ...

    def anomalies(self, stream: str, first: int, last: int) -> Iterator[str]:
        """The ids of what was unusual about the knots of a stream from `first` to `last`."""
        ...

    def uses(self, stream: str, number: int, *, by: str) -> Iterator[Knot]:
        """The knots of `by` that consumed knot `number` of a stream or later ones, in order."""
        ...


@dataclass(frozen=True)
class Node:
    """Knots of one stream, from `first` to `last`, both included."""

    stream: str
    first: int
    last: int


@dataclass(frozen=True)
class Edge:
    """Data went from one range of knots to another."""

    source: Annotated[Node, Field(alias="from")]
    target: Annotated[Node, Field(alias="to")]


@dataclass(frozen=True)
class RuledNode(Node):
    """Knots of one stream, the rules that were in force at either end, and what was unusual in between."""

    rules: tuple[str, ...] = ()
    anomalies: tuple[str, ...] = ()
    """By their ids."""


@dataclass(frozen=True)
class Trace:
    """The graph around a knot."""

    start: Node
    nodes: tuple[RuledNode, ...]
    edges: tuple[Edge, ...]


def trace(
    history: KnotReader, stream: str, number: int, *, direction: Direction = "both", depth: int = 10
) -> Trace:
    """The graph around one knot: nodes, edges, and the rules that were in force on the way."""
    start = Node(stream, number, number)
    edges: list[Edge] = []
    if direction in ("up", "both"):
        edges += _walk(start, depth, lambda node: _above(history, node))
    if direction in ("down", "both"):
        edges += _walk(start, depth, lambda node: _below(history, node))
    nodes = dict.fromkeys([start, *(n for edge in edges for n in (edge.source, edge.target))])
    return Trace(
        start,
        tuple(
            RuledNode(n.stream, n.first, n.last, _rules(history, n), _anomalies(history, n))
            for n in nodes
        ),
        tuple(dict.fromkeys(edges)),
    )


def _walk(start: Node, depth: int, step: Any) -> list[Edge]:
    edges: list[Edge] = []
    seen = {start}
    layer = [start]
    for _ in range(depth):
        found = [(node, edge) for node in layer for edge in step(node)]
        edges += [edge for _, edge in found]
        reached = [
            other
            for node, edge in found
            for other in (edge.source, edge.target)
            if other != node and other not in seen
        ]
        layer = list(dict.fromkeys(reached))
        seen.update(layer)
        if not layer:
            break
    return edges


def _above(history: KnotReader, node: Node) -> Iterator[Edge]:
    origin = history.origin(node.stream)
    last = history.find_knot(origin, node.last)
    first = history.find_knot(origin, node.first)
    if last is None or first is None:
        return
    before = history.find_knot(origin, first.previous) if first.previous is not None else None
    for stream, upto in last.offsets.inputs.items():
        after = before.offsets.inputs.get(stream, 0) if before else 0
        if upto > after:
            yield Edge(Node(stream, after + 1, upto), node)


def _below(history: KnotReader, node: Node) -> Iterator[Edge]:
    if history.origin(node.stream) == node.stream:
        for beside in history.written_beside(node.stream):
            yield Edge(node, Node(beside, node.first, node.last))
    for reader in history.readers(node.stream):
        first = next(_live(history.uses(node.stream, node.first, by=reader)), None)
        if first is None:
            continue
        last = next(_live(history.uses(node.stream, node.last, by=reader)), first)
        yield Edge(node, Node(reader, first.number, max(first.number, last.number)))


def _live(knots: Iterator[Knot]) -> Iterator[Knot]:
    return (knot for knot in knots if knot.status is Status.COMPLETE)


def _rules(history: KnotReader, node: Node) -> tuple[str, ...]:
    """The rules in force at either end of a range."""
    origin = history.origin(node.stream)
    ends = [history.find_knot(origin, number) for number in {node.first, node.last}]
    return tuple(sorted({rule.id for knot in ends if knot for rule in knot.rules}))


def _anomalies(history: KnotReader, node: Node) -> tuple[str, ...]:
    return tuple(history.anomalies(history.origin(node.stream), node.first, node.last))
