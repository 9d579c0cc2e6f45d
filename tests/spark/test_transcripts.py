"""Window transcripts through the whole of Weft: fed with stated watermarks, panes read from the stream.

`WEFT_TRANSCRIPTS=FILE` runs those of another file too, in the form of Apache Beam's.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.unit.windows.transcript import MismatchError, check, read, window_of
from weft.testing import Play, play

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OWN = Path(__file__).parent.parent / "unit" / "windows" / "transcripts.yaml"
CHOSEN = 4
"""Every one of them runs against the model and the operator; a few go all the way here."""


def transcripts() -> list[Any]:
    found = [written for written in read(OWN) if "error" not in written][:CHOSEN]
    if "WEFT_TRANSCRIPTS" in os.environ:
        found += [
            written
            for written in read(Path(os.environ["WEFT_TRANSCRIPTS"]))
            if not str(written.get("window_fn", "")).startswith("Custom")
        ]
    return [pytest.param(written, id=written["name"]) for written in found]


def project(written: dict[str, Any]) -> dict[str, Any]:
    return {
        "app_name": "transcript",
        "processing": {"parallelism": 1},
        "watermarks": {"delay_seconds": 1e9},  # none is derived: the transcript states them
        "streams": {
            "events": {
                "source": {"mock": {}},
                "schema": {"value": "long", "at": "timestamp"},
                "event_time": "at",
            }
        },
        "pipelines": {
            "windows": {
                "from": "events",
                "window": window_of(written).to_dict(),
                "aggregate": {"numbers": "collect_list(value)"},
                "to": "panes",
            }
        },
    }


def ms(moment: datetime | None) -> int:
    assert moment is not None
    return (moment - EPOCH) // timedelta(milliseconds=1)


def seen(run: Play, before: int, settled: dict[Any, int]) -> list[dict[str, Any]]:
    """The panes that came since, as transcripts print them."""
    panes = []
    for row in run.rows("panes")[before:]:
        window = row["window"]
        bounds = (ms(window["start"]), ms(window["end"]))
        speculative = window["kind"] == "early"
        if not speculative:
            settled[bounds] = settled.get(bounds, -1) + 1
        panes.append(
            {
                "window": [bounds[0], bounds[1] - 1],
                "values": sorted(row["numbers"] or []),
                "timestamp": ms(window["timestamp"]),
                "index": window["revision"],
                "nonspeculative_index": -1 if speculative else settled[bounds],
                "early": speculative,
                "late": window["kind"] == "late",
                "final": window["final"],
            }
        )
    return panes


@pytest.mark.parametrize("written", transcripts())
def test_panes_come_as_the_transcript_says(written: dict[str, Any], tmp_path: Path) -> None:
    panes: list[list[dict[str, Any]]] = []
    settled: dict[Any, int] = {}
    with play(project(written), storage=tmp_path) as run:
        for step in written["transcript"]:
            before = len(run.rows("panes"))
            if "input" in step:
                stamped = [(EPOCH + timedelta(milliseconds=at), at) for at in step["input"]]
                run.feed("events", [{"value": v, "at": at.isoformat()} for at, v in stamped])
            elif "watermark" in step:
                run.watermark("events", step["watermark"])
            else:
                continue
            panes.append(seen(run, before, settled))
    if "error" in written:
        with pytest.raises(MismatchError, match=written["error"]):
            check(written, panes)
    else:
        check(written, panes)
