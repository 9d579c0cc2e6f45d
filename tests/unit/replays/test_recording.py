"""Recorded knots as files: they are read as they were written, and rows are compared whatever their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import WeftError
from weft.lineage.knot import RuleRef
from weft.replays.recording import (
    MOST_EXAMPLES,
    FedKnot,
    KnotExport,
    RecordedKnot,
    compare_lines,
    input_file,
    read_lines,
    read_recording,
    rows_file,
    write_recording,
)
from weft.steps.step import steps_from
from weft.weaving.rule import Rule

MADE = KnotExport("clean-orders", "clean", False, (RecordedKnot(3, (FedKnot("orders", 3, 7),), 2),))


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_recording(tmp_path, MADE, {"app_name": "shop"})
    assert read_recording(tmp_path) == MADE


def test_a_folder_without_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeftError) as caught:
        read_recording(tmp_path)
    assert caught.value.code == "recording.unusable" and caught.value.hint


def test_files_are_in_the_order_of_their_knots(tmp_path: Path) -> None:
    assert input_file(tmp_path, "orders", 9).name < input_file(tmp_path, "orders", 10).name
    assert rows_file(tmp_path, 99).name < rows_file(tmp_path, 100).name
    assert read_lines(rows_file(tmp_path, 99)) == []


def test_rows_are_the_same_in_any_order_of_rows_and_columns() -> None:
    then = ['{"a":1,"b":2}', '{"a":3,"b":null}']
    assert compare_lines(3, then, ['{"b":null,"a":3}', '{"b":2,"a":1}']) == ()


def test_rows_that_differ_are_shown_as_often_as_they_do() -> None:
    [found] = compare_lines(3, ['{"a":1}', '{"a":1}', '{"a":2}'], ['{"a":1}', '{"a":4}'])
    assert (found.knot, found.missing, found.extra) == (3, ({"a": 1}, {"a": 2}), ({"a": 4},))


def test_of_many_rows_some_are_shown() -> None:
    [found] = compare_lines(None, [], [f'{{"a":{n}}}' for n in range(100)])
    assert len(found.extra) == MOST_EXAMPLES


def test_a_knot_has_its_rules_in_the_version_and_share_that_they_had() -> None:
    aside = Rule("cheap", "clean-orders", steps_from([{"filter": "total < 5"}]), output="low")
    moved = aside.changed(output=None)
    refs = (RuleRef("cheap", moved.version, 40.0),)
    knot = RecordedKnot(4, (), 0, refs)
    made = KnotExport("clean-orders", "clean", False, (knot,), rules=(aside, moved))
    assert made.rules_of(knot) == [moved.changed(percent=40.0)]
    with pytest.raises(WeftError) as caught:
        KnotExport("clean-orders", "clean", False, (knot,), rules=(aside,)).rules_of(knot)
    assert caught.value.code == "recording.unusable" and caught.value.ids["rule"] == "cheap"
