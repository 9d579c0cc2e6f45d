"""Random windows and random streams for them, in sizes at which everything happens: ties, gaps,
late bridges.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.unit.windows.model import Knot, Row
from weft.windows.window import WindowSpec

KEYS = ("a", "b", "c", "d", "e")
FOREVER = 2**63 - 1


@st.composite
def windows(draw: st.DrawFn) -> WindowSpec:
    """Any window that can be declared, short enough for times of a few hundred."""
    kind = draw(st.sampled_from(["tumbling", "sliding", "session", "global"]))
    written: dict[str, Any] = {"type": kind}
    if kind == "tumbling":
        written["size_ms"] = draw(st.integers(1, 40))
    elif kind == "sliding":
        written["size_ms"] = draw(st.integers(2, 40))
        written["slide_ms"] = draw(st.integers(max(1, written["size_ms"] // 8), written["size_ms"]))
    elif kind == "session":
        written["gap_ms"] = draw(st.integers(1, 25))
    if kind in ("tumbling", "sliding"):
        step = written.get("slide_ms", written["size_ms"])
        written["offset_ms"] = draw(st.integers(1 - step, step - 1))
    pace = st.one_of(
        st.fixed_dictionaries({"count": st.integers(1, 4)}),
        st.fixed_dictionaries({"every_ms": st.one_of(st.integers(1, 30), st.just(FOREVER))}),
    )
    triggers: st.SearchStrategy[Any] = pace
    if kind == "global" and draw(st.booleans()):
        written["ttl_ms"] = draw(st.one_of(st.integers(1, 80), st.just(FOREVER)))
    if kind != "global":
        written["allowed_lateness_ms"] = draw(st.sampled_from([0, 0, 5, 20, 60, FOREVER]))
        by_phase = st.fixed_dictionaries(
            {},
            optional={"early": pace, "late": st.fixed_dictionaries({"count": st.integers(1, 3)})},
        )
        triggers = st.one_of(st.none(), by_phase, st.just({"final": True}), pace)
    trigger = draw(triggers)
    if trigger:
        written["trigger"] = trigger
    written["accumulate"] = draw(st.booleans())
    stamps = ["earliest", "latest"] if kind == "global" else ["end", "earliest", "latest"]
    written["timestamp"] = draw(st.sampled_from(stamps))
    return WindowSpec.from_dict(written)


@st.composite
def streams(draw: st.DrawFn, most_knots: int = 10, most_rows: int = 12) -> list[Knot]:
    """Knots whose event times wander ahead with disorder, and whose watermark follows now and
    then.
    """
    knots = []
    now = draw(st.integers(-100, 100))
    watermark: int | None = None
    value = 0
    for _ in range(draw(st.integers(1, most_knots))):
        rows = []
        for _ in range(draw(st.integers(0, most_rows))):
            at = now + draw(st.integers(-60, 25))
            rows.append(Row(at=at, value=value, key=draw(st.sampled_from(KEYS))))
            value += 1
        moved = draw(st.one_of(st.none(), st.integers(-40, 10)))
        if moved is not None:
            watermark = now + moved if watermark is None else max(watermark, now + moved)
        knots.append(Knot(rows, watermark))
        now += draw(st.integers(0, 40))
    return knots
