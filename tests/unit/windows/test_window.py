"""Windows as authors write them: what is taken, what is refused and with which code."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given

from tests.unit.windows.strategy import windows
from weft.windows.window import WindowError, WindowSpec


def make_window(**written: Any) -> WindowSpec:
    return WindowSpec.from_dict({"type": "tumbling", "size_ms": 10, **written})


@given(spec=windows())
def test_a_window_is_written_and_read_back(spec: WindowSpec) -> None:
    assert WindowSpec.from_dict(spec.to_dict()) == spec


def test_a_tumbling_window_holds_its_start_and_not_its_end() -> None:
    window = make_window()
    assert list(window.assign(0)) == [(0, 10)]
    assert list(window.assign(9)) == [(0, 10)]
    assert list(window.assign(10)) == [(10, 20)]
    assert list(window.assign(-1)) == [(-10, 0)]


def test_an_offset_moves_the_bounds_either_way() -> None:
    assert list(make_window(offset_ms=3).assign(2)) == [(-7, 3)]
    assert list(make_window(offset_ms=-3).assign(7)) == [(7, 17)]


def test_sliding_windows_of_a_record_come_earliest_first() -> None:
    window = WindowSpec.from_dict({"type": "sliding", "size_ms": 25, "slide_ms": 10})
    assert list(window.assign(20)) == [(0, 25), (10, 35), (20, 45)]
    assert list(window.assign(26)) == [(10, 35), (20, 45)]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ({"type": "hopping"}, "window.type"),
        ({"type": "tumbling"}, "window.length"),
        ({"type": "tumbling", "size_ms": 10, "slide_ms": 5}, "window.length"),
        ({"type": "sliding", "size_ms": 10}, "window.length"),
        ({"type": "sliding", "size_ms": 10, "slide_ms": 20}, "window.length"),
        ({"type": "sliding", "size_ms": 86_400_000, "slide_ms": 1}, "window.length"),
        ({"type": "session", "size_ms": 10}, "window.length"),
        ({"type": "tumbling", "size_ms": 0}, "window.number"),
        ({"type": "tumbling", "size_ms": "10"}, "window.number"),
        ({"type": "tumbling", "size_ms": True}, "window.number"),
        ({"type": "tumbling", "size_ms": 10, "allowed_lateness_ms": -1}, "window.number"),
        ({"type": "tumbling", "size_ms": 10, "offset_ms": 10}, "window.offset"),
        ({"type": "session", "gap_ms": 10, "offset_ms": 1}, "window.offset"),
        ({"type": "tumbling", "size_ms": 10, "accumulate": "yes"}, "window.flag"),
        ({"type": "tumbling", "size_ms": 10, "timestamp": "middle"}, "window.timestamp"),
        ({"type": "tumbling", "size_ms": 10, "lateness": 5}, "window.key"),
        ({"type": "tumbling", "size_ms": 10, "trigger": 5}, "window.trigger"),
        ({"type": "tumbling", "size_ms": 10, "trigger": {"early": {}}}, "window.trigger"),
        ({"type": "tumbling", "size_ms": 10, "trigger": {"early": {"count": 0}}}, "window.number"),
        ({"type": "tumbling", "size_ms": 10, "trigger": {"soon": 1}}, "window.key"),
        (
            {"type": "tumbling", "size_ms": 10, "trigger": {"final": True, "late": {"count": 1}}},
            "window.trigger",
        ),
        (
            {"type": "tumbling", "size_ms": 10, "trigger": {"count": 1, "final": True}},
            "window.trigger",
        ),
        ({"type": "global"}, "window.trigger"),
        ({"type": "global", "trigger": {"final": True}}, "window.trigger"),
        ({"type": "tumbling", "size_ms": 10, "ttl_ms": 5}, "window.ttl"),
        ({"type": "global", "trigger": {"count": 1}, "timestamp": "end"}, "window.timestamp"),
        ({"type": "global", "trigger": {"count": 1}, "allowed_lateness_ms": 5}, "window.lateness"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(written: dict[str, Any], code: str) -> None:
    with pytest.raises(WindowError) as refused:
        WindowSpec.from_dict(written)
    assert refused.value.code == code
    assert refused.value.domain == "user"
    assert refused.value.hint


def test_a_misspelled_key_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(WindowError) as refused:
        make_window(alowed_lateness_ms=5)
    assert "allowed_lateness_ms" in str(refused.value.hint)


def test_an_error_survives_pickling() -> None:
    with pytest.raises(WindowError) as refused:
        make_window(size_ms=-1)
    again = pickle.loads(pickle.dumps(refused.value))
    assert again.to_dict() == refused.value.to_dict()
