"""How far a topic has come, slot by slot and file by file: what the Kafka sink keeps in Kafka itself.

Each slot has a position of its own, which moves in the transaction that holds its records. The unit is the file: a slot
says which files of its last knot it has sent, so that any number of slots can go on where another number stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

MOST_RETRACTED = 50
"""So many ranges of knots that were taken back are remembered; Kafka keeps 4,096 bytes beside a position."""
NOTHING = -1


@dataclass(frozen=True)
class SlotPosition:
    """The last knot of which a slot has sent files, and which of them: a bit for each, or None for the whole knot."""

    knot: int = NOTHING
    files: int | None = None
    of: int = 0
    """How many files the knot has; no number is said of a whole one."""


@dataclass(frozen=True)
class Position:
    """Where all slots of a sink stand, and the ranges of knots that were retracted from the topic.

    `history` names the life of the stream's table that is told of, and `claim` the hold of one worker on the topic.
    The first slot speaks for all: it says how many there are, and what was retracted.
    """

    history: str
    claim: str
    slots: tuple[SlotPosition, ...] = (SlotPosition(),)
    retracted: tuple[tuple[int, int], ...] = ()

    @property
    def knot(self) -> int | None:
        """The last knot of which something is in the topic."""
        last = max(slot.knot for slot in self.slots)
        return None if last == NOTHING else last

    @property
    def whole_knot(self) -> int | None:
        """The last knot that is known to be in the topic with all of its files."""
        last = self.knot
        if last is None or not self._left_of_last():
            return last
        earlier = max((slot.knot for slot in self.slots if slot.knot < last), default=NOTHING)
        return None if earlier == NOTHING else earlier

    def _left_of_last(self) -> bool:
        last = max(slot.knot for slot in self.slots)
        count = max(slot.of for slot in self.slots if slot.knot == last)
        return bool(self.left(last, count))

    def left(self, knot: int, count: int) -> list[int]:
        """The places of the files of a knot that are not in the topic; knots come in order."""
        last = self.knot
        if last is None or knot > last:
            return list(range(count))
        if knot < last:
            return []
        held = 0
        for slot in self.slots:
            if slot.knot == knot:
                if slot.files is None:
                    return []
                held |= slot.files
        return [place for place in range(count) if not held >> place & 1]

    def sending(self, slot: int, knot: int, places: Sequence[int], count: int) -> Position:
        """After a slot has sent these files of a knot."""
        before = self.slots[slot]
        held = before.files or 0 if before.knot == knot else 0
        files = held | sum(1 << place for place in places)
        if files == (1 << count) - 1:
            return self._with(slot, SlotPosition(knot))
        return self._with(slot, SlotPosition(knot, files, count))

    def has_retracted(self, first: int, last: int) -> bool:
        """Whether these knots were taken back already."""
        return any(low <= first and last <= high for low, high in self.retracted)

    def retracting(self, first: int, last: int) -> Position:
        """After these knots were taken back: no file of them is to be sent any longer."""
        inside = [one for one in self.retracted if first <= one[0] and one[1] <= last]
        kept = [one for one in self.retracted if one not in inside]
        ranges = (*kept, (first, last))[-MOST_RETRACTED:]
        return replace(self._settled(first, last), retracted=ranges)

    def restoring(self, knot: int) -> Position:
        """After one knot of those was delivered again, all of it."""
        ranges: list[tuple[int, int]] = []
        for low, high in self.retracted:
            parts = [(low, min(high, knot - 1)), (max(low, knot + 1), high)]
            ranges += [part for part in parts if part[0] <= part[1]]
        return replace(self._settled(knot, knot), retracted=tuple(dict.fromkeys(ranges)))

    def _settled(self, first: int, last: int) -> Position:
        """With nothing left of the last knot, if it is one of these."""
        knot = self.knot
        if knot is None or not first <= knot <= last:
            return self
        return self._with(0, SlotPosition(knot))

    def claiming(self, claim: str, slots: int) -> Position:
        """As it is for a new claim with so many slots at least; slots that were used once stay."""
        missing = [SlotPosition()] * (slots - len(self.slots))
        return replace(self, claim=claim, slots=(*self.slots, *missing))

    def _with(self, slot: int, position: SlotPosition) -> Position:
        return replace(self, slots=(*self.slots[:slot], position, *self.slots[slot + 1 :]))

    def to_offset(self, slot: int) -> dict[str, Any]:
        """The form in which Kafka keeps a slot's part of it; the number is one higher, as a next offset is."""
        one = self.slots[slot]
        kept: dict[str, Any] = {"history": self.history, "claim": self.claim}
        if one.files is not None:
            kept |= {"files": f"{one.files:x}", "of": one.of}
        if slot == 0:
            kept |= {"slots": len(self.slots), "retracted": self.retracted}
        return {"offset": one.knot + 1, "text": json.dumps(kept, separators=(",", ":"))}

    @staticmethod
    def from_offsets(offsets: Sequence[Mapping[str, Any]], history: str) -> Position:
        """The position that Kafka kept; what is of another history does not count."""
        slots: list[SlotPosition] = []
        retracted: tuple[tuple[int, int], ...] = ()
        for number, offset in enumerate(offsets):
            kept = _kept(offset, history)
            if kept is None:
                slots.append(SlotPosition())
                continue
            files = int(kept["files"], 16) if "files" in kept else None
            slots.append(SlotPosition(offset["offset"] - 1, files, kept.get("of", 0)))
            if number == 0:
                retracted = tuple((low, high) for low, high in kept.get("retracted") or ())
        return Position(history, "", tuple(slots), retracted)


def slots_of(first: Mapping[str, Any]) -> int:
    """How many slots were used, by the position of the first; in another history too, to shut out whoever uses them."""
    return int(json.loads(first["text"] or "{}").get("slots", 1)) if first["offset"] >= 0 else 1


def _kept(offset: Mapping[str, Any], history: str) -> dict[str, Any] | None:
    if offset["offset"] < 0:
        return None
    kept: dict[str, Any] = json.loads(offset["text"] or "{}")
    return kept if kept.get("history") == history else None


def spread(sizes: Mapping[int, int], slots: int) -> list[list[int]]:
    """Places of files, with their sizes, over at most so many slots: the largest first, each to whoever has least."""
    shares: list[list[int]] = [[] for _ in range(slots)]
    weights = [0] * slots
    for place in sorted(sizes, key=lambda place: (-sizes[place], place)):
        lightest = weights.index(min(weights))
        shares[lightest].append(place)
        weights[lightest] += sizes[place]
    return [sorted(share) for share in shares]
