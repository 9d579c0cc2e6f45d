"""Documents against a model: random tables, random products over them, random changes that arrive late, mixed, out of
order and again, with crashes. `python -m bench.products [--quick]`.

Each world ends with the documents of its final tables, as a plain model computes them, or is counted as wrong. In a
storm products are added and changed, rules come and go, tables are rolled back and read anew while all that arrives.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench._report import Figures, Measure, run, say
from tests.products.document import normalised
from tests.products.plain import documents
from tests.products.played import assembled, live, project_of
from tests.products.storm import Storm
from tests.products.world import make_world
from weft.testing import play

WORLDS = 300
QUICK = 8
STORMS = 60
QUICK_STORMS = 2
FIRST = 1_000


def worlds(quick: bool) -> Figures:
    """Play so many worlds to their ends."""
    crashes, wrong = 0, 0
    count = QUICK if quick else WORLDS
    for number, seed in enumerate(range(FIRST, FIRST + count), start=1):
        died, is_right = _play(seed)
        crashes += died
        wrong += not is_right
        if not is_right:
            say(f"world {seed} ends with other documents")
        if number % 10 == 0:
            say(f"{number} worlds, {wrong} wrong")
    return {"worlds": count, "wrong": wrong, "crashes": crashes}


def _play(seed: int) -> tuple[int, bool]:
    """One world: how often its worker died, and whether its documents are right in the end."""
    world = make_world(seed)
    with (
        TemporaryDirectory(prefix="weft-bench-") as storage,
        play(project_of(world, parallelism=1 + seed % 2), storage=Path(storage)) as played,
    ):
        crashes = live(played, world, Random(seed))
        wanted = normalised(documents(world.product, world.tables))
        return crashes, assembled(played, world) == wanted


def storms(quick: bool) -> Figures:
    """Play so many worlds with everything else going on beside."""
    wrong = 0
    count = QUICK_STORMS if quick else STORMS
    for number, seed in enumerate(range(FIRST, FIRST + count), start=1):
        storm = Storm(make_world(seed, transactions=25), Random(seed))
        with (
            TemporaryDirectory(prefix="weft-bench-") as storage,
            play(storm.project(), storage=Path(storage)) as played,
        ):
            storm.play(played)
            is_right = storm.found(played) == storm.wanted(played)
        if not is_right:
            wrong += 1
            say(f"storm {seed} ends with other documents: {', '.join(storm.done)}")
        if number % 10 == 0:
            say(f"{number} storms, {wrong} wrong")
    return {"storms": count, "storms_wrong": wrong}


PARTS = {
    "worlds": Measure(("worlds", "wrong", "crashes"), worlds),
    "storms": Measure(("storms", "storms_wrong"), storms),
}

if __name__ == "__main__":
    run("products", __doc__, PARTS)
