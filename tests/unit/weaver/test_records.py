"""Values that are kept as they were opened: never older than what is stored, never one that somebody may change."""

from __future__ import annotations

import pytest

from weft.anomalies.detector import Detector
from weft.weaver.knots import Head
from weft.weaver.store import Write, key
from weft.weaver.store.memory import MemoryStore
from weft.weaver.store.records import RecordCorruptError, Records, put


def test_a_value_is_opened_once_while_its_bytes_are_the_same() -> None:
    records = Records(MemoryStore())
    records.store.apply([put("line", "head", value=Head(1, 1))])
    first = records.get(Head, "line", "head")
    assert records.get(Head, "line", "head") is first
    records.store.apply([put("line", "head", value=Head(2, 2))])
    assert records.get(Head, "line", "head") == Head(2, 2)


def test_bytes_that_were_changed_from_outside_are_still_noticed() -> None:
    records = Records(MemoryStore())
    records.store.apply([put("line", "head", value=Head(1, 1))])
    assert records.get(Head, "line", "head") == Head(1, 1)
    name = key("line", "head")
    value = records.store.get(name)
    assert value is not None
    records.store.apply([Write(name, value[:-2] + b"?" + value[-1:])])
    with pytest.raises(RecordCorruptError):
        records.get(Head, "line", "head")


def test_a_value_that_can_change_is_a_new_one_for_each_who_asks() -> None:
    records = Records(MemoryStore())
    records.store.apply([put("series", "orders", value=Detector())])
    records.get(Detector, "series", "orders").seen = 7
    assert records.get(Detector, "series", "orders").seen == 0
