"""What came of a record: the panes of windows further down that it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import codec
from weft.lineage.explained import RecordPlace
from weft.weaver.explaining import keys_of

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


async def reached(weaver: Weaver, place: RecordPlace, most: int) -> list[dict[str, Any]]:
    """The panes that a record is in, by the stream that has them."""
    project = weaver.catalog.project()
    found: list[dict[str, Any]] = []
    for spec in project.pipelines.values():
        if spec.window is None or place.stream not in spec.inputs:
            continue
        by = next(by for source, by in keys_of(spec) if source == place.stream)
        asked = {
            "record": {"stream": place.stream, "knot": place.knot, "id": place.id},
            "target": spec.to,
            "by": by,
            "limit": most,
        }
        panes = await weaver.ask("panes", asked, timeout=120)
        if panes["count"]:
            rows = [codec.to_form(codec.from_form(RecordPlace, one)) for one in panes["rows"]]
            found.append({"stream": spec.to, "count": panes["count"], "rows": rows})
    return found
