"""Which streams have provenance beside them: what was declared of each, wherever it comes from. Called by `check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.loading.problem import Problems
from weft.loading.read import Draft
from weft.project.definition import StreamSpec
from weft.project.provenance import LAZY


def recorded(
    draft: Draft, streams: Mapping[str, StreamSpec], report: Problems
) -> dict[str, StreamSpec]:
    """The streams with the provenance that was declared of them.

    A stream that rules write has none of its own: its records are copies of those of another one, whose provenance
    says which rule took them.
    """
    found = dict(streams)
    for name, declared in draft.streams.items():
        if declared.provenance == LAZY:
            continue
        if declared.source is not None and declared.source.kind == "rule":
            report.add(
                "project.provenance",
                (*declared.path, "provenance"),
                f"Stream {name!r} is written by rules, and has no provenance of its own.",
                "Say `provenance` of the stream that the rules are attached to.",
            )
        elif name in found:
            found[name] = replace(found[name], provenance=declared.provenance)
    return found
