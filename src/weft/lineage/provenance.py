"""The provenance of one record: a row of `<stream>.provenance` and its knot in, what was done to the record out. Pure.

The steps that there were to take are in the knot; each says which of the row's hashes is the one after it. A hash of
zeros is absent: the record did not take the step, or ended in it. One of ones was not computed.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from weft.errors import WeftError
from weft.lineage.knot import Knot
from weft.schema.weft import WEFT
from weft.weaving.trail import ABSENT, HASH_BYTES, UNKNOWN, Transformation

Outcome = Literal["kept", "filtered", "dead"]


class ProvenanceError(WeftError):
    """A row of provenance that does not belong to its knot."""

    code = "provenance.other-knot"
    domain = "user"


@dataclass(frozen=True)
class RecordStep:
    """A step that a record took: which, in which version, and the record's hash before and after it.

    `after` is None where the record ended in it; both are None where they were not written down.
    """

    name: str
    version: str
    before: str | None
    after: str | None
    verdict: Outcome = "kept"


@dataclass(frozen=True)
class RecordProvenance:
    """What was done to one record by one knot: `came` is its hash as it came in, `left` that of the row written."""

    id: str
    stream: str
    knot: int
    created: datetime | str | None
    source: str | None
    partition: int | None
    executor: str
    verdict: Outcome
    by: str | None
    came: str | None
    left: str | None
    steps: tuple[RecordStep, ...]


def record_provenance(row: Mapping[str, Any], knot: Knot) -> RecordProvenance:
    """What a row of provenance says of its record, with what its knot says of the steps."""
    weft = row[WEFT]
    if weft["knot"] != knot.number or knot.provenance is None:
        raise ProvenanceError(
            f"The provenance of record '{weft['id']}' is not of knot {knot.number} of stream '{knot.stream}'.",
            hint=f"Ask for it with knot {weft['knot']}.",
            stream=knot.stream,
            knot=weft["knot"],
        )
    source, partition = _origin(weft["id"])
    hashes = _hashes(row["hashes"])
    steps = tuple(_steps(row, hashes, knot.provenance.steps))
    verdict: Outcome = row["verdict"] or "kept"
    return RecordProvenance(
        id=weft["id"],
        stream=knot.stream,
        knot=knot.number,
        created=weft["at"],
        source=source,
        partition=partition,
        executor=row["executor"],
        verdict=verdict,
        by=row["by"],
        came=_hex(hashes[0]),
        left=(steps[-1].after if steps else _hex(hashes[0])) if verdict == "kept" else None,
        steps=steps,
    )


def told_hashes(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of provenance with its hashes as digits, one by one; None where there is none."""
    return {**row, "hashes": [_hex(one) for one in _hashes(row["hashes"])]}


def _origin(record: str) -> tuple[str, int | None]:
    """The source and the partition that an id begins with."""
    source, _, rest = record.partition("/")
    partition = rest.partition("/")[0]
    return source, int(partition) if partition.isdecimal() else None


def _hashes(stored: bytes | str) -> list[bytes]:
    """The hashes of a row one by one; rows that are JSON have them as base64, like all bytes."""
    together = base64.b64decode(stored) if isinstance(stored, str) else bytes(stored)
    return [together[at : at + HASH_BYTES] for at in range(0, len(together), HASH_BYTES)]


def _steps(
    row: Mapping[str, Any], hashes: Sequence[bytes], known: Sequence[Transformation]
) -> Iterator[RecordStep]:
    before = hashes[0]
    for number, step in enumerate(known):
        if number == row["step"]:
            yield RecordStep(step.by, step.version, _hex(before), None, row["verdict"])
            return
        after = hashes[step.hash]
        if after != ABSENT:
            yield RecordStep(step.by, step.version, _hex(before), _hex(after))
            before = after


def _hex(hash: bytes) -> str | None:
    """A hash as 64 digits; None where it is not known."""
    return None if hash in (ABSENT, UNKNOWN) else hash.hex()
