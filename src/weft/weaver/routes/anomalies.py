"""Anomalies: knots whose rate, batch time, lag or shares are unusual, and what people say of them."""

from __future__ import annotations

from weft.weaver.routes import Answer, Count, UsesWeaver, make_router
from weft.weaver.watching import AnomalyRecord

router = make_router("anomalies")


@router.get("/anomalies", response_model=list[AnomalyRecord])
async def list_anomalies(
    weaver: UsesWeaver, stream: str | None = None, limit: Count = 100
) -> Answer:
    """What was unusual, newest first."""
    if stream is not None:
        weaver.catalog.stream(stream)
    return Answer(weaver.watching.all(stream=stream, limit=limit))


@router.post("/anomalies/{id:text}/accept", response_model=AnomalyRecord)
async def accept(weaver: UsesWeaver, id: str) -> Answer:
    """Say that something was not an anomaly: what deviates about as much is not told again."""
    return Answer(weaver.watching.accept(id))
