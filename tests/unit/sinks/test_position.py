"""Where the slots of a topic stand: each file of a knot is sent once, however many slots there are at a time."""

from __future__ import annotations

import random
from typing import Any

from weft.sinks.position import Position, slots_of, spread

EMPTY = {"offset": -1, "text": ""}


def kept(position: Position) -> list[dict[str, Any]]:
    """The position as Kafka has it."""
    return [position.to_offset(slot) for slot in range(len(position.slots))]


def claimed(offsets: list[dict[str, Any]], slots: int) -> Position:
    """What the next worker reads and claims."""
    count = max(slots_of(offsets[0]), slots)
    offsets = [*offsets, *[EMPTY] * (count - len(offsets))]
    return Position.from_offsets(offsets, "h").claiming("c", count)


def test_any_number_of_slots_goes_on_where_any_other_stopped() -> None:
    dice = random.Random(3)
    for _ in range(300):
        offsets: list[dict[str, Any]] = [EMPTY]
        for knot in range(1, 6):
            files = dice.randrange(1, 9)
            sent: list[int] = []
            while True:
                position = claimed(offsets, dice.randrange(1, 5))
                left = position.left(knot, files)
                assert sorted([*sent, *left]) == list(range(files))
                if not left:
                    break
                for slot, places in enumerate(spread(dict.fromkeys(left, 1), len(position.slots))):
                    if places and dice.random() < 0.6:  # the others never got there
                        position = position.sending(slot, knot, places, files)
                        sent += places
                offsets = kept(position)
            assert position.whole_knot == knot
            assert position.left(knot - 1, 3) == []


def test_a_knot_of_which_files_are_missing_is_not_said_to_be_there() -> None:
    whole = claimed([EMPTY], 2).sending(0, 1, [0, 1], 2)
    half = whole.sending(1, 2, [1], 2)
    assert (half.knot, half.whole_knot, half.left(2, 2)) == (2, 1, [0])
    assert claimed([EMPTY], 2).sending(0, 1, [0], 2).whole_knot is None


def test_a_position_of_one_slot_alone_is_of_whole_knots() -> None:
    old = {"offset": 8, "text": '{"history": "h", "retracted": [[3, 4]]}'}
    position = claimed([old], 3)
    assert (position.whole_knot, position.left(7, 4), position.left(8, 2)) == (7, [], [0, 1])
    assert position.has_retracted(3, 4)
    assert len(position.slots) == 3


def test_what_another_history_sent_does_not_count_but_its_slots_are_claimed() -> None:
    old = Position("old", "c").claiming("c", 4).sending(2, 9, [0, 1], 2)
    position = claimed(kept(old), 1)
    assert position.knot is None
    assert len(position.slots) == 4


def test_nothing_follows_of_a_knot_that_was_taken_back_half_sent() -> None:
    half = claimed([EMPTY], 2).sending(1, 5, [1], 2)
    back = half.retracting(4, 6)
    assert (back.left(5, 2), back.has_retracted(5, 5), back.left(6, 1)) == ([], True, [0])
    again = back.restoring(5)
    assert (again.left(5, 2), again.has_retracted(5, 5), again.has_retracted(4, 4)) == (
        [],
        False,
        True,
    )


def test_what_kafka_keeps_beside_a_position_is_small() -> None:
    position = claimed([EMPTY], 2)
    for knot in range(10**8, 10**8 + 400, 4):
        position = position.retracting(knot, knot + 1)
    position = position.sending(0, 2 * 10**8, range(5_000), 5_001)
    assert len(position.to_offset(0)["text"]) < 4_096


def test_files_are_spread_by_their_size() -> None:
    assert spread({0: 10, 1: 90, 2: 30, 3: 50}, 2) == [[1], [0, 2, 3]]
    assert spread({4: 1}, 3) == [[4], [], []]
