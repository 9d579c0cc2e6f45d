"""A row of provenance and its knot become what was done to a record."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from tests.samples.values import PINNED
from weft.lineage.facts import Recording
from weft.lineage.provenance import ProvenanceError, record_provenance
from weft.weaving.trail import ABSENT, UNKNOWN, Transformation

A, B, C, D = (bytes([n]) * 32 for n in (1, 2, 3, 4))
STEPS = (("step:0", 0), ("rule:half", 1), ("rule:half", 2), ("rule:all", 3))
"""A filter, which has the hash of the record as it came, and three that have one of their own."""
KNOT = replace(
    PINNED,
    provenance=Recording(
        "full",
        steps=tuple(Transformation(name, f"v{n}", at) for n, (name, at) in enumerate(STEPS)),
    ),
)


def row(*hashes: bytes, verdict: str | None = None, step: int | None = None) -> dict[str, Any]:
    weft = {"id": "orders/3/17", "knot": KNOT.number, "at": None}
    by = STEPS[step][0] if step is not None else "parse" if verdict else None
    return {
        "verdict": verdict,
        "by": by,
        "step": step,
        "executor": "host/1",
        "hashes": b"".join(hashes),
        "_weft": weft,
    }


def test_each_step_has_the_hash_before_and_after_it() -> None:
    found = record_provenance(row(A, B, C, D), KNOT)
    assert [(step.name, step.version) for step in found.steps] == [
        (name, f"v{n}") for n, (name, _) in enumerate(STEPS)
    ]
    assert [step.before for step in found.steps] == [one.hex() for one in (A, A, B, C)]
    assert [step.after for step in found.steps] == [one.hex() for one in (A, B, C, D)]
    assert (found.came, found.left) == (A.hex(), D.hex())
    assert (found.id, found.source, found.partition) == ("orders/3/17", "orders", 3)


def test_steps_that_a_record_did_not_take_are_left_out() -> None:
    found = record_provenance(row(A, ABSENT, ABSENT, D), KNOT)
    assert [step.name for step in found.steps] == ["step:0", "rule:all"]
    assert found.steps[1].before == A.hex()


@pytest.mark.parametrize(
    ("hashes", "step"),
    [
        ((A, ABSENT, ABSENT, ABSENT), 0),
        ((A, ABSENT, ABSENT, ABSENT), 1),
        ((A, B, ABSENT, ABSENT), 2),
    ],
)
def test_a_record_ends_in_its_last_step(hashes: tuple[bytes, ...], step: int) -> None:
    found = record_provenance(row(*hashes, verdict="filtered", step=step), KNOT)
    last = found.steps[-1]
    assert (last.name, last.after, last.verdict) == (STEPS[step][0], None, "filtered")
    assert len(found.steps) == step + 1 and found.left is None


def test_what_could_not_be_read_took_no_step() -> None:
    found = record_provenance(row(*[ABSENT] * 4, verdict="dead"), KNOT)
    assert (found.came, found.left, found.steps, found.by) == (None, None, (), "parse")


def test_hashes_that_are_not_known_are_none() -> None:
    hashes = (UNKNOWN, UNKNOWN, ABSENT, ABSENT)
    found = record_provenance(row(*hashes, verdict="dead", step=2), KNOT)
    assert [(step.before, step.after) for step in found.steps] == [(None, None)] * 3


def test_rows_that_are_json_have_their_hashes_as_base64() -> None:
    stored = row(A, B, C, D)
    sent = {**stored, "hashes": base64.b64encode(stored["hashes"]).decode()}
    assert record_provenance(sent, KNOT) == record_provenance(stored, KNOT)


def test_the_row_of_another_knot_is_refused() -> None:
    other = replace(KNOT, number=KNOT.number + 1)
    with pytest.raises(ProvenanceError) as refused:
        record_provenance(row(A, B, C, D), other)
    assert refused.value.ids["knot"] == KNOT.number
    with pytest.raises(ProvenanceError):
        record_provenance(row(A, B, C, D), replace(KNOT, provenance=None))
