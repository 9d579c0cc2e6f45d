"""Panes that are told again: which streams have them, and who may not read them.

A window that accumulates tells all of its records again with each pane after the first. Whoever adds those panes up
counts records twice, so an operator reads only panes that are told once: final ones, or those that hold what is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.errors import WeftError
from weft.loading.problem import Problems
from weft.loading.read import Draft
from weft.project.definition import PipelineSpec
from weft.steps.step import Filter, Step
from weft.windows.window import WindowSpec


def check_revised(draft: Draft, report: Problems) -> None:
    """Note the windows, joins and deduplications that would count a revised pane twice."""
    writers = {spec.to: spec for spec in draft.pipelines.values()}
    streams = _Streams(draft, writers)
    for spec in draft.pipelines.values():
        inputs = () if not spec.stateful or _reads_final(spec) else spec.inputs
        for number, stream in enumerate(inputs):
            origin = streams.revised_by(stream, frozenset())
            if origin is None:
                continue
            report.add(
                "project.revised-panes",
                (*draft.paths[spec.name], "from", number),
                f"Pipeline {spec.name!r} would count panes of {origin!r} again whenever they are revised.",
                f"Say `trigger: {{final: true}}` or `accumulate: false` in the window of {origin!r}, "
                "or keep only the last panes with `filter: window.final`.",
            )


@dataclass(frozen=True)
class _Streams:
    draft: Draft
    writers: Mapping[str, PipelineSpec]

    def revised_by(self, stream: str, seen: frozenset[str]) -> str | None:
        """The pipeline whose panes in this stream are told again, or None."""
        if stream in seen:
            return None
        spec = self.writers.get(stream)
        if spec is None:
            copied = self._copied(stream)
            return None if copied is None else self.revised_by(copied, seen | {stream})
        if spec.window is not None:
            is_settled = spec.join is not None and _keeps_final(spec.steps)
            return spec.name if _revises(spec.window) and not is_settled else None
        if _keeps_final(spec.steps):
            return None
        found = (self.revised_by(one, seen | {stream}) for one in spec.inputs)
        return next((origin for origin in found if origin is not None), None)

    def _copied(self, stream: str) -> str | None:
        """The stream whose records a rule copies into this one."""
        declared = self.draft.streams.get(stream)
        if declared is None or declared.source is None or declared.source.kind != "rule":
            return None
        return declared.source.options.get("of")


def _revises(written: Mapping[str, object]) -> bool:
    try:
        window = WindowSpec.from_dict(written)
    except WeftError:
        return False  # what is wrong with it is in the report
    trigger = window.trigger
    if not window.accumulate or trigger.final:
        return False
    return bool(window.allowed_lateness_ms or trigger.early or trigger.plain)


def _reads_final(spec: PipelineSpec) -> bool:
    """Whether its own steps, which come before a window and after everything else, leave it final panes alone."""
    return spec.join is None and spec.dedupe is None and _keeps_final(spec.steps)


def _keeps_final(steps: Sequence[Step]) -> bool:
    """Whether steps leave one pane of each window. Other conditions may do so too, and are not seen through."""
    conditions = [step.condition for step in steps if isinstance(step, Filter)]
    plain = [condition.replace("`", "").strip().lower() for condition in conditions]
    return any(condition in ("window.final", "window.final = true") for condition in plain)
