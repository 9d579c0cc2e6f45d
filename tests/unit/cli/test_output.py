"""Tables at a terminal of 80 columns: a line a row, numbers whole, and what is cut says so."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from tests.unit.cli.forms import make_knot
from weft.cli.log import render_log
from weft.cli.output import Printer, duration
from weft.cli.rows import render_rows
from weft.lineage.knot import Status


def shown(render: Any, width: int = 80) -> list[str]:
    text = io.StringIO()
    render(Printer(Console(file=text, width=width, force_terminal=True, color_system=None)))
    return text.getvalue().splitlines()


def table(rows: Sequence[Sequence[Any]], **said: Any) -> list[str]:
    return shown(lambda output: output.table(["NAME", "TEXT", "ROWS"], rows, empty="-", **said))


def test_a_row_is_a_line_and_a_long_cell_ends_in_an_ellipsis() -> None:
    lines = table([["a" * 60, "b" * 60, 1_234_567], ["short", "größe", 1]])
    assert len(lines) == 4 and all(len(line) <= 80 for line in lines)
    assert lines[3].startswith("Cut to fit: NAME, TEXT.")
    assert lines[1].endswith("1234567") and lines[1].count("…") == 2
    assert "größe" in lines[2] and "…" not in lines[2]


def test_columns_that_matter_less_give_way_first() -> None:
    lines = table([["a" * 60, "b" * 60, 1]], gives=("TEXT",))
    assert "a" * 60 in lines[1] and lines[2].startswith("Cut to fit: TEXT.")


def test_what_fits_is_not_cut() -> None:
    assert len(table([["a" * 30, "b" * 30, 7]])) == 2
    assert table([["a" * 30, "b" * 30, 7]])[1].split() == ["a" * 30, "b" * 30, "7"]


def test_optional_columns_are_there_when_they_say_something() -> None:
    assert table([["a", "", 0]], optional=("TEXT", "ROWS"))[0].split() == ["NAME"]
    assert table([["a", "", 3]], optional=("TEXT", "ROWS"))[0].split() == ["NAME", "ROWS"]


def test_the_log_of_a_stream_fits_with_a_line_a_knot() -> None:
    knots = [make_knot(number, status=Status.ROLLED_BACK) for number in range(1003, 1000, -1)]
    lines = shown(lambda output: render_log(output, "clean-orders", knots, graph=True))
    assert all(len(line) <= 80 for line in lines)
    for number, line in zip(range(1003, 1000, -1), lines[1:4], strict=True):
        assert str(number) in line and "01-01 00:00:00" in line and "ROLLED_BACK" in line


def test_the_window_of_a_pane_is_told_in_words() -> None:
    window = {
        "start": "2026-01-01T00:00:00Z",
        "end": "2026-01-01T00:00:10Z",
        "kind": "late",
        "revision": 2,
        "final": False,
    }
    lines = shown(lambda output: render_rows(output, [{"window": window, "country": "de", "n": 4}]))
    assert "2026-01-01 00:00:00 to 2026-01-01 00:00:10 late (2)" in lines[1]


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, "-"),
        (0, "0.0 s"),
        (3_400, "3.4 s"),
        (60_000, "1 min"),
        (4_800_000, "1 h 20 min"),
        (167_927_893_800, "1,943 d 14 h"),
        (-61_000, "-1 min 1 s"),
    ],
)
def test_a_length_of_time_is_told_in_its_two_largest_units(
    milliseconds: int | None, text: str
) -> None:
    assert duration(milliseconds) == text


def test_what_a_terminal_would_obey_is_written_out() -> None:
    lines = table([["\x1b[31mred", "two\nlines\t[bold]", 1]])
    assert len(lines) == 2
    assert lines[1].split() == ["\\x1b[31mred", "two\\nlines\\t[bold]", "1"]
    assert shown(lambda output: output.line("a\x9bb\x07\nc")) == ["a\\x9bb\\x07", "c"]


def test_rows_have_all_their_digits_and_an_empty_text_is_not_none() -> None:
    rows = [{"a": 1234567.891, "b": "", "c": None}]
    assert shown(lambda output: render_rows(output, rows))[1].split() == ["1234567.891", '""', "-"]
