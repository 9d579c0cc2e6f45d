"""The series that a project names to be watched: a detector for each, kept in the store so that it goes on.

Called by `watching` for every knot that brings values of some.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping

from weft.anomalies.detector import Detector, Judgement
from weft.project.watch import MOST_SERIES
from weft.weaver.store.records import Records, put
from weft.weaver.store.store import Write

SAVED_EVERY = 50
"""A detector is stored after so many values: what came after that is learned again, not judged wrongly."""


class NamedSeries:
    """The detectors of all streams' series."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._known: dict[str, dict[str, Detector]] = {}

    def observe(
        self, stream: str, at_s: float, values: Mapping[str, float]
    ) -> Iterator[tuple[str, Judgement]]:
        """Judge a value of each series, and learn from it."""
        known = self._known.setdefault(stream, {})
        writes: list[Write] = []
        for name, value in values.items():
            detector = self.find(stream, name)
            if detector is None:
                if len(known) >= MOST_SERIES:
                    continue
                detector = known[name] = Detector()
            yield name, detector.observe(at_s, value)
            # Series that begin together are not stored together.
            if (detector.seen + zlib.crc32(name.encode())) % SAVED_EVERY == 0:
                writes.append(_write(stream, name, detector))
        if writes:
            self._records.store.apply(writes, durable=False)

    def find(self, stream: str, name: str) -> Detector | None:
        """The detector of a series, also of one that was only seen before the last start."""
        known = self._known.setdefault(stream, {})
        if name not in known and len(known) < MOST_SERIES:
            stored = self._records.find(Detector, "series", stream, _key(name))
            if stored is not None:
                known[name] = stored
        return known.get(name)

    def accept(self, stream: str, name: str, judgement: Judgement) -> None:
        """Take in that a value was not an anomaly, for good."""
        detector = self.find(stream, name)
        if detector is not None:
            detector.accept(judgement)
            self._records.store.apply([_write(stream, name, detector)])


def _write(stream: str, name: str, detector: Detector) -> Write:
    return put("series", stream, _key(name), value=detector)


def _key(name: str) -> str:
    """A key for a name, which may hold anything that a record does."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]
