"""The identity of the weaver's store: its history, named once, and a generation for each time it is opened."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from weft.clock import Clock, iso
from weft.lineage.identity import Identity
from weft.weaver.store.records import Records, put

KEY = ("store", "identity")


@dataclass(frozen=True)
class StoreRecord:
    """What a store knows of itself: the history that it keeps, and every opening of it so far."""

    history: str
    generations: tuple[str, ...]
    created: str
    life: str

    @property
    def identity(self) -> Identity:
        """The history in the generation that was opened last."""
        return Identity(self.history, self.generations[-1], self.life)


def open_generation(records: Records, clock: Clock) -> StoreRecord:
    """Begin a new generation of a store; one that is new gets its name now."""
    known = records.find(StoreRecord, *KEY)
    if known is None:
        history = str(uuid.uuid4())
        known = StoreRecord(history, (), iso(clock.now()), life=history)
    opened = replace(known, generations=(*known.generations, str(uuid.uuid4())))
    records.store.apply([put(*KEY, value=opened)])
    return opened
