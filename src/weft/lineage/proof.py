"""The proof that a record is in a stream, to be checked by anyone who knows the hash of one of its later knots. Pure.

In come the record as it was hashed, the hashes of its file's rows, and the knots from its own to the one whose hash is
known; out comes a value that holds all that a check needs and nothing of the other records. Called by `weft record
prove`; `docs/how-to/prove-a-record.md` has the check, which needs nothing of this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from weft import canonical
from weft.errors import WeftError
from weft.lineage.facts import DataFile
from weft.lineage.hashtree import Beside, climb, path_of
from weft.lineage.knot import Knot
from weft.schema.schema import Schema

FORMAT = 1


class ProofError(WeftError):
    """What was asked for cannot be proven."""

    code = "proof.impossible"
    domain = "conflict"


@dataclass(frozen=True)
class Proof:
    """That a record was written to a stream by a knot which the knot with the hash `head` descends from.

    `record` are the bytes that were hashed, as hex digits, and `columns` says what they mean: its hash is in the knot,
    as that of the file's root is. `knots` are the texts that were hashed, from the record's knot to the head.
    """

    format: int
    stream: str
    id: str
    record: str
    columns: str
    path: tuple[Beside, ...]
    knots: tuple[str, ...]
    head: str


def make_proof(
    stream: str,
    id: str,
    *,
    record: bytes,
    hashes: Sequence[bytes],
    place: int,
    file: DataFile,
    columns: Schema,
    knots: Sequence[Knot],
) -> Proof:
    """The proof of the record at a place of a file that the first of these knots wrote; the last is the head."""
    path = path_of(hashes, place)
    if climb(hashlib.sha256(record).digest(), path) != file.root:
        raise ProofError(
            f"The rows of file {file.path} of stream '{stream}' are not those that knot "
            f"{knots[0].number} wrote.",
            code="proof.altered",
            hint="`weft verify --deep` lists everything that differs.",
            stream=stream,
            knot=knots[0].number,
        )
    texts = tuple(canonical.encode(knot.sealed_form).decode() for knot in knots)
    _check(texts, knots)
    return Proof(
        format=FORMAT,
        stream=stream,
        id=id,
        record=record.hex(),
        columns=canonical.encode(columns.to_json()).decode(),
        path=path,
        knots=texts,
        head=str(knots[-1].hash),
    )


def _check(texts: Sequence[str], knots: Sequence[Knot]) -> None:
    """Refuse a chain that does not hold: nobody could check what it proves."""
    before: str | None = None
    for text, knot in zip(texts, knots, strict=True):
        follows = before is None or knot.previous_hash == before
        before = hashlib.sha256(text.encode()).hexdigest()
        if not follows or before != knot.hash:
            raise ProofError(
                f"Knot {knot.number} of stream '{knot.stream}' is not as it was sealed, or not what "
                "the knot after it follows.",
                code="proof.broken-chain",
                hint="`weft verify` lists everything that differs.",
                stream=knot.stream,
                knot=knot.number,
            )
