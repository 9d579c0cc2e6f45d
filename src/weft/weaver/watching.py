"""What is unusual about the knots of a stream: watched as they are tied, told as events, and taken back by people.

What detectors know is not stored: after a start they learn it again from the last knots, which say it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from weft.anomalies.detector import ALARM_OF_MANY, Detector, Judgement
from weft.anomalies.measures import Measured, measures
from weft.clock import Clock, iso, parse_iso
from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.weaver.events import Events
from weft.weaver.knots import Knots
from weft.weaver.named_series import NamedSeries
from weft.weaver.store.records import Records, put, remove
from weft.weaver.store.store import Write

NONE: Mapping[str, float] = MappingProxyType({})

LEARNED_FROM = 2_000
"""So many knots of a stream are looked at again after a start."""

FLAGGED = 10
"""So many knots after an unusual one are flagged."""

KEPT = 1_000
"""So many anomalies of a stream are kept beyond the next start, the newest."""


class AnomalyMissingError(WeftError):
    """There is no such anomaly."""

    code = "anomaly.missing"
    domain = "missing"


@dataclass(frozen=True, kw_only=True)
class AnomalyRecord(Judgement):
    """A knot whose measure is unusual, and whether somebody says that it is fine."""

    id: str
    stream: str
    knot: int
    measure: str
    at: str
    text: str
    accepted: bool = False
    """Whether somebody said that it is not an anomaly; what deviates about as much is not told again."""


class Watching:
    """The detectors of all streams, and what they found."""

    def __init__(self, records: Records, clock: Clock, knots: Knots, events: Events) -> None:
        self._records = records
        self._clock = clock
        self._knots = knots
        self._events = events
        self._detectors: dict[str, dict[str, Detector]] = {}
        self._seen: dict[str, Knot] = {}
        self._unusual: dict[str, int | None] = {}
        """The newest knot of each stream that was unusual and is not accepted, as far as it was looked for."""
        self._named = NamedSeries(records)

    def tied(self, knot: Knot, series: Mapping[str, float] = NONE) -> list[AnomalyRecord]:
        """Look at a knot that was just tied, and at what it adds to series; what is unusual is stored and told."""
        if knot.stream not in self._detectors:
            self._learn(knot.stream, before=knot.number)
        found = [*self._judged(knot), *self._judged_series(knot, series)]
        if found:
            self._unusual[knot.stream] = knot.number
        writes: list[Write] = []
        for one in found:
            writes.append(put("anomalies", one.stream, one.knot, one.measure, value=one))
            writes += self._events.write(
                "anomaly.found",
                stream=one.stream,
                knot=one.knot,
                measure=one.measure,
                text=one.text,
            )
        if writes:
            self._records.store.apply(writes, durable=False)
        return found

    def is_flagged(self, stream: str, number: int) -> bool:
        """Whether a knot follows an unusual one closely enough that all its records are of interest."""
        if stream not in self._unusual:
            found = self._records.scan(AnomalyRecord, "anomalies", stream, reverse=True)
            self._unusual[stream] = next((one.knot for one in found if not one.accepted), None)
        unusual = self._unusual[stream]
        return unusual is not None and number - unusual <= FLAGGED

    def all(self, *, stream: str | None = None, limit: int = 1000) -> list[AnomalyRecord]:
        """What was found, newest first."""
        parts = ("anomalies",) if stream is None else ("anomalies", stream)
        found = self._records.scan(AnomalyRecord, *parts)
        return sorted(found, key=lambda one: (one.at, one.id), reverse=True)[:limit]

    def between(self, stream: str, first: int, last: int) -> Iterator[AnomalyRecord]:
        """What was found about the knots of a stream from `first` to `last`."""
        for one in self._records.scan(AnomalyRecord, "anomalies", stream, start=first):
            if one.knot > last:
                return
            yield one

    def accept(self, name: str) -> AnomalyRecord:
        """Take in that something was not an anomaly: nothing is flagged because of it any longer."""
        stream, _, rest = name.partition("/")
        number, _, measure = rest.partition(".")
        found = (
            self._records.find(AnomalyRecord, "anomalies", stream, int(number), measure)
            if number.isdigit() and len(number) < 19
            else None
        )
        if found is None:
            raise AnomalyMissingError(
                f"There is no anomaly '{name[:100]}'.", hint="See `weft anomaly list`."
            )
        accepted = replace(found, accepted=True)
        self._records.store.apply(
            [put("anomalies", found.stream, found.knot, found.measure, value=accepted)]
        )
        self._unusual.pop(found.stream, None)
        detector = self._detectors.get(found.stream, {}).get(found.measure)
        if detector is not None:
            detector.accept(found)
        else:
            self._named.accept(found.stream, found.measure, found)
        return accepted

    def _learn(self, stream: str, *, before: int) -> None:
        """Learn from the last knots what is usual, and from what was accepted what is fine."""
        self._detectors[stream] = {}
        recent = [
            knot
            for knot in self._knots.log(stream, before=before, limit=LEARNED_FROM)
            if knot.status is Status.COMPLETE
        ]
        for knot in reversed(recent):
            self._observed(knot)
        found = list(self._records.scan(AnomalyRecord, "anomalies", stream))
        old = [remove("anomalies", one.stream, one.knot, one.measure) for one in found[:-KEPT]]
        if old:
            self._records.store.apply(old, durable=False)
        for one in found[-KEPT:]:
            detector = self._detectors[stream].get(one.measure)
            if one.accepted and detector is not None:
                detector.accept(one)

    def _observed(self, knot: Knot) -> list[tuple[Measured, Judgement]]:
        known = self._detectors[knot.stream]
        judged = [
            (one, known.setdefault(one.measure, Detector()).observe(one.at_s, one.value))
            for one in measures(knot, self._seen.get(knot.stream))
        ]
        self._seen[knot.stream] = knot
        return judged

    def _judged(self, knot: Knot) -> Iterator[AnomalyRecord]:
        for one, judgement in self._observed(knot):
            if judgement.likelihood >= one.alarm:
                yield self._record(knot, one.measure, judgement)

    def _judged_series(self, knot: Knot, values: Mapping[str, float]) -> Iterator[AnomalyRecord]:
        at_s = parse_iso(knot.completed or knot.now).timestamp()
        for name, judgement in self._named.observe(knot.stream, at_s, values):
            if judgement.likelihood >= ALARM_OF_MANY:
                yield self._record(knot, name, judgement)

    def _record(self, knot: Knot, measure: str, judgement: Judgement) -> AnomalyRecord:
        return AnomalyRecord(
            id=f"{knot.stream}/{knot.number}.{measure}",
            stream=knot.stream,
            knot=knot.number,
            measure=measure,
            at=iso(self._clock.now()),
            likelihood=round(judgement.likelihood, 4),
            kind=judgement.kind,
            observed=judgement.observed,
            low=judgement.low,
            high=judgement.high,
            deviation=judgement.deviation,
            text=f"{measure} of {knot.stream}: {judgement.explanation}",
        )
