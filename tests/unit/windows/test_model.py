"""What must hold of any window over any stream, on the model."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import assume, given, settings

from tests.unit.windows.model import Knot, Model
from tests.unit.windows.strategy import FOREVER, streams, windows
from weft.windows.window import WindowSpec

END = 10_000


@settings(max_examples=300, deadline=None)
@given(spec=windows(), knots=streams())
def test_every_row_is_in_a_pane_or_late(spec: WindowSpec, knots: list[Knot]) -> None:
    model = Model(spec)
    panes, late = model.run([*knots, Knot([], END)])
    told = {value for knot in panes for pane in knot for value in pane.values}
    missed = {late_row.row.value for knot in late for late_row in knot}
    fed = {row.value for knot in knots for row in knot.rows}
    assert told.isdisjoint(missed)
    if FOREVER in (spec.allowed_lateness_ms, spec.ttl_ms) or (
        spec.type == "global" and not spec.ttl_ms
    ):
        held = {value for state in model.windows.values() for w in state for value in w.values}
        assert told | held == fed
    else:
        assert told | missed == fed
        assert model.windows == {}


@settings(max_examples=200, deadline=None)
@given(spec=windows(), knots=streams())
def test_revisions_of_a_window_count_up_and_end_with_the_final_one(
    spec: WindowSpec, knots: list[Knot]
) -> None:
    # A key that was dropped and comes back is a new one.
    assume(not spec.ttl_ms)
    panes, _ = Model(spec).run([*knots, Knot([], END)])
    seen: dict[object, list[tuple[int, bool]]] = {}
    for knot in panes:
        for pane in knot:
            window = (pane.key, pane.start, pane.end)
            seen.setdefault(window, []).append((pane.revision, pane.final))
    for told in seen.values():
        assert [revision for revision, _ in told] == list(range(len(told)))
        assert not any(final for _, final in told[:-1])


@settings(max_examples=200, deadline=None)
@given(knots=streams())
def test_sessions_do_not_touch_each_other(knots: list[Knot]) -> None:
    model = Model(WindowSpec.from_dict({"type": "session", "gap_ms": 7, "allowed_lateness_ms": 30}))
    for knot in knots:
        model.tie(knot)
        for held in model.windows.values():
            spans = sorted((window.start, window.end) for window in held)
            assert all(a[1] < b[0] for a, b in pairwise(spans))
