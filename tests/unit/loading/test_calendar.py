"""The calendar in a project file: days and periods by name, everything wrong in it found."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.projects import shop
from weft.loading.load import load
from weft.loading.problem import ProjectError
from weft.project.calendar import MOST_PERIODS


def with_calendar(calendar: Any) -> dict[str, Any]:
    return {**shop(), "processing": {"scaling": {"calendar": calendar}}}


def test_one_text_and_a_list_are_taken_as_they_are_written() -> None:
    said = {"sale": "2026-11-27/2026-11-30", "match": ["2026-06-11T19:00Z/2026-06-11T22:00+02:00"]}
    taken = load(with_calendar(said)).processing.scaling.calendar
    assert taken == {"sale": ("2026-11-27/2026-11-30",), "match": tuple(said["match"])}
    assert load(with_calendar({})).processing.scaling.calendar == {}


@pytest.mark.parametrize(
    "wrong",
    [
        "2026-12-25",
        ["2026-12-25"],
        {"sale": None},
        {"sale": []},
        {"sale": [20261225]},
        {"sale": {"from": "2026-12-25"}},
        {"sale": ["2026-12-25"] * (MOST_PERIODS + 1)},
        {"sale": "christmas"},
        {"sale": "2026-13-01"},
        {"sale": "2026-02-30"},
        {"sale": "2026-12-25T10:00"},
        {"sale": "2026-12-26/2026-12-24"},
        {"sale": "2026-12-26T10:00/2026-12-26T10:00"},
        {"sale": "2026-12-24/2026-12-25/2026-12-26"},
        {"sale": "/2026-12-25"},
        {"sale": "2026-12-25/"},
        {"sale": "9999-12-31"},
        {"sale": "0001-01-01T00:00+23:00/0001-01-02"},
    ],
)
def test_what_is_no_day_and_no_period_is_refused(wrong: Any) -> None:
    with pytest.raises(ProjectError):
        load(with_calendar(wrong))


def test_every_wrong_one_of_a_list_is_told() -> None:
    with pytest.raises(ProjectError) as refused:
        load(with_calendar({"sale": ["soon", "2026-12-25", "later"], "match": "never"}))
    assert len(refused.value.problems) == 3
