"""The event time of what a pipeline reads and writes, and the clock that it goes by. Called by `check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.loading.document import Path
from weft.loading.problem import Problems
from weft.loading.read import DraftStream
from weft.project.definition import PipelineSpec, StreamSpec
from weft.project.timing import EVENT_TIME, Timing, after_steps
from weft.steps.function import FunctionVersion


def check_event_time(
    spec: PipelineSpec, inputs: Sequence[StreamSpec], path: Path, report: Problems
) -> None:
    """Note a window over a stream that has no time."""
    for stream in inputs:
        if stream.event_time is None:
            report.add(
                "project.no-event-time",
                (*path, "window"),
                f"Pipeline {spec.name!r} has a window, and stream {stream.name!r} no time.",
                f"Add `event_time:` to stream {stream.name!r}.",
                on_key=True,
            )


def timed(
    spec: PipelineSpec,
    inputs: Sequence[StreamSpec],
    path: Path,
    report: Problems,
    functions: Mapping[str, FunctionVersion],
) -> Timing:
    """The event time of what the steps make; an operator has its own, which its steps cannot change."""
    column = EVENT_TIME if spec.join is not None else inputs[0].event_time
    if len({stream.event_time for stream in inputs}) > 1:
        column = EVENT_TIME
    timing = after_steps(spec.steps, column, functions)
    if timing.clock == "own" and spec.dedupe is not None:
        report.add(
            "project.event-time-changed",
            (*path, "steps"),
            f"The steps of pipeline {spec.name!r} change the event time {timing.column!r} of "
            "records whose `dedupe` goes by it.",
            "Put these steps into a pipeline of their own, before this one or after it.",
            on_key=True,
        )
    return timing


def check_clock(
    declared: DraftStream,
    stream: StreamSpec,
    writer: PipelineSpec,
    report: Problems,
    *,
    is_other: bool,
) -> None:
    """What a stream that a pipeline writes may say of its time."""
    if is_other and writer.stateful:
        report.add(
            "project.event-time-changed",
            (*declared.path, "event_time"),
            f"Pipeline {writer.name!r} gives stream {stream.name!r} its event time, "
            f"{stream.event_time}, and it cannot be another.",
            "Let another pipeline read this stream, and declare the event time of its output.",
        )
    if declared.watermarks is None:
        return
    if not is_other and stream.clock != "own":
        report.add(
            "project.watermarks-unused",
            (*declared.path, "watermarks"),
            f"The watermark of stream {stream.name!r} is that of what pipeline {writer.name!r} "
            "reads.",
            "Say `watermarks:` of the source streams; this one may be left out.",
        )
    elif declared.watermarks.ahead == "dead":
        report.add(
            "project.ahead",
            (*declared.path, "watermarks", "ahead"),
            f"Records of stream {stream.name!r} were read before, and cannot be dead for their "
            "time now.",
            "Say `ahead: hold`, and filter them with a step if they are not wanted.",
        )
