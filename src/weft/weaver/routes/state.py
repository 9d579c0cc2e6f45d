"""State: what windowed pipelines keep, now or as of an earlier knot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query

from weft import codec
from weft.weaver.routes import Answer, KnotNumber, UsesWeaver, make_router
from weft.weaver.weaver import Weaver

router = make_router("state")

Limit = Annotated[int, Query(ge=1, le=10_000)]


@dataclass(frozen=True)
class WindowEntry:
    """An open window of one key: its bounds, and what it holds so far."""

    key: Any
    start: str | None
    end: str | None
    records: int | None
    values: Mapping[str, Any] | None


@dataclass(frozen=True)
class StatePage:
    """A page of what a pipeline keeps; `next` is where the next one begins."""

    pipeline: str
    knot: int
    entries: tuple[WindowEntry, ...]
    next: str | None


@dataclass(frozen=True)
class OpenWindow(WindowEntry):
    """An open window, and whose it is."""

    pipeline: str


@dataclass(frozen=True)
class OpenWindows:
    """The windows that are open."""

    windows: tuple[OpenWindow, ...]


@router.get("/windows", response_model=OpenWindows)
async def list_windows(
    weaver: UsesWeaver,
    pipeline: str | None = None,
    prefix: str = "",
    after: str | None = None,
    limit: Limit = 100,
) -> Answer:
    """The windows that are open, of one pipeline or of all: key, bounds, records so far."""
    names = [pipeline] if pipeline is not None else weaver.stateful_pipelines()
    found: list[OpenWindow] = []
    for name in names:
        page = await _page(weaver, name, None, prefix, after, limit)
        found += [OpenWindow(**vars(entry), pipeline=name) for entry in page.entries]
    return Answer(OpenWindows(tuple(found)))


@router.get("/state", response_model=StatePage)
async def scan(
    weaver: UsesWeaver,
    pipeline: str,
    prefix: str = "",
    knot: KnotNumber | None = None,
    after: str | None = None,
    limit: Limit = 100,
) -> Answer:
    """What a pipeline keeps for keys that begin with `prefix`, with paging; `knot` looks back."""
    return Answer(await _page(weaver, pipeline, knot, prefix, after, limit))


async def _page(
    weaver: Weaver, pipeline: str, knot: int | None, prefix: str, after: str | None, limit: int
) -> StatePage:
    place = weaver.state_of(pipeline, knot)
    asked = {**codec.to_form(place), "prefix": prefix, "after": after, "limit": limit}
    page = await weaver.ask("state", asked, timeout=60)
    return codec.from_form(StatePage, {"pipeline": pipeline, "knot": place.knot, **page})
