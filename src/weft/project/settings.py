"""What can be set of a project and its streams: how batches are cut, how time goes on, how long rows are kept.

Declared once; `read` reads it, the reference and the schema for editors are made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from weft.declared.key import Key
from weft.declared.limit import Limit, Mistake, choice, number, whole
from weft.declared.read import nested
from weft.project.calendar import CALENDAR
from weft.project.compaction import CompactionSpec
from weft.project.provenance import LEAST_SHARE

MOST_SECONDS = 1e12
"""31,000 years: an event time with as much added or taken away is still a timestamp."""
_SECONDS = number(0, MOST_SECONDS)


def _placement(value: Any) -> Mistake | None:
    if not isinstance(value, Mapping):
        return "wrong-type"
    fits = all(
        isinstance(name, str)
        and isinstance(labels, list | tuple)
        and labels
        and all(isinstance(label, str) and label for label in labels)
        for name, labels in value.items()
    )
    return None if fits else "unknown-value"


class _LabelsByPipeline(Limit):
    def take(self, value: Any) -> Any:
        return {name: tuple(labels) for name, labels in value.items()}


PLACEMENT = _LabelsByPipeline(
    "a mapping from pipelines to labels such as {revenue: [large]}",
    _placement,
    {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
)


@dataclass(frozen=True)
class Keyframes:
    """Which states are kept beyond Spark's own retention: every so many knots, within a budget."""

    every: Annotated[int, Key(whole(1, 10**9), "The state of every so many knots is kept.", 50)] = (
        100
    )
    budget_mb: Annotated[
        int, Key(whole(1, 10**9), "How much all that is kept may take, in megabytes.", 4096)
    ] = 1024


@dataclass(frozen=True)
class ScalingSpec:
    """What is asked of executors: how long a record may wait, and what that may cost."""

    objective_seconds: Annotated[
        float, Key(number(1, MOST_SECONDS), "No record should wait longer.", 30)
    ] = 60.0
    interval_seconds: Annotated[
        int, Key(whole(5, 600), "From one decision to the next, in steps of five seconds.", 30)
    ] = 60
    hours_a_day: Annotated[
        float | None,
        Key(number(0.01, 1e7), "Executor-hours that a day may cost.", 96, unsaid="any number"),
    ] = None
    actions_a_day: Annotated[
        float, Key(number(1, 1e5), "How often the number should change at most.", 12)
    ] = 20.0
    calendar: Annotated[
        Mapping[str, tuple[str, ...]],
        Key(
            CALENDAR,
            "Days and periods at which the load is another, by name; forecasts look at it.",
            {"holiday": ["2026-12-25", "2027-01-01"], "sale": "2026-11-27/2026-11-30"},
            unsaid="forecasts know the time of day and of the week",
        ),
    ] = field(default_factory=dict)


@dataclass(frozen=True)
class Processing:
    """How batches are cut and where state lives."""

    parallelism: Annotated[int, Key(whole(1, 10_000), "Partitions that work goes into.", 8)] = 2
    queue_size: Annotated[
        int,
        Key(
            whole(1, 10**9),
            "Records that a batch admits at most; products and queries, ten times as many.",
            50_000,
        ),
    ] = 10_000
    checkpoint_interval: Annotated[
        float,
        Key(
            number(0, MOST_SECONDS),
            "Seconds from knot to knot of a source; pipelines follow within 0.1 s.",
            0.5,
        ),
    ] = 1.0
    state: Annotated[
        Literal["rocksdb", "memory"],
        Key(choice("rocksdb", "memory"), "Where windows, joins and `dedupe` keep state.", "memory"),
    ] = "rocksdb"
    keyframes: Annotated[
        Keyframes,
        Key(
            nested(Keyframes, "a mapping such as {every: 100}"),
            "Which states are kept for rollbacks, beyond Spark's own.",
            {"every": 50, "budget_mb": 4096},
            unsaid="see below",
        ),
    ] = Keyframes()
    deadline_seconds: Annotated[
        float,
        Key(number(1, MOST_SECONDS), "A batch that takes longer is cancelled, and runs again.", 60),
    ] = 600.0
    placement: Annotated[
        Mapping[str, tuple[str, ...]],
        Key(
            PLACEMENT,
            "Which pipelines run only where: the labels that their worker must have.",
            {"orders": ["large"]},
            unsaid="any worker runs any",
        ),
    ] = field(default_factory=dict)
    scaling: Annotated[
        ScalingSpec,
        Key(
            nested(ScalingSpec, "a mapping such as {objective_seconds: 60}"),
            "What is asked of executors: see [how to keep up](../how-to/keep-up.md).",
            {"objective_seconds": 30},
            unsaid="see below",
        ),
    ] = ScalingSpec()
    compaction: Annotated[
        CompactionSpec,
        Key(
            nested(CompactionSpec, "a mapping such as {every: 100}"),
            "When small files are put together: see [how to keep history](../how-to/keep-history.md).",
            {"every": 500, "apart": 200},
            unsaid="see below",
        ),
    ] = field(default_factory=CompactionSpec)


@dataclass(frozen=True)
class WatermarkSpec:
    """How the watermark of a source partition follows its event times."""

    delay_seconds: Annotated[
        float, Key(_SECONDS, "How far it stays behind the latest event time.", 2.0)
    ] = 0.0
    idle_seconds: Annotated[
        float, Key(_SECONDS, "A partition that is silent for longer holds time back no more.", 10)
    ] = 30.0
    max_ahead_seconds: Annotated[
        float,
        Key(
            _SECONDS, "How far an event time may be ahead of the clock and move the watermark.", 60
        ),
    ] = 3600.0
    ahead: Annotated[
        Literal["hold", "dead"],
        Key(
            choice("hold", "dead"),
            "What becomes of records further ahead: they wait for their time, or are dead letters.",
            "dead",
        ),
    ] = "hold"


RAW = ".raw"
"""What the name of a stream ends in that holds the records of another one as its source gave them."""


@dataclass(frozen=True)
class HistorySpec:
    """How much of a stream's rows is kept, and how many knots without rows; what somebody still needs always is."""

    keep_days: Annotated[
        float | None,
        Key(
            number(0, 1e6),
            "Rows of knots that are older go.",
            30,
            unsaid="rows of any age are kept",
        ),
    ] = None
    keep_mb: Annotated[
        int | None,
        Key(
            whole(0, 10**12),
            "The oldest rows go while all of them take more megabytes.",
            10_240,
            unsaid="rows of any size are kept",
        ),
    ] = None
    keep_knots: Annotated[
        int,
        Key(
            whole(1, 10**12),
            "So many of the newest knots are not forgotten when their rows are gone; older ones are.",
            1000,
        ),
    ] = 10_000
    raw: Annotated[
        float | None,
        Key(
            number(LEAST_SHARE, 1),
            "The share of its records that is kept as the source gave it too, in `<stream>.raw`; 1 is all of them. "
            "Of streams with a source: [raw records](../how-to/keep-history.md#raw-records).",
            1,
            unsaid="none",
        ),
    ] = None

    @property
    def is_limited(self) -> bool:
        """Whether anything ever goes."""
        return self != HistorySpec(raw=self.raw)
