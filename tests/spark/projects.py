"""Projects and records that the tests of this folder share."""

from __future__ import annotations

from typing import Any

ORDERS = {
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


def shop(**pipelines: dict[str, Any]) -> dict[str, Any]:
    """A shop: orders come in, and the pipelines that a test wants."""
    return {
        "app_name": "shop",
        "processing": {"parallelism": 2},
        "watermarks": {"delay_seconds": 0},
        "streams": {"orders": ORDERS},
        "pipelines": pipelines,
    }


CLEAN = {
    "from": "orders",
    "steps": [{"filter": "total > 0"}, {"set": {"email": "lower(email)"}}],
    "to": "clean-orders",
}

REVENUE = {
    "from": "clean-orders",
    "window": {"type": "tumbling", "size_ms": 10_000, "allowed_lateness_ms": 5_000},
    "by": ["country"],
    "aggregate": {"orders": "count(*)", "revenue": "sum(total)"},
    "to": "revenue",
}


def order(number: int, **columns: Any) -> dict[str, Any]:
    """One order; its time is a second per number."""
    return {
        "id": number,
        "email": f"User{number}@Example.org",
        "country": "de" if number % 2 else "fr",
        "total": str(number % 7),
        "at": f"2026-01-01T00:{number // 60:02d}:{number % 60:02d}Z",
        **columns,
    }


def orders(first: int, count: int) -> list[dict[str, Any]]:
    """Orders in a row."""
    return [order(number) for number in range(first, first + count)]


def as_set(rows: list[dict[str, Any]]) -> list[str]:
    """Rows in an order of their own, to compare streams whose knots were cut differently."""
    return sorted(repr(sorted(row.items(), key=lambda pair: pair[0])) for row in rows)
