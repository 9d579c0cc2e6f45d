"""Which shape a pipeline has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.runtime.dedupe import Dedupe
from weft.runtime.ingest import Ingest
from weft.runtime.join import Join
from weft.runtime.product import Assemble
from weft.runtime.relay import Relay
from weft.runtime.shape import StreamedShape
from weft.runtime.updating import Updating
from weft.runtime.window import Window

if TYPE_CHECKING:
    from weft.runtime.pipeline import RunningPipeline


def choose(run: RunningPipeline) -> StreamedShape:
    """The shape of a pipeline, by its definition."""
    if run.spec is None:
        return Ingest(run)
    if run.spec.product is not None:
        return Assemble(run)
    if run.spec.updating:
        return Updating(run)
    if run.spec.join is not None:
        return Join(run)
    if run.spec.window is not None:
        return Window(run)
    if run.spec.dedupe is not None:
        return Dedupe(run)
    return Relay(run)
