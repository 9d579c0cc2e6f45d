"""What a changed definition means for a pipeline that has run: kept, made again, or refused. Pure.

Where state or recorded rows were made by the old definition and would be read by the new one, nothing may be dropped
or mixed without a word. `docs/reference/changing-a-project.md` has this as a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from weft.project.definition import PipelineSpec, Project, StreamSpec

Verdict = Literal["kept", "recomputed", "refused"]

POSITIONS: Mapping[str, tuple[str, ...]] = {
    "files": ("path", "format"),
    "kafka": ("topic",),
    "debezium": ("topic", "transactions"),
    "postgres": ("table", "slot"),
    "python": ("class",),
}
"""The options of a source that say what its positions mean."""

LATENESS = "allowed_lateness_ms"


@dataclass(frozen=True)
class Change:
    """One thing that is different, and what becomes of the pipeline by it."""

    pipeline: str
    verdict: Verdict
    what: str


def compare_source(old: StreamSpec, new: StreamSpec) -> Iterator[Change]:
    """What a changed source stream means for its ingest pipeline."""
    if old.source and new.source:
        named = POSITIONS.get(new.source.kind, ())
        moved = [n for n in named if old.source.options.get(n) != new.source.options.get(n)]
        if old.source.kind != new.source.kind:
            what = f"its source becomes {new.source.kind}, and the position in {old.source.kind} means nothing there"
            yield Change(new.name, "refused", what)
        elif moved:
            what = f"`{moved[0]}` of its source changes, and the position in the old one means nothing there"
            yield Change(new.name, "refused", what)
    yield from _columns(new.name, old, new)
    yield from _key(new.name, old, new)
    if old.event_time != new.event_time:
        what = f"its event time is {_column(new)} from the next record on; its watermark does not go back"
        yield Change(new.name, "kept", what)


def compare_pipeline(name: str, old: Project, new: Project) -> Iterator[Change]:
    """What a changed pipeline means for what it has kept and written."""
    before, after = old.pipeline(name), new.pipeline(name)
    if before.to != after.to:
        yield Change(name, "recomputed", f"it writes to {after.to} in place of {before.to}")
    else:
        yield from _columns(name, old.stream(before.to), new.stream(after.to))
        yield from _key(name, old.stream(before.to), new.stream(after.to))
        yield from _time(name, old.stream(before.to), new.stream(after.to))
    if before.inputs != after.inputs:
        inputs = ", ".join(after.inputs)
        yield Change(
            name, "recomputed", f"it reads {inputs} in place of {', '.join(before.inputs)}"
        )
    if before.stateful or after.stateful:
        yield from _operator(before, after)
        yield from _kept_rows(name, old, new)
        if old.processing.state != new.processing.state:
            yield Change(name, "recomputed", f"its state is kept in {new.processing.state}")


def _operator(before: PipelineSpec, after: PipelineSpec) -> Iterator[Change]:
    name = after.name
    if _shape(before) != _shape(after):
        yield Change(name, "recomputed", f"it becomes a {_shape(after)} and was a {_shape(before)}")
        return
    for part in _differing(before.window, after.window):
        verdict: Verdict = (
            "kept" if part == LATENESS and _is_shorter(before, after) else "recomputed"
        )
        yield Change(name, verdict, f"`{part}` of its window changes")
    if before.by != after.by:
        yield Change(name, "recomputed", f"it is grouped by {', '.join(after.by) or 'nothing'}")
    for part in _differing(before.join, after.join):
        yield Change(name, "recomputed", f"`{part}` of its join changes")
    for part in _differing(before.dedupe, after.dedupe):
        verdict = "kept" if part == "within_seconds" else "recomputed"
        yield Change(name, verdict, f"`{part}` of its dedupe changes")
    if before.product != after.product:
        yield Change(name, "recomputed", "its documents are put together in another way")
    for part in _differing(before.group, after.group):
        yield Change(name, "recomputed", f"`{part}` of its group changes")
    for part in _differing(before.top, after.top):
        yield Change(name, "recomputed", f"`{part}` of its top changes")
    if (before.reducer is None) != (after.reducer is None):
        yield Change(name, "recomputed", "its reducer comes or goes")
    for column, text in after.aggregate.items():
        known = before.aggregate.get(column)
        if known is None:
            what = f"aggregate {column} is new: it is null in windows that are open now"
            yield Change(name, "kept", what)
        elif known != text:
            yield Change(name, "recomputed", f"aggregate {column} becomes {text}")


def _is_shorter(before: PipelineSpec, after: PipelineSpec) -> bool:
    """Whether windows are let go of sooner than before: of those that are gone, none could take late records again."""
    old, new = ((spec.window or {}).get(LATENESS) or 0 for spec in (before, after))
    return bool(new < old)


def _kept_rows(name: str, old: Project, new: Project) -> Iterator[Change]:
    """Windows that keep whole records cannot take up records of other columns."""
    before, after = old.pipeline(name), new.pipeline(name)
    keeps = after.window is not None and (after.join is not None or after.reducer is not None)
    for stream in after.inputs if keeps and before.inputs == after.inputs else ():
        if old.schema_of(stream) != new.schema_of(stream):
            what = f"the columns of {stream} change, and its open windows hold whole records"
            yield Change(name, "recomputed", what)


def _columns(name: str, old: StreamSpec, new: StreamSpec) -> Iterator[Change]:
    """A table's column keeps its type; columns may come and go."""
    for field in new.schema:
        known = old.schema.find(field.name)
        if known is not None and known.type != field.type:
            what = (
                f"column {field.name} of {new.name} is {known.type} and cannot become {field.type}"
            )
            yield Change(name, "refused", what)


def _key(name: str, old: StreamSpec, new: StreamSpec) -> Iterator[Change]:
    """Whoever has rows of a changing stream knows them by their key."""
    if old.changing and new.changing and old.key != new.key:
        what = f"the rows of {new.name} are replaced by {', '.join(old.key)}, and cannot be by {', '.join(new.key)}"
        yield Change(name, "refused", what)


def _time(name: str, old: StreamSpec, new: StreamSpec) -> Iterator[Change]:
    """A clock that goes by other times cannot go on from where the old one stood."""
    if "own" in (old.clock, new.clock) and (old.clock, old.event_time) != (
        new.clock,
        new.event_time,
    ):
        yield Change(name, "recomputed", f"the event time of {new.name} is made anew")


def _column(stream: StreamSpec) -> str:
    return stream.event_time or "gone"


def _shape(spec: PipelineSpec) -> str:
    if spec.product is not None:
        return "product"
    shapes = {
        "group": spec.group,
        "top": spec.top,
        "join of changing streams" if spec.updating else "join": spec.join,
        "window": spec.window,
    }
    for shape, said in shapes.items():
        if said is not None:
            return shape
    return "dedupe" if spec.dedupe is not None else "relay"


def _differing(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> list[str]:
    before, after = old or {}, new or {}
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
