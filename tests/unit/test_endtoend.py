"""What the end-to-end bench holds its sides to."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from bench import _endtoend_data as data
from bench._window_data import Case


def panes_of(case: Case, folder: Path) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]:
    """Counts and sums per window and key, one event after the other, from the files."""
    counts: Counter[tuple[int, int]] = Counter()
    sums: Counter[tuple[int, int]] = Counter()
    for path in sorted(folder.iterdir())[:-1]:  # the last one only closes windows
        for line in path.read_text().splitlines():
            event = json.loads(line)
            at_ms = round(datetime.fromisoformat(event["at"]).timestamp() * 1000)
            newest = at_ms - at_ms % case.slide_ms
            for start in range(newest, at_ms - case.size_ms, -case.slide_ms):
                counts[start, event["key"]] += 1
                sums[start, event["key"]] += event["value"]
    return counts, sums


def checksum(rows: list[tuple[int, int, int, int]]) -> int:
    return data.checksum(*np.array(rows, np.int64).T)


@pytest.mark.parametrize("size_ms", [10_000, 60_000])
def test_what_sides_must_give_is_what_a_plain_loop_over_the_files_gives(
    tmp_path: Path, size_ms: int
) -> None:
    case = Case(events=2_000, keys=50, size_ms=size_ms, slide_ms=10_000)
    data.write(case, tmp_path / "events")
    counts, sums = panes_of(case, tmp_path / "events")
    rows = [(*pane, n, sums[pane]) for pane, n in counts.items()]
    assert data.expected(case) == (len(rows), checksum(rows))


def test_a_checksum_is_of_panes_in_any_order_and_of_each_of_their_values() -> None:
    rows = [(0, 1, 2, 3), (10, 1, 2, 3), (10, 2, 2, 3)]
    same = checksum(rows)
    assert checksum(rows[::-1]) == same
    for column in range(4):
        other = [list(row) for row in rows]
        other[0][column] += 1
        assert checksum([(a, b, c, d) for a, b, c, d in other]) != same
    assert checksum([*rows, rows[0]]) != same
