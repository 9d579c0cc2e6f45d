"""What notebooks call: a replay as a frame of rows, beside what is recorded.

rows, compared = weft.replay("revenue", knots=(3, 9), settings={"pipelines.revenue.window.size_ms": 60_000})
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from weft import codec
from weft.cli.terminal import DEFAULT_WEAVER
from weft.errors import WeftError
from weft.loading.load import load
from weft.replays.compared import RowComparison
from weft.runtime.client import WeaverClient

LOOK_S = 0.2
LONGEST_ANSWER_S = 300.0


class ReplayFailedError(WeftError):
    """A replay that did not come to its end."""

    code = "replay.failed"


class Replayed(NamedTuple):
    """What a replay has made, and how it differs from what is recorded."""

    rows: Any
    """A frame of pandas."""
    compared: RowComparison


def replay(
    stream: str,
    *,
    knots: tuple[int, int] | None = None,
    start: str | None = None,
    end: str | None = None,
    source: str | None = None,
    rules: Iterable[Mapping[str, Any]] = (),
    without: Iterable[str] = (),
    leave_out: Mapping[str, str] | None = None,
    add: Mapping[str, list[dict[str, Any]]] | None = None,
    settings: Mapping[str, Any] | None = None,
    functions: Mapping[str, str] | None = None,
    project: str | Path | None = None,
    speed: float | None = None,
    weaver: str = DEFAULT_WEAVER,
) -> Replayed:
    """Run recorded knots of a stream again, as `weft replay run` does, and return their rows with a comparison.

    `knots` are the first and the last; `start` and `end` are times in ISO 8601. What is different may be rules in
    addition, rules left out, records left out by a condition or added, settings of the project, versions of functions,
    or another project file. With a `speed`, knots begin as far apart as they did, so many times faster. Rows are read
    where the weaver's storage is, so it must be at hand.
    """
    client = WeaverClient(weaver, timeout=LONGEST_ANSWER_S)
    body = {
        "stream": stream,
        "after": None if knots is None else knots[0] - 1,
        "upto": None if knots is None else knots[1],
        "since": start,
        "until": end,
        "source": source,
        "speed": speed,
        "change": {
            "rules": list(rules),
            "without": list(without),
            "leave_out": dict(leave_out or {}),
            "add": dict(add or {}),
            "settings": dict(settings or {}),
            "functions": dict(functions or {}),
            "project": None if project is None else load(project).to_dict(),
        },
        "wait_s": 0,
    }
    try:
        found = client.call("POST", "/replays", body)
        while found["status"] in ("running", "waiting", "aborting"):
            time.sleep(LOOK_S)
            found = client.call("GET", f"/replays/{found['id']}")
    finally:
        client.close()
    if found["status"] != "done" or found["comparison"] is None:
        error = found["error"] or found["first"] or {}
        raise ReplayFailedError(
            f"{found['id']} is {found['status']}: {error.get('detail') or error.get('text')}",
            hint=f"See `weft replay show {found['id']}`.",
        )
    table = Path(found["workspace"]) / "streams" / stream
    return Replayed(
        _rows(table, found["after"]), codec.from_form(RowComparison, found["comparison"])
    )


def _rows(table: Path, after: int) -> Any:
    from deltalake import DeltaTable

    rows = DeltaTable(str(table)).to_pandas()
    return rows[[mark["knot"] > after for mark in rows["_weft"]]].reset_index(drop=True)
