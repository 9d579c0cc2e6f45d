"""The project that random histories are played on, in the versions that they deploy, and as the model has it."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench._model import ModelPipeline
from weft.loading.load import load
from weft.project.definition import Project
from weft.testing.playing import eager

BASE = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT: dict[str, Any] = {
    "app_name": "histories",
    "processing": {"parallelism": 2},
    "watermarks": {"delay_seconds": 0, "idle_seconds": 86400},
    "streams": {
        "orders": {
            "source": {"mock": {}},
            "schema": {"id": "long", "email": "string", "country": "string", "at": "timestamp"},
            "key": "id",
            "event_time": "at",
        }
    },
    "pipelines": {
        "clean": {"from": "orders", "steps": [{"filter": "id % 7 != 0"}], "to": "clean-orders"},
        "german": {
            "from": "clean-orders",
            "steps": [{"filter": "country = 'de'"}],
            "to": "german",
        },
        "odd": {
            "from": "german",
            "steps": [
                {"set": {"email": "lower(email)", "mark": "''"}},
                {"function": "mails:marked"},
            ],
            "to": "mails",
        },
        "counts": {
            "from": "clean-orders",
            "window": {"type": "tumbling", "size_ms": 10_000},
            "by": ["country"],
            "aggregate": {"orders": "count(*)"},
            "to": "counts",
        },
    },
}
PIPELINES = (
    ModelPipeline(None, "orders"),
    ModelPipeline("orders", "clean-orders", lambda row: row if row["id"] % 7 else None),
    ModelPipeline("clean-orders", "german", lambda r: r if r["country"] == "de" else None),
    ModelPipeline("german", "mails", lambda r: {**r, "email": r["email"].lower()}),
    ModelPipeline("clean-orders", "counts", None),
)
FUNCTION = """
from words import WORD


def marked(record: dict) -> dict:
    return {**record, "mark": WORD}
"""
WORDS = ("one", "two")
"""What a helper of the function says, in this version of it and that: nobody compares it, but replays do."""
READS = {p.stream: p.source for p in PIPELINES}


def versions(folder: Path) -> list[Project]:
    """The project, one whose Python says something else, one with a step more, one that makes its windows again.

    What becomes other than it was, nobody compares.
    """
    stepped, counted = copy.deepcopy(PROJECT), copy.deepcopy(PROJECT)
    stepped["pipelines"]["odd"]["steps"].append({"set": {"mark": "concat(mark, '!')"}})
    counted["pipelines"]["counts"]["aggregate"] = {"orders": "count(id)"}
    first, second = (folder / word for word in WORDS)
    forms = ((PROJECT, first), (PROJECT, second), (stepped, second), (counted, first))
    return [eager(load(form, folder=beside)) for form, beside in forms]


def write_functions(folder: Path) -> Path:
    """Write the Python of each version into a folder of its own; returns that of the first."""
    for word in WORDS:
        (folder / word).mkdir(parents=True)
        (folder / word / "mails.py").write_text(FUNCTION)
        (folder / word / "words.py").write_text(f"WORD = {word!r}\n")
    return folder / WORDS[0]
