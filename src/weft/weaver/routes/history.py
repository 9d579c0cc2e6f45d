"""History: what is kept of each stream, from when on it can be run again, and what goes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.operations.operation import Operation
from weft.operations.step import describe
from weft.weaver.history import StreamHistory, histories
from weft.weaver.routes import Answer, Body, Text, UsesWeaver, make_router

router = make_router("history")


@dataclass(frozen=True)
class TrimView:
    """What letting go of old rows, or putting files together, does or has done."""

    stream: str
    status: str
    """`planned`, `nothing`, or where its operation stands."""
    steps: tuple[str, ...] = ()
    id: str | None = None
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None


class Trimming(Body):
    """Who asks for it, and why."""

    author: Text | None = None
    note: Text | None = None


@router.get("/history", response_model=list[StreamHistory])
async def show(weaver: UsesWeaver, stream: str | None = None) -> Answer:
    """What is kept of every stream, or of one."""
    return Answer(await histories(weaver, stream))


@router.post("/history/{stream}/trim", response_model=TrimView)
async def trim(
    weaver: UsesWeaver, stream: str, body: Trimming | None = None, dry_run: bool = False
) -> Answer:
    """Let go of the rows that a stream need not keep; with `dry_run` only say which."""
    if dry_run:
        steps = await weaver.operations.plan("expire", {"stream": stream})
        status = "planned" if steps else "nothing"
        return Answer(TrimView(stream, status, tuple(describe(steps))))
    asked = body or Trimming()
    done = await weaver.retention.trim(stream, by=asked.author, because=asked.note)
    if done is None:
        return Answer(TrimView(stream, "nothing"))
    return Answer(_view(stream, done))


@router.post("/history/{stream}/compact", response_model=TrimView)
async def compact(
    weaver: UsesWeaver, stream: str, body: Trimming | None = None, dry_run: bool = False
) -> Answer:
    """Put the small files of a stream's old knots together; with `dry_run` only say which knots."""
    if dry_run:
        steps = await weaver.operations.plan("compact", {"stream": stream})
        status = "planned" if steps else "nothing"
        return Answer(TrimView(stream, status, tuple(describe(steps))))
    asked = body or Trimming()
    done = await weaver.retention.compact(stream, by=asked.author, because=asked.note)
    return Answer(TrimView(stream, "nothing") if done is None else _view(stream, done))


def _view(stream: str, done: Operation) -> TrimView:
    return TrimView(
        *(stream, str(done.status), tuple(done.describe()), done.id),
        result=done.result,
        error=done.error or done.reason,
    )
