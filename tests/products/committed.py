"""A world whose connector tells its transactions: events that name theirs, and where each begins and ends."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from tests.products.document import normalised
from tests.products.envelope import Envelope, deliveries
from tests.products.plain import documents
from tests.products.played import project_of
from tests.products.table import Key
from tests.products.world import World

COMMITS = "commits"


def whole_project(world: World) -> dict[str, Any]:
    """The project of a world, whose product shows whole transactions."""
    project = project_of(world, parallelism=1)
    commits = {"topic": "app.transaction", "transactions": True, "key": "id"}
    [(name, product)] = project["products"].items()
    return {
        **project,
        "tables": {**project["tables"], COMMITS: commits},
        "products": {name: {**product, "transactions": COMMITS}},
    }


def snapshot(world: World) -> dict[str, list[Envelope]]:
    """The first rows of each table."""
    return {
        name: [one for one in events if one["op"] == "r"] for name, events in world.events().items()
    }


def arriving(world: World, rng: Random) -> list[dict[str, list[Envelope]]]:
    """Everything after the snapshot in batches, each table at its own pace, and the transactions at theirs."""
    told = {
        name: [_named(one) for one in events if one["op"] != "r"]
        for name, events in world.events().items()
    }
    keys = {**world.keys, COMMITS: ("id",)}
    return deliveries({**told, COMMITS: boundaries(world)}, keys, rng, disorder=False)


def boundaries(world: World) -> list[Envelope]:
    """Where each transaction begins and ends, as Debezium tells it."""
    found: list[Envelope] = []
    for changes in world.transactions:
        begun, ended = (_name(one.transaction, one.position) for one in (changes[0], changes[-1]))
        counts = Counter(change.table for change in changes)
        found.append({"status": "BEGIN", "id": begun, "event_count": None})
        found.append(
            {
                "status": "END",
                "id": ended,
                "event_count": len(changes),
                "data_collections": [
                    {"data_collection": table, "event_count": count}
                    for table, count in counts.items()
                ],
                "ts_ms": 1_700_000_000_000,
            }
        )
    return [{**one, "after": None} for one in found]


def cuts(world: World) -> list[dict[Key, Any]]:
    """The documents before the first transaction, and behind each."""
    numbers = range(len(world.transactions) + 1)
    return [normalised(documents(world.product, world.tables_after(number))) for number in numbers]


def _named(event: Envelope) -> Envelope:
    name = _name(event["source"]["txId"], event["source"]["lsn"])
    return {**event, "transaction": {"id": name, "total_order": 1, "data_collection_order": 1}}


def _name(transaction: int, position: int) -> str:
    """A transaction as PostgreSQL's connector names it, another way in each of its events."""
    return f"{transaction}:{position}"
