"""The cycles of a graph: its strongly connected components. Called to judge patterns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(edges: Mapping[N, Iterable[N]]) -> dict[N, int]:
    """Every node that lies on a cycle, with the number of its component.

    This is Tarjan's algorithm, with a stack of its own instead of recursion.
    """
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    waiting: set[N] = set()
    found: dict[N, int] = {}
    for root in edges:
        if root in index:
            continue
        work: list[tuple[N, Iterator[N]]] = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        waiting.add(root)
        while work:
            node, rest = work[-1]
            child = next(rest, None)
            if child is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    _close(node, stack, waiting, found, edges)
            elif child not in index:
                index[child] = low[child] = len(index)
                stack.append(child)
                waiting.add(child)
                work.append((child, iter(edges[child])))
            elif child in waiting:
                low[node] = min(low[node], index[child])
    return found


def _close(
    node: N, stack: list[N], waiting: set[N], found: dict[N, int], edges: Mapping[N, Iterable[N]]
) -> None:
    members: list[N] = []
    while not members or members[-1] != node:
        members.append(stack.pop())
    waiting.difference_update(members)
    if len(members) > 1 or node in edges[node]:
        number = len(found)
        found.update(dict.fromkeys(members, number))
