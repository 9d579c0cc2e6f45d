"""The columns of the mock source when a project declares none: orders of a shop."""

from __future__ import annotations

from weft.schema.schema import Schema

SCHEMA = Schema.of(
    {
        "id": "long",
        "user": "string",
        "country": "string",
        "amount": "decimal(10,2)",
        "at": "timestamp",
    }
)
KEY = "user"
EVENT_TIME = "at"
