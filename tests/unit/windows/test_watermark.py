"""Watermarks per partition: what moves them, what holds them back, what cannot."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from weft import codec
from weft.windows.watermark import Seen, Watermarks, advance, latest_ms, minimum_of

START = datetime(2026, 1, 1, tzinfo=UTC)
START_MS = int(START.timestamp() * 1000)


def move(
    before: Watermarks,
    observed: dict[str, int | None],
    *,
    after: float = 0,
    stated: int | None = None,
    delay: float = 2,
    ahead: dict[str, int] | None = None,
) -> Watermarks:
    """One knot, so many seconds after the start; event times are seconds after the start too."""
    future = ahead or {}
    return advance(
        before,
        {
            name: Seen(None if at is None else START_MS + at * 1000, future.get(name, 0))
            for name, at in observed.items()
        },
        now=START + timedelta(seconds=after),
        delay=timedelta(seconds=delay),
        idle=timedelta(seconds=30),
        stated=None if stated is None else START_MS + stated * 1000,
    )


def seconds(marks: Watermarks) -> float | None:
    value = marks.minimum()
    return None if value is None else (value - START_MS) / 1000


def test_the_slowest_partition_holds_the_watermark() -> None:
    marks = move(Watermarks(), {"0": 100, "1": 50})
    assert seconds(marks) == 48
    assert marks.held_by() == ["1"]


def test_the_watermark_never_goes_back() -> None:
    marks = move(Watermarks(), {"0": 100})
    assert seconds(move(marks, {"0": 20})) == 98


def test_a_partition_without_a_record_yet_holds_it_until_it_is_idle() -> None:
    marks = move(Watermarks(), {"0": 100, "1": None})
    assert marks.minimum() is None
    assert marks.held_by() == ["1"]
    assert seconds(move(marks, {"0": 110}, after=30)) == 108


def test_an_idle_partition_leaves() -> None:
    marks = move(Watermarks(), {"0": 100, "1": 50})
    marks = move(marks, {"0": 120}, after=29)
    assert seconds(marks) == 48
    marks = move(marks, {"0": 130}, after=30)
    assert seconds(marks) == 128
    assert marks.partitions["1"].state == "idle"


def test_a_partition_that_comes_back_neither_drags_nor_holds_until_it_has_caught_up() -> None:
    marks = move(move(Watermarks(), {"0": 100, "1": 50}), {"0": 130}, after=40)
    marks = move(marks, {"0": 140, "1": 60}, after=41)
    assert seconds(marks) == 138
    assert marks.partitions["1"].state == "behind"
    marks = move(marks, {"0": 200, "1": 150}, after=42)
    assert seconds(marks) == 148
    assert marks.held_by() == ["1"]


def test_with_every_partition_idle_the_records_that_came_are_not_waited_for() -> None:
    marks = move(Watermarks(), {"0": 100, "1": 50})
    assert seconds(move(marks, {}, after=60)) == 98


def test_events_from_the_future_are_counted_and_keep_their_partition_alive() -> None:
    marks = move(Watermarks(), {"0": 100, "1": 100})
    marks = move(marks, {"0": None, "1": 110}, ahead={"0": 2, "1": 1}, after=29)
    assert (seconds(marks), marks.ahead) == (98, 3)
    marks = move(marks, {"1": 120}, after=31)
    assert (seconds(marks), marks.ahead) == (98, 0)
    assert {name: part.ahead for name, part in marks.partitions.items()} == {"0": 2, "1": 1}


def test_the_future_begins_so_far_after_the_clock() -> None:
    assert latest_ms(START, timedelta(hours=1)) == START_MS + 3_600_000


def test_a_stated_watermark_replaces_the_derived_one() -> None:
    marks = move(Watermarks(), {"0": 10}, stated=50)
    assert seconds(marks) == 50
    marks = move(marks, {"0": 500})
    assert seconds(marks) == 50
    assert seconds(move(marks, {}, stated=40)) == 50
    assert seconds(move(marks, {}, stated=60)) == 60


def test_several_inputs_have_the_lowest_watermark_and_none_while_one_has_none() -> None:
    assert minimum_of([5, 3, 9]) == 3
    assert minimum_of([5, None]) is None
    assert minimum_of([]) is None


observations = st.lists(
    st.tuples(
        st.dictionaries(
            st.sampled_from("012"), st.one_of(st.none(), st.integers(-100, 5000)), max_size=3
        ),
        st.integers(0, 50),
    ),
    max_size=12,
)


@given(observations)
def test_it_survives_a_restart_at_any_knot_and_never_goes_back(
    knots: list[tuple[dict[str, int | None], int]],
) -> None:
    marks, restarted, after = Watermarks(), Watermarks(), 0
    for observed, later in knots:
        after += later
        before = marks.minimum()
        marks = move(marks, observed, after=after)
        written = json.loads(json.dumps(codec.to_form(restarted)))
        restarted = move(codec.from_form(Watermarks, written), observed, after=after)
        assert restarted == marks
        assert before is None or (marks.minimum() or 0) >= before
