"""What came of a record further down: the panes of windows that it is in, the documents and results that it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import codec
from weft.lineage.explained import RecordPlace
from weft.project.definition import PipelineSpec, Project
from weft.queries.traced import traced
from weft.weaver.explaining import WALK_S, keys_of

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


async def reached(weaver: Weaver, place: RecordPlace, most: int) -> list[dict[str, Any]]:
    """What has been made of a record, by the stream that has it."""
    project = weaver.catalog.project()
    found: list[dict[str, Any]] = []
    for spec in project.pipelines.values():
        if place.stream not in spec.inputs:
            continue
        if spec.window is not None:
            came = await _panes(weaver, place, spec, most)
        elif spec.is_current:
            came = await _results(weaver, place, spec, project, most)
        else:
            continue
        if came is not None and came["count"]:
            rows = [codec.to_form(codec.from_form(RecordPlace, one)) for one in came["rows"]]
            found.append({"stream": spec.to, "count": came["count"], "rows": rows})
    return found


async def _panes(weaver: Weaver, place: RecordPlace, spec: PipelineSpec, most: int) -> Any:
    by = next(by for source, by in keys_of(spec) if source == place.stream)
    asked = {"record": _form(place), "target": spec.to, "by": by, "limit": most}
    return await weaver.ask("panes", asked, timeout=120)


async def _results(
    weaver: Weaver, place: RecordPlace, spec: PipelineSpec, project: Project, most: int
) -> Any:
    """What the knot wrote that took the record; None where it wrote nothing, or none has taken it yet."""
    taken = next(weaver.knots.uses(place.stream, place.knot, by=spec.to), None)
    knot = None if taken is None else weaver.knots.find(spec.to, taken)
    written = None if knot is None else knot.outputs.get(spec.to)
    if knot is None or written is None or not written.rows:
        return None
    asked = {
        "record": _form(place),
        "target": spec.to,
        "knot": knot.number,
        "traced": codec.to_form(traced(spec, project)),
        "upto": dict(knot.offsets.inputs),
        "limit": most,
    }
    return await weaver.ask("results", asked, timeout=WALK_S)


def _form(place: RecordPlace) -> dict[str, Any]:
    return {"stream": place.stream, "knot": place.knot, "id": place.id}
