"""The settings of a project file that are numbers and words alone: how batches are cut, how time goes on.
Called by `read`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.loading.cursor import Cursor
from weft.project.definition import Keyframes, Processing, WatermarkSpec

KEYFRAMES = ("every", "budget_mb")
MOST_SECONDS = 1e12
"""31,000 years: an event time with as much added or taken away is still a timestamp."""


def read_processing(cursor: Cursor) -> Processing:
    """How batches are cut, as `processing` says."""
    parts = cursor.mapping("`processing`", tuple(Processing.__dataclass_fields__)) or {}
    found: dict[str, Any] = {}
    for name, most in (("parallelism", 10_000), ("queue_size", 1_000_000_000)):
        if name in parts:
            found[name] = parts[name].whole(f"`{name}`", least=1, most=most)
    if "checkpoint_interval" in parts:
        interval = parts["checkpoint_interval"]
        found["checkpoint_interval"] = interval.number("`checkpoint_interval`", most=MOST_SECONDS)
    if "deadline_seconds" in parts:
        deadline = parts["deadline_seconds"]
        found["deadline_seconds"] = deadline.number(
            "`deadline_seconds`", least=1, most=MOST_SECONDS
        )
    if "state" in parts:
        found["state"] = parts["state"].choice("`state`", ("rocksdb", "memory"))
    if "keyframes" in parts:
        keys = parts["keyframes"].mapping("`keyframes`", KEYFRAMES) or {}
        frames = {name: one.whole(f"`{name}`", least=1, most=10**9) for name, one in keys.items()}
        found["keyframes"] = Keyframes(
            **_said({name: frames[name] for name in frames if name in KEYFRAMES})
        )
    return Processing(**_said(found))


def read_watermarks(cursor: Cursor, default: WatermarkSpec) -> WatermarkSpec:
    """How watermarks follow event times, as `watermarks` says; what it leaves out is as in `default`."""
    parts = cursor.mapping("`watermarks`", tuple(WatermarkSpec.__dataclass_fields__)) or {}
    found: dict[str, Any] = {}
    for name in ("delay_seconds", "idle_seconds", "max_ahead_seconds"):
        if name in parts:
            found[name] = parts[name].number(f"`{name}`", most=MOST_SECONDS)
        else:
            found[name] = getattr(default, name)
    found["ahead"] = default.ahead
    if "ahead" in parts:
        found["ahead"] = parts["ahead"].choice("`ahead`", ("hold", "dead"))
    return WatermarkSpec(**_said(found))


def _said(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value is not None}
