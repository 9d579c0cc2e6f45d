"""The checks that need knots only: hashes, the chain from the head back, ledgers, rules, and what was consumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.lineage.finding import Verification
from weft.lineage.fingerprint import MODULUS
from weft.lineage.knot import Knot, Status
from weft.lineage.ledger import Ledger
from weft.project.provenance import PROVENANCE


@dataclass(frozen=True)
class Line:
    """A stream that ties knots: all of them by number, where it stands, and the live ones."""

    stream: str
    knots: Mapping[int, Knot]
    head: int | None
    last: int
    live: frozenset[int] = field(default_factory=frozenset)
    start: int = 0
    """The files of knots up to this one are not read: a verification since a later knot was asked for."""

    floor: int = 0
    """The first knot that is kept; those before it are forgotten. 0 where all are."""
    before: str | None = None
    """The hash of the knot before the floor."""

    @property
    def pending(self) -> Knot | None:
        """The knot whose batch is running, or was when the worker died."""
        newest = self.knots.get(self.last)
        return newest if newest and newest.is_open else None


def live_numbers(knots: Mapping[int, Knot], head: int | None) -> frozenset[int]:
    """The knots that the newest one descends from, itself included."""
    found = set()
    number = head
    while number is not None and number in knots and number not in found:
        found.add(number)
        number = knots[number].previous
    return frozenset(found)


def check_chain(line: Line, report: Verification) -> None:
    """Each knot is what was sealed, follows the one that it says, and stands as the chain has it."""
    for number, knot in line.knots.items():
        where = f"knot {number} of {line.stream}"
        report.counts["knots"] += 1
        if knot.hash is not None:
            report.expect(knot.is_intact(), "knot.altered", where, "its content has another hash")
        _check_status(line, knot, where, report)
        if number in line.live:
            _check_link(line, knot, where, report)
            _check_ledger(knot, where, report)
    if line.head is not None:
        where = f"head of {line.stream}"
        report.expect(line.head in line.knots, "knot.missing", where, f"knot {line.head} is gone")
    report.expect(
        max(line.knots, default=0) <= line.last,
        "knot.beyond-head",
        f"head of {line.stream}",
        f"its last number is {line.last}, but there is knot {max(line.knots, default=0)}",
    )


def _check_status(line: Line, knot: Knot, where: str, report: Verification) -> None:
    if knot.number in line.live:
        report.expect(
            knot.status is Status.COMPLETE,
            "knot.status",
            where,
            f"the newest knot descends from it, but it is {knot.status}",
        )
    else:
        report.expect(
            knot.status is not Status.COMPLETE,
            "knot.status",
            where,
            "it is COMPLETE, but the newest knot does not descend from it",
        )


def _check_link(line: Line, knot: Knot, where: str, report: Verification) -> None:
    if knot.number == line.floor:
        report.expect(
            knot.previous_hash == line.before,
            "knot.broken-chain",
            where,
            "it is the first that is kept, and follows another knot than was written down",
        )
        return
    if knot.previous is None:
        report.expect(
            knot.previous_hash is None,
            "knot.broken-chain",
            where,
            "it is the first and names another",
        )
        return
    before = line.knots.get(knot.previous)
    if before is None:
        report.add("knot.missing", where, f"knot {knot.previous}, which it follows, is gone")
    else:
        report.expect(
            before.hash == knot.previous_hash,
            "knot.broken-chain",
            where,
            f"knot {before.number}, which it follows, has another hash than it says",
        )


def _check_ledger(knot: Knot, where: str, report: Verification) -> None:
    missing = knot.ledger.missing()
    report.expect(missing == 0, "knot.unbalanced", where, f"{missing} records are unaccounted for")
    for stream, expected in _rows_by_ledger(knot).items():
        written = knot.outputs.get(stream)
        rows = written.rows if written else 0
        report.expect(
            rows == expected,
            "knot.unbalanced",
            where,
            f"its ledger has {expected} rows for {stream}, its output {rows}",
        )
    for stream, output in knot.outputs.items():
        held = sum(file.rows for file in output.files)
        report.expect(
            held == output.rows,
            "knot.unbalanced",
            where,
            f"its files hold {held} rows of {stream}, its output {output.rows}",
        )


def _rows_by_ledger(knot: Knot) -> dict[str, int]:
    """How many rows the ledger says went to each stream."""
    ledger: Ledger = knot.ledger.results or knot.ledger
    expected = {knot.stream: ledger.out, f"{knot.stream}.late": knot.ledger.late}
    if knot.provenance is not None and knot.provenance.mode == "full":
        expected[f"{knot.stream}{PROVENANCE}"] = ledger.rows_in
    for stream, rows in knot.ledger.copied.items():
        expected[stream] = expected.get(stream, 0) + rows
    return expected


def check_consumed(line: Line, report: Verification) -> None:
    """Each live knot begins where the one before it ended: nothing was passed over, and nothing taken twice."""
    for number in line.live:
        knot = line.knots[number]
        if number == line.floor:
            continue
        before = line.knots.get(knot.previous) if knot.previous is not None else None
        ends = before.offsets.end if before else (None,) * len(knot.offsets.start)
        report.expect(
            knot.previous in (None, *line.knots) and knot.offsets.start == ends,
            "knot.gap",
            f"knot {number} of {line.stream}",
            f"it does not begin where {f'knot {knot.previous}' if before else 'its sources'} "
            f"{'ended' if before else 'begin'}",
        )


def check_inputs(
    line: Line,
    written: Mapping[str, Mapping[int, int]],
    floors: Mapping[str, int],
    report: Verification,
) -> None:
    """What each live knot consumed is what its inputs' live knots wrote: their hashes add up.

    `floors` are the first knots of streams that are kept; what consumed older ones is not asked about.
    """
    for number in line.live:
        knot = line.knots[number]
        if any(parent.first < floors.get(parent.stream, 0) for parent in knot.parents):
            continue
        for step in knot.steps:
            if step.input_hash is None:
                continue
            consumed = [
                hashed
                for parent in knot.parents
                for hashed in _between(written, parent.stream, parent.first, parent.last)
            ]
            report.expect(
                int(step.input_hash, 16) == sum(consumed) % MODULUS,
                "knot.input-hash",
                f"knot {number} of {line.stream}",
                "what it consumed is not what its inputs wrote: "
                + ", ".join(f"{p.stream} {p.first}–{p.last}" for p in knot.parents),
            )


def _between(
    written: Mapping[str, Mapping[int, int]], stream: str, first: int, last: int
) -> list[int]:
    hashes = written.get(stream, {})
    return [hashes[number] for number in range(first, last + 1) if number in hashes]
