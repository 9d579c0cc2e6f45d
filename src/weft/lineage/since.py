"""From where on history is verified: a knot, a moment, or a head whose hash somebody has kept. Pure.

In comes what a person wrote and the lines of all streams, out come the lines with the knot up to which files are passed
over, and what became of a head that was published. Called by `weft verify --since`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from weft.clock import iso
from weft.errors import WeftError
from weft.lineage.chain import Line
from weft.lineage.finding import Verification
from weft.lineage.knot import Knot

NUMBER = re.compile(r"\d{1,18}")
DIGITS = re.compile(r"[0-9a-f]{64}|(?=\d*[a-f])[0-9a-f]{8,63}")
SHOWN = 16


class SinceError(WeftError):
    """What was given as the start of a verification is nothing that it could start from."""

    code = "verify.bad-since"
    domain = "user"


@dataclass(frozen=True)
class Since:
    """Where to begin: one of a knot of a stream, a moment, and the hash of a head or its first digits."""

    stream: str | None = None
    knot: int | None = None
    moment: str | None = None
    head: str | None = None


def parse_since(text: str, stream: str | None = None) -> Since:
    """What a person wrote: the number of a knot, a time in ISO 8601, or a hash."""
    if NUMBER.fullmatch(text):
        if stream is None:
            raise SinceError(
                f"Knot {text} may be one of any stream.",
                hint="Say of which with `--stream`, or give the knot's hash or a time.",
            )
        return Since(stream=stream, knot=int(text))
    if DIGITS.fullmatch(text.lower()):
        return Since(stream=stream, head=text.lower())
    try:
        then = datetime.fromisoformat(text)
        aware = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
        return Since(stream=stream, moment=iso(aware.astimezone(UTC)))
    except (ValueError, OverflowError) as error:
        raise SinceError(
            f"'{text[:80]}' is no knot, no time and no hash.",
            hint="Give the number of a knot with `--stream`, a time such as 2026-11-16T12:00, or a head's hash as "
            "`weft stream head` prints it, of which the first 8 digits will do.",
        ) from error


def begin(
    since: Since, lines: Mapping[str, Line], shared: Mapping[str, str], report: Verification
) -> dict[str, Line]:
    """The lines, each with the knot up to which its files are passed over; `shared` has the line of each stream."""
    if since.stream is not None and since.stream not in shared:
        raise SinceError(
            f"There is no stream '{since.stream[:80]}'.",
            code="stream.missing",
            domain="missing",
            hint="See `weft stream list`.",
        )
    own = shared.get(since.stream or "")
    moment = since.moment
    if since.head is not None:
        found = _published(since.head, [lines[own]] if own else list(lines.values()), report)
        moment = None if found is None else found.completed
    elif since.knot is not None and own is not None:
        moment = _numbered(lines[own], since.knot).completed
    begun = {name: replace(line, start=_start(line, moment)) for name, line in lines.items()}
    if own is not None:
        # Of the others, files are not asked about.
        begun |= {
            name: replace(line, start=line.last) for name, line in begun.items() if name != own
        }
    return begun


def _start(line: Line, moment: str | None) -> int:
    """The knot before the first that was tied since; where a clock was set back, rather an older one."""
    if moment is None:
        return 0
    since = [n for n, knot in line.knots.items() if not knot.completed or knot.completed >= moment]
    return min(since, default=line.last + 1) - 1


def _numbered(line: Line, number: int) -> Knot:
    knot = line.knots.get(number)
    if knot is None or knot.completed is None:
        raise SinceError(
            f"Stream '{line.stream}' has no knot {number} that was tied.",
            code="knot.missing",
            domain="missing",
            hint=f"See `weft stream log {line.stream}`.",
        )
    return knot


def _published(head: str, lines: list[Line], report: Verification) -> Knot | None:
    """The knot with the hash that was kept, and whether the newest one still descends from it."""
    found = list(_with_hash(head, lines))
    if len({knot.hash for _, knot in found}) > 1:
        raise SinceError(
            f"{len(found)} knots have a hash that begins with {head[:SHOWN]}.",
            hint="Give more of its digits.",
        )
    where = f"head {head[:SHOWN]}"
    if not found:
        report.add(
            "head.unknown",
            where,
            "no knot has this hash: history was edited since, or it is that of another weaver",
        )
        return None
    line, knot = found[0]
    name = f"knot {knot.number} of {line.stream}"
    if knot.number not in line.live:
        report.add("head.rolled-back", where, f"it is {name}, which was rolled back since")
        return knot
    after = sum(number > knot.number for number in line.live)
    report.remarks.append(
        f"Head {head[:SHOWN]} is {name}, and {after} live knots descend from it."
        if after
        else f"Head {head[:SHOWN]} is {name}, the newest."
    )
    return knot


def _with_hash(head: str, lines: list[Line]) -> Iterator[tuple[Line, Knot]]:
    for line in lines:
        for knot in line.knots.values():
            if knot.hash is not None and knot.hash.startswith(head):
                yield line, knot
