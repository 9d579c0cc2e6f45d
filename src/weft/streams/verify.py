"""Whether everything that was recorded is true of everything that is stored, and what is wrong where.

In comes what the weaver recorded and the folder of the streams, out comes a list of findings. Called by
`weft verify` and by tests; needs neither Spark nor a running weaver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from weft.lineage.chain import Line, check_chain, check_consumed, check_inputs, live_numbers
from weft.lineage.facts import Output
from weft.lineage.finding import Finding, Verification
from weft.lineage.knot import Knot
from weft.lineage.since import Since, begin
from weft.locations.location import locate
from weft.streams.check import check_table
from weft.streams.presence import PipelineRecord, check_checkpoint, check_tables
from weft.streams.rehash import Rehash


@dataclass(frozen=True)
class StreamRecord:
    """A stream as it is recorded: its name, the stream whose knots it shares, and what holds its pipeline."""

    name: str
    origin: str
    hold: str | None = None
    expired: int = 0
    """The last knot whose rows were let go of."""


class Recorded(Protocol):
    """What the weaver recorded; a record that cannot be read is left out here and found by `damage`."""

    def damage(self) -> Iterator[Finding]:
        """Everything in the store that is not what was written; counts what it reads."""
        ...

    def size(self) -> int:
        """How many records there are."""
        ...

    def streams(self) -> list[StreamRecord]:
        """All streams."""
        ...

    def head(self, stream: str) -> tuple[int | None, int]:
        """The newest live knot of a stream, and the highest number given out."""
        ...

    def knots(self, stream: str) -> Iterator[Knot]:
        """All knots of a stream, oldest first."""
        ...

    def floor(self, stream: str) -> tuple[int, str | None]:
        """The first knot of a stream that is kept, 0 where all are, and the hash of the one before it."""
        ...

    def fills(self, stream: str) -> dict[int, Output]:
        """What a stream was filled with from recorded rows, by the last knot of each part."""
        ...

    def pipelines(self) -> list[PipelineRecord]:
        """The pipelines that run, or should."""
        ...

    def has_rule(self, name: str, version: str) -> bool:
        """Whether a rule with this id is known, and this version of it, unchanged."""
        ...


class Places(Protocol):
    """Where things lie that were recorded."""

    @property
    def streams(self) -> str:
        """The tables of all streams."""
        ...

    def table(self, stream: str) -> str:
        """The table of a stream."""
        ...

    def checkpoint(self, pipeline: str, epoch: int) -> str:
        """The checkpoint directory of a pipeline."""
        ...


def verify(
    recorded: Recorded,
    places: Places,
    *,
    rehash: Rehash | None = None,
    since: Since | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Check the store, the chains, the ledgers, the tables and the checkpoints; with `rehash` every row as well.

    With `since` the files of older knots are passed over; the chain is checked whole.

    1. Store: every record has the checksum it was written with.
    2. Knots: each is as it was sealed, the chain leads from the head back, ledgers balance.
    3. Lineage: each knot begins where the one before it ended, what it consumed is what its inputs wrote, the rules
       that it names are there.
    4. Tables: each commit says what its knot says, and the files have the bytes that were written.
    5. Storage: every table is a stream's, and every checkpoint stands where its pipeline's newest knot does.
    """
    report = Verification()
    progress("the weaver's store")
    report.findings.extend(recorded.damage())  # 1
    report.counts["records"] = recorded.size()
    streams = recorded.streams()
    origins = sorted({stream.origin for stream in streams})
    lines = {name: _line(recorded, name) for name in origins}
    if since is not None:
        shared = {stream.name: stream.origin for stream in streams}
        lines = begin(since, lines, shared, report)
    for line in lines.values():  # 2
        progress(f"the knots of {line.stream}")
        check_chain(line, report)
    written = _written(lines)
    floors = {stream.name: lines[stream.origin].floor for stream in streams}
    for stream in streams:
        live = lines[stream.origin].live
        fills = {n: o for n, o in recorded.fills(stream.name).items() if n in live}
        written.setdefault(stream.name, {}).update((n, int(o.hash, 16)) for n, o in fills.items())
    for line in lines.values():  # 3
        check_consumed(line, report)
        check_inputs(line, written, floors, report)
        _check_rules(recorded, line, report)
    for stream in streams:  # 4
        progress(f"the table of {stream.name}")
        report.counts["streams"] += 1
        if report.expect(stream.hold is None, "pipeline.held", stream.name, _unfinished(stream)):
            line, fills = lines[stream.origin], recorded.fills(stream.name)
            folder = locate(places.table(stream.name))
            check_table(
                *(stream.name, folder, line, fills, report), expired=stream.expired, rehash=rehash
            )
    check_tables(locate(places.streams), {stream.name for stream in streams}, report)  # 5
    for pipeline in recorded.pipelines():
        progress(f"the checkpoint of {pipeline.name}")
        checkpoint = locate(places.checkpoint(pipeline.name, pipeline.epoch))
        if pipeline.stream in lines:
            check_checkpoint(pipeline, checkpoint, lines[pipeline.stream], report)
    return report


def _unfinished(stream: StreamRecord) -> str:
    return f"{stream.hold} is under way; a weaver and a worker finish it when they are started"


def _line(recorded: Recorded, stream: str) -> Line:
    head, last = recorded.head(stream)
    floor, before = recorded.floor(stream)
    knots = {knot.number: knot for knot in recorded.knots(stream) if knot.number >= floor}
    live = live_numbers(knots, head)
    return Line(stream, knots, head, last, live, floor=floor, before=before)


def _written(lines: Mapping[str, Line]) -> dict[str, dict[int, int]]:
    """The hash of what each live knot wrote to each stream."""
    hashes: dict[str, dict[int, int]] = {}
    for line in lines.values():
        for number in line.live:
            for stream, output in line.knots[number].outputs.items():
                hashes.setdefault(stream, {})[number] = int(output.hash, 16)
    return hashes


def _check_rules(recorded: Recorded, line: Line, report: Verification) -> None:
    for number, knot in line.knots.items():
        for rule in knot.rules:
            report.expect(
                recorded.has_rule(rule.id, rule.version),
                "knot.rule-missing",
                f"knot {number} of {line.stream}",
                f"nothing is known of rule '{rule.id}' as it was then",
            )
