"""Transcripts: inputs, watermarks and the panes that must come, as one YAML document each.

The form is that of Apache Beam's trigger transcripts: windows are printed inclusive, times are
whole units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.unit.windows.model import Knot, Model, Pane, Row
from weft.windows.window import WindowSpec

STAMPS = {"OUTPUT_AT_EOW": "end", "OUTPUT_AT_EARLIEST": "earliest", "OUTPUT_AT_LATEST": "latest"}


class MismatchError(AssertionError):
    """What came is not what the transcript expects."""


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The transcripts of a file."""
    yield from (document for document in yaml.safe_load_all(path.read_text()) if document)


def window_of(written: Mapping[str, Any]) -> WindowSpec:
    """The window that a transcript declares: ours under `window`, or Beam's window and trigger
    functions.
    """
    if "window" in written:
        return WindowSpec.from_dict(written["window"])
    function = written.get("window_fn", written.get("windowfn", "GlobalWindows()"))
    name, _, inner = function.partition("(")
    lengths = [int(number) for number in re.findall(r"\d+", inner)]
    shapes = {
        "FixedWindows": {"type": "tumbling", "size_ms": lengths[0] if lengths else 0},
        "SlidingWindows": {
            "type": "sliding",
            **dict(zip(("size_ms", "slide_ms"), lengths, strict=False)),
        },
        "Sessions": {"type": "session", "gap_ms": lengths[0] if lengths else 0},
        "GlobalWindows": {"type": "global"},
    }
    spec: dict[str, Any] = dict(shapes[name])
    trigger = _trigger(written.get("trigger_fn", "Default"))
    if trigger:
        spec["trigger"] = trigger
    spec["allowed_lateness_ms"] = written.get("allowed_lateness", 0)
    spec["timestamp"] = STAMPS[written.get("timestamp_combiner", "OUTPUT_AT_EOW")]
    spec["accumulate"] = written.get("accumulation_mode", "accumulating") == "accumulating"
    return WindowSpec.from_dict(spec)


def _trigger(function: str) -> dict[str, Any]:
    plain = re.fullmatch(r"(?:Repeatedly\()?AfterCount\((\d+)\)\)?", function)
    if plain:
        return {"count": int(plain[1])}
    trigger: dict[str, Any] = {}
    for name in ("early", "late"):
        found = re.search(rf"{name}=AfterCount\((\d+)\)", function)
        if found:
            trigger[name] = {"count": int(found[1])}
    return trigger


def knots_of(written: Mapping[str, Any]) -> list[Knot]:
    """The knots of a transcript: one for each input and for each watermark."""
    knots = []
    for step in written["transcript"]:
        if "input" in step:
            knots.append(Knot([Row(at=at, value=at) for at in step["input"]]))
        elif "watermark" in step:
            knots.append(Knot([], step["watermark"]))
    return knots


def seen(pane: Pane) -> dict[str, Any]:
    """A pane as transcripts print it."""
    return {
        "window": [pane.start, pane.end - 1],
        "values": sorted(pane.values),
        "timestamp": pane.timestamp,
        "index": pane.revision,
        "nonspeculative_index": pane.settled,
        "early": pane.kind == "early",
        "late": pane.kind == "late",
        "final": pane.final,
    }


def check(written: Mapping[str, Any], panes: list[list[dict[str, Any]]]) -> None:
    """Compare the panes of each knot with what the transcript expects; raise where they differ."""
    left: list[dict[str, Any]] = []
    knots = iter(panes)
    for step in written["transcript"]:
        if "expect" in step:
            for expected in step["expect"]:
                found = [p for p in left if all(p[k] == v for k, v in expected.items() if k in p)]
                if not found:
                    raise MismatchError(f"Unmatched output: {expected} in {left}")
                left.remove(found[0])
            continue
        if left:
            raise MismatchError(f"Unexpected output: {left} before {step}")
        if "state" not in step:
            left = list(next(knots))
    if left:
        raise MismatchError(f"Unexpected output: {left}")


def run(written: Mapping[str, Any]) -> Model:
    """Run a transcript through the model and compare; the model is left as the transcript ends."""
    model = Model(window_of(written))
    panes, _ = model.run(knots_of(written))
    check(written, [[seen(pane) for pane in knot] for knot in panes])
    return model
