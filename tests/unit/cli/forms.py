"""What the weaver answers, made from its own values so that these tests follow its schema."""

from __future__ import annotations

from typing import Any

from weft.lineage.facts import Output, StepRecord
from weft.lineage.knot import Knot, Parent, RuleRef, Status
from weft.lineage.ledger import Ledger
from weft.lineage.offsets import Offsets
from weft.steps.step import steps_from
from weft.weaving.rule import Rule

MOMENT = "2026-01-01T00:00:00.000000Z"


def make_knot(
    number: int = 2, *, status: Status = Status.COMPLETE, **fields: Any
) -> dict[str, Any]:
    """A knot of `clean-orders` that took ten records and let eight through."""
    written = Output(rows=8, bytes=900, hash="ab" * 32, version=number, files=())
    knot = Knot(
        **{
            "id": "6f1c",
            "stream": "clean-orders",
            "pipeline": "clean",
            "number": number,
            "epoch": 0,
            "batch": number - 1,
            "parents": (Parent("orders", 1, 2),),
            "offsets": Offsets((None,), ({"knot": 2},), {"orders": 2}),
            "rules": (RuleRef("big", "cd" * 32, 10.0),),
            "now": MOMENT,
            "seed": 1,
            "previous": number - 1 or None,
            "previous_hash": "ef" * 32 if number > 1 else None,
            "steps": (
                StepRecord(
                    "clean", "12" * 32, {}, "34" * 32, "ab" * 32, 10, 8, MOMENT, MOMENT, "host"
                ),
            ),
            "outputs": {"clean-orders": written},
            "ledger": Ledger(rows_in=10, out=8, filtered={"step:1": 2}),
            "watermark": 1_767_225_600_000,
            "completed": MOMENT,
            "duration_ms": 40,
            **fields,
        }
    ).sealed()
    return {**knot.to_dict(), "status": str(status)}


def make_rule(**fields: Any) -> dict[str, Any]:
    """A rule on `orders`."""
    steps = steps_from([{"filter": "total > 10"}])
    rule = Rule(**{"id": "big", "stream": "orders", "steps": steps, "since": 3, **fields})
    return {**rule.to_dict(), "history": [{"at": MOMENT, "did": "attached", "knot": 3}]}


def make_pipeline(**fields: Any) -> dict[str, Any]:
    """A pipeline that runs."""
    return {
        "id": "clean",
        "stream": "clean-orders",
        "inputs": ["orders"],
        "desired": "running",
        "state": "running",
        "error": None,
        "worker": "w-1",
        "epoch": 0,
        "version": "12" * 32,
        "knot": 7,
        "behind": {"orders": 1},
        "starting_s": None,
        "waits": "",
        **fields,
    }


def make_stream(**fields: Any) -> dict[str, Any]:
    """A stream with two columns."""
    return {
        "name": "orders",
        "pipeline": "orders",
        "origin": "orders",
        "kind": "main",
        "schema": "ab" * 32,
        "columns": {
            "type": "struct",
            "fields": [
                {"name": "id", "type": "long", "nullable": True, "metadata": {}},
                {"name": "total", "type": "decimal(10,2)", "nullable": True, "metadata": {}},
            ],
        },
        "knot": 7,
        "last_number": 8,
        "readers": ["clean"],
        "hash": "cd" * 32,
        **fields,
    }
