"""How often a pipeline looks for something to do."""

from __future__ import annotations

from weft.runtime.query import pace


def test_sources_keep_their_pace_and_pipelines_follow_closely() -> None:
    assert pace(5.0, follows=False) == 5.0
    assert pace(5.0, follows=True) == 0.1
    assert pace(0.0, follows=True) == 0.0
