"""Where transactions end: the table of them, and how the changes of a product's tables are held back until theirs are
whole. Called where a product is put together and where the columns of the table are asked for. Knows no Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.project.definition import SourceSpec
from weft.schema.schema import Schema

KEY = "id"
COLUMNS = Schema.of(
    {
        KEY: "string",
        "status": "string",
        "event_count": "long",
        "data_collections": "array<struct<data_collection:string,event_count:long>>",
    }
)
"""The columns of a table of transactions: what Debezium says of one that begins or ends."""
NEEDED = ("data_collections", KEY, "status")


def tells_transactions(source: SourceSpec | None) -> bool:
    """Whether a source is the topic of transactions."""
    return topic_of(source) is not None and bool(source and source.options.get("transactions"))


def topic_of(source: SourceSpec | None) -> str | None:
    """The topic of a table's changes, by which a transaction counts them; None of a table that has none of its own."""
    if source is None or source.kind != "debezium":
        return None
    topic = str(source.options.get("topic", ""))
    return None if "," in topic else topic


def held_form(tables: tuple[str, ...], topics: Mapping[str, str]) -> dict[str, Any]:
    """What the kernel is told: which table has the transactions, behind the product's own, and their topics."""
    return {"table": len(tables), "topics": [topics[name] for name in tables]}
