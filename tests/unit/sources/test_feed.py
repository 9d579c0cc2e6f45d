"""The feed of the test kit: what it writes down beside the records."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from weft.sources.feed import Feed


def test_segments_are_numbered_on_also_by_a_second_feed(tmp_path: Path) -> None:
    assert Feed(tmp_path).append([{"a": 1}]) == 1
    assert Feed(tmp_path).append([{"a": 2}]) == 2


def test_a_segment_without_records_may_state_a_watermark(tmp_path: Path) -> None:
    feed = Feed(tmp_path)
    at = datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
    assert feed.watermark(feed.append(watermark=at)) == at
    assert feed.watermark(feed.append(watermark=1000)) == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert feed.watermark(feed.append([{"a": 1}])) is None
