"""The weaver's knots and streams as the lineage graph reads them."""

from __future__ import annotations

from collections.abc import Iterator

from weft.lineage.knot import Knot
from weft.weaver.catalog import Catalog
from weft.weaver.knots import Knots
from weft.weaver.watching import Watching


class StoredHistory:
    """History over the weaver's store."""

    def __init__(self, knots: Knots, catalog: Catalog, watching: Watching) -> None:
        self._knots = knots
        self._catalog = catalog
        self._watching = watching

    def find_knot(self, stream: str, number: int) -> Knot | None:
        return self._knots.find(stream, number)

    def origin(self, stream: str) -> str:
        found = self._catalog.find_stream(stream)
        return found.origin if found else stream

    def written_beside(self, stream: str) -> list[str]:
        return [s.name for s in self._catalog.streams() if s.origin == stream and s.name != stream]

    def readers(self, stream: str) -> list[str]:
        return [pipeline.stream for pipeline in self._catalog.readers(stream)]

    def anomalies(self, stream: str, first: int, last: int) -> Iterator[str]:
        found = self._watching.between(stream, first, last)
        return (one.id for one in found if not one.accepted)

    def uses(self, stream: str, number: int, *, by: str) -> Iterator[Knot]:
        for used in self._knots.uses(stream, number, by=by):
            knot = self._knots.find(by, used)
            if knot is not None:
                yield knot
