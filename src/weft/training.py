"""A small project, played so that a JVM has loaded what most projects need. Run by `weft prepare` in a process of its
own, whose JVM writes its classes down as it ends."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from weft.testing import play

PROJECT: Mapping[str, Any] = {
    "app_name": "training",
    "processing": {"parallelism": 2},
    "watermarks": {"delay_seconds": 0},
    "streams": {
        "orders": {
            "source": {"mock": {}},
            "schema": {
                "id": "long",
                "email": "string",
                "country": "string",
                "total": "decimal(10,2)",
                "at": "timestamp",
            },
            "key": "id",
            "event_time": "at",
        }
    },
    "pipelines": {
        "clean": {
            "from": "orders",
            "steps": [{"filter": "total > 0"}, {"set": {"email": "lower(email)"}}],
            "to": "clean-orders",
        },
        "revenue": {
            "from": "clean-orders",
            "window": {"type": "tumbling", "size_ms": 10_000},
            "by": ["country"],
            "aggregate": {"orders": "count(*)", "revenue": "sum(total)"},
            "to": "revenue",
        },
    },
}
BATCHES = 3
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Feed some batches, change a rule on the way, and take it back."""
    with (
        tempfile.TemporaryDirectory(prefix="weft-training-") as folder,
        play(PROJECT, storage=folder) as run,
    ):
        for batch in range(BATCHES):
            run.feed("orders", [_order(batch, number) for number in range(5)])
        run.attach(stream="clean-orders", steps=[{"filter": "country != 'fr'"}])
        run.feed("orders", [_order(BATCHES, number) for number in range(5)])
        run.rollback("clean-orders", to=BATCHES)
        assert run.rows("revenue")


def _order(batch: int, number: int) -> dict[str, Any]:
    at = BEGIN + timedelta(seconds=20 * batch + number)
    country = "de" if number % 2 else "fr"
    total = f"{number}.50"
    return {"id": 5 * batch + number, "email": "A@B", "country": country, "total": total, "at": at}


if __name__ == "__main__":
    main()
