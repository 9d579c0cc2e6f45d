"""Which shape a pipeline has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.runtime.ingest import Ingest
from weft.runtime.operator import Operator
from weft.runtime.relay import Relay
from weft.runtime.shape import Shape

if TYPE_CHECKING:
    from weft.runtime.pipeline import RunningPipeline


def choose(run: RunningPipeline) -> Shape:
    """The shape of a pipeline, by its definition."""
    if run.spec is None:
        return Ingest(run)
    if run.spec.stateful:
        return Operator(run)
    return Relay(run)
