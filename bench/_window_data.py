"""The events of the windows bench: the same for every side, with the answer that all must give."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

# Batches of a million events at full size, as a stream that keeps up with much would have them.
BATCHES = 4
SPAN_MS = 290_000
DISORDER_MS = 1_500
DELAY_MS = 2_000
START_MS = 1_700_000_000_000 // 60_000 * 60_000
BUCKETS = 8
SEED = 7
FAR_KEY = -1
"""The key of the one event that is far ahead and closes every window; no side counts its pane."""


@dataclass(frozen=True)
class Case:
    """Events of some keys, in windows of some lengths."""

    events: int
    keys: int
    size_ms: int
    slide_ms: int

    def to_dict(self) -> dict[str, int]:
        """This case for a process that runs one side."""
        return asdict(self)

    def __str__(self) -> str:
        shape = "tumbling" if self.size_ms == self.slide_ms else "sliding"
        return f"{shape:9} {self.keys:>9,} keys"


def events(case: Case) -> tuple[list[int], list[int], list[int]]:
    """Key, value and event time of each event, in order of arrival."""
    random = Random(SEED)
    step = SPAN_MS / case.events
    keys, values, at = [], [], []
    for number in range(case.events):
        keys.append(int(random.random() * case.keys))
        values.append(int(random.random() * 1000))
        at.append(START_MS + int(number * step) - int(random.random() * DISORDER_MS))
    return keys, values, at


def expected(case: Case) -> list[int]:
    """Number of panes, and the sums over all panes of their counts and of their sums."""
    keys, values, at = events(case)
    overlap = case.size_ms // case.slide_ms
    slices = {(time // case.slide_ms, key) for key, time in zip(keys, at, strict=True)}
    panes = {(number - step, key) for number, key in slices for step in range(overlap)}
    return [len(panes), overlap * len(keys), overlap * sum(values)]


def events_in(scratch: Path, case: Case) -> Path:
    """The folder of a case's events, written when first asked for; its windows do not matter to them."""
    folder = scratch / f"{case.events}-{case.keys}"
    write(case, folder)
    return folder


@dataclass(frozen=True)
class Part:
    """A file of events, which is a batch and a knot: its number, and the watermark that it has come to."""

    knot: int
    watermark: int
    rows: int


def parts_in(folder: Path) -> list[Part]:
    """The files of a folder, in order."""
    return [Part(**part) for part in json.loads((folder / "done.json").read_text())]


def write(case: Case, folder: Path, batches: int = BATCHES) -> None:
    """One Parquet file per batch in the form of a stream; kept if it is there."""
    done = folder / "done.json"
    if done.exists():
        return
    (folder / "in").mkdir(parents=True, exist_ok=True)
    keys, values, at = events(case)
    size = -(-case.events // batches)
    parts = []
    watermark: int | None = None
    for batch in range(batches):
        part = slice(batch * size, (batch + 1) * size)
        reached = max(max(at[part]), (watermark or 0) + DELAY_MS) - DELAY_MS
        _write_file(
            folder / "in" / f"{batch:03d}.parquet",
            batch,
            keys[part],
            values[part],
            at[part],
            watermark,
        )
        parts.append(Part(batch, reached, len(keys[part])))
        watermark = reached
    # One event far ahead, of a key of its own, closes every window on every side.
    far = START_MS + 100 * SPAN_MS
    _write_file(
        folder / "in" / f"{batches:03d}.parquet",
        batches,
        [FAR_KEY],
        [0],
        [far],
        watermark,
    )
    parts.append(Part(batches, far - DELAY_MS, 1))
    done.write_text(json.dumps([asdict(part) for part in parts]))


def _write_file(
    path: Path,
    knot: int,
    keys: list[int],
    values: list[int],
    at: list[int],
    watermark: int | None,
) -> None:
    rows = len(keys)
    stamp = pa.timestamp("us", tz="UTC")
    moments = pa.array([time * 1000 for time in at], pa.int64()).cast(stamp)
    mark = None if watermark is None else watermark * 1000
    fields: dict[str, pa.Array] = {
        "id": pa.array([f"e-0-{knot * 10_000_000 + n}" for n in range(rows)]),
        "knot": pa.array([knot] * rows, pa.int64()),
        "at": moments,
        "source": pa.array(["bench"] * rows),
        "partition": pa.array([0] * rows, pa.int32()),
        "event_time": moments,
        "watermark": pa.array([mark] * rows, pa.int64()).cast(stamp),
    }
    table = pa.table(
        {
            "key": pa.array(keys, pa.int64()),
            "value": pa.array(values, pa.int64()),
            "_weft": pa.StructArray.from_arrays(list(fields.values()), list(fields)),
        }
    )
    pq.write_table(table, path)
