"""A world played on the real engine: its project, its events in the order in which they arrive, crashes on the way."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.products.document import normalised
from tests.products.world import World
from weft.products.write import write_product
from weft.testing import Play

POINTS = ("pin", "weave", "write", "written", "deliver", "recorded")
PRODUCT = "documents"


def project_of(world: World, *, parallelism: int) -> dict[str, Any]:
    """The project of a world: the tables that its product reads, and the product."""
    tables = {
        name: {"topic": name, "key": list(table.key), "columns": dict(table.columns)}
        for name, table in world.empty.items()
        if name in world.product.tables()
    }
    return {
        "app_name": "world",
        "processing": {"state": "memory" if world.seed % 5 == 2 else "rocksdb"},
        "tables": tables,
        "products": {PRODUCT: {**write_product(world.product), "parallelism": parallelism}},
    }


def live(run: Play, world: World, rng: Random) -> int:
    """Deliver everything that happens in a world, with a crash now and then; returns how many there were."""
    crashes = 0
    for batch in world.deliveries(rng, disorder=world.seed % 2 == 1):
        for table, events in batch.items():
            if table in world.product.tables():
                run.append(table, events)
        if rng.random() < 0.2:
            crashes += 1
            run.crash(at=rng.choice(POINTS))
            run.settle()
            run.resume()
    run.settle()
    return crashes


def assembled(run: Play, world: World) -> dict[tuple[Any, ...], Any]:
    """The documents that the engine has, by their keys."""
    key = world.keys[world.product.root.table]
    found = [normalised(one) for one in run.documents(PRODUCT)]
    return {tuple(one[name] for name in key): one for one in found}
