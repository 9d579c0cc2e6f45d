"""Change events of a database table, as Debezium writes them to Kafka."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from weft.declared.key import Key
from weft.declared.limit import TEXT
from weft.sources.kafka import TOPICS
from weft.sources.options import Source


@dataclass(frozen=True)
class DebeziumSource(Source):
    """Changes of one table."""

    topic: Annotated[str, Key(TOPICS, "The topic.", "app.public.users")]
    servers: Annotated[
        str, Key(TEXT, "Servers to ask first, with commas between.", "localhost:9092")
    ] = "localhost:9092"
