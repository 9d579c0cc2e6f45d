"""Which series of a stream are watched is declared once, checked, and kept where a project travels."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.projects import CLEAN, shop
from weft.loading.deployed import checked
from weft.loading.load import load
from weft.loading.problem import ProjectError
from weft.project.watch import UNWATCHED, WatchSpec


def project(watch: Any, *, stream: str = "clean-orders") -> dict[str, Any]:
    made = shop(clean=CLEAN)
    made["streams"][stream] = {**made["streams"].get(stream, {}), "watch": watch}
    return made


@pytest.mark.parametrize("stream", ["orders", "clean-orders"])
def test_it_is_that_of_the_stream_and_travels_with_the_project(stream: str) -> None:
    found = load(project({"of": "total", "by": ["country"]}, stream=stream))
    assert found.stream(stream).watch == WatchSpec(("total",), ("country",))
    assert checked(found.to_dict()).stream(stream).watch == found.stream(stream).watch
    assert load(shop(clean=CLEAN)).stream("orders").watch == UNWATCHED


@pytest.mark.parametrize(
    ("watch", "code"),
    [
        ({"of": "totals"}, "project.column-missing"),
        ({"of": "email"}, "project.watch"),
        ({"of": "total", "by": "place"}, "project.column-missing"),
        ({"by": "country"}, "project.watch"),
        ({"of": 3}, "project.wrong-type"),
        ({"off": "total"}, "project.unknown-key"),
    ],
)
def test_what_cannot_be_watched_is_refused(watch: Any, code: str) -> None:
    with pytest.raises(ProjectError) as caught:
        load(project(watch))
    assert code in {one.code for one in caught.value.problems}
