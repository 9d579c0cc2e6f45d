"""The records of the mock source: equal for equal seeds, of the declared types, at the set pace."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.project.definition import SourceSpec, StreamSpec
from weft.schema.schema import Schema
from weft.sources import shop
from weft.sources.generate import Generator, Recipe
from weft.sources.options import SourceError
from weft.sources.pace import Burst, Pace
from weft.sources.spark.mock import MockReader, check_recipe


def make_recipe(**options: Any) -> Recipe:
    defaults: dict[str, Any] = {"schema": shop.SCHEMA, "key": "user", "event_time": "at"}
    return Recipe(**{**defaults, **options})


def values(recipe: Recipe, first: int, count: int, *, partition: int = 0) -> list[bytes]:
    found: list[bytes] = Generator(recipe, partition).batch(first, count).column(0).to_pylist()
    return found


def test_records_do_not_depend_on_how_they_are_cut() -> None:
    recipe = make_recipe(seed=3, bad_share=0.2, disorder_ms=100, skew=2)
    whole = values(recipe, 0, 500)
    assert whole == [one for n in range(0, 500, 7) for one in values(recipe, n, min(7, 500 - n))]


def test_another_seed_or_partition_gives_other_records() -> None:
    recipe = make_recipe(seed=3, partitions=2)
    assert values(recipe, 0, 50) != values(make_recipe(seed=4, partitions=2), 0, 50)
    assert values(recipe, 0, 50) != values(recipe, 0, 50, partition=1)


def test_event_times_follow_the_pace_and_stay_within_the_disorder() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    recipe = make_recipe(pace=Pace(10, Burst(every_s=5, times=4, for_s=1)), disorder_ms=200)
    found = [json.loads(value) for value in values(recipe, 0, 200)]
    for number, record in enumerate(found):
        due = start + timedelta(seconds=recipe.pace.seconds_at(number))
        early = due - datetime.fromisoformat(record["at"])
        assert timedelta(milliseconds=-1) <= early <= timedelta(milliseconds=202)
    assert len({record["at"] for record in found}) > 150


def test_the_share_of_bad_records_is_about_what_was_asked_for() -> None:
    found = values(make_recipe(bad_share=0.1), 0, 5000)
    good = 0
    for value in found:
        try:
            good += json.loads(value).get("at") not in (None, "never")
        except (ValueError, AttributeError):
            continue
    assert 4350 < good < 4650


def test_a_high_skew_prefers_few_keys() -> None:
    even = [json.loads(v)["user"] for v in values(make_recipe(keys=100), 0, 2000)]
    uneven = [json.loads(v)["user"] for v in values(make_recipe(keys=100, skew=4), 0, 2000)]
    assert even.count("user-0") < 60 < 500 < uneven.count("user-0")


def test_every_type_has_values() -> None:
    columns = {
        "id": "long",
        "a": "int",
        "b": "double",
        "c": "boolean",
        "d": "date",
        "e": "array<string>",
        "f": "map<string,int>",
        "g": "struct<x:decimal(4,0),y:decimal(6,3),z:timestamp>",
        "h": "binary",
        "country": "string",
        "email": "string",
    }
    recipe = make_recipe(schema=Schema.of(columns), key=None, event_time=None)
    [record] = [json.loads(value) for value in values(recipe, 7, 1)]
    assert list(record) == list(columns)
    assert record["id"] == 7
    assert record["email"].endswith("@example.com")


@given(
    rate=st.floats(0.5, 1000),
    record=st.integers(0, 10_000),
    times=st.floats(0.1, 20),
    for_s=st.floats(0.5, 9),
)
def test_pace_and_its_inverse_agree(rate: float, record: int, times: float, for_s: float) -> None:
    for pace in (Pace(rate), Pace(rate, Burst(10, times, for_s))):
        assert pace.records_until(pace.seconds_at(record)) == pytest.approx(record, abs=1e-3)


def make_reader(**options: Any) -> MockReader:
    spec = {
        "name": "orders",
        "schema": shop.SCHEMA.to_json(),
        "key": "user",
        "event_time": "at",
        "options": options,
        "parallelism": 2,
    }
    return MockReader(spec, 10)


def test_a_batch_admits_no_more_than_it_may_and_ends_at_the_last_event() -> None:
    reader = make_reader(rate="max", events=25)
    limit = reader.getDefaultReadLimit()
    offsets = [reader.initialOffset()]
    for _ in range(4):
        offsets.append(reader.latestOffset(offsets[-1], limit))
    assert [offset["record"] for offset in offsets] == [0, 10, 20, 25, 25]
    slices = reader.partitions(offsets[0], offsets[1])
    assert [(one.partition, one.first, one.last) for one in slices] == [(0, 0, 5), (1, 0, 5)]
    assert reader.partitions(offsets[3], offsets[4]) == []


def test_a_record_is_not_admitted_before_it_is_due() -> None:
    reader = make_reader(rate=0.001)
    start = reader.initialOffset()
    assert reader.latestOffset(start, reader.getDefaultReadLimit()) == start


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("sed", 1),
        ("seed", -1),
        ("rate", "fast"),
        ("bad_share", 1.5),
        ("bursts", {"every_s": 10}),
        ("bursts", {"every_s": 10, "times": 2, "for_s": 20}),
        ("start", "yesterday"),
        ("partitions", 0),
        ("keys", True),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any) -> None:
    stream = StreamSpec("orders", shop.SCHEMA, SourceSpec("mock", {option: value}))
    with pytest.raises(SourceError) as caught:
        check_recipe(stream, partitions=2)
    assert caught.value.ids["option"] == option or value == {"every_s": 10}
    assert caught.value.hint
