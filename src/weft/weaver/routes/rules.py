"""Rules: changes to streams while they run."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from weft.weaver.attach import RuleRequest
from weft.weaver.routes import Count, KnotNumber, UsesWeaver

router = APIRouter(tags=["rules"])


class Attach(BaseModel):
    """A rule to attach."""

    model_config = ConfigDict(extra="forbid")

    stream: str = Field(description="the stream whose rows it changes")
    steps: list[Any] = Field(description="steps as in the project file")
    id: str | None = Field(default=None, description="an id of your choice")
    output: str | None = Field(default=None, description="a side stream for the changed rows")
    percent: float = Field(default=100.0, description="share of the keys, stable by key hash")
    start: KnotNumber | Literal["latest"] = Field(
        default="latest", description="knot to start after"
    )
    author: str | None = None
    note: str | None = None
    guards: list[str] = Field(default=[], description="limits such as `dead_share < 0.01`")
    on_breach: str = Field(default="retire", description="`retire` or `rollback`")


@router.get("/rules")
async def list_rules(
    weaver: UsesWeaver, stream: str | None = None, active: bool = False
) -> list[dict[str, Any]]:
    """Rules in the order they were attached."""
    return [rule.to_dict() for rule in weaver.rules.all(stream=stream, active=active)]


@router.get("/rules/{id}")
async def show(weaver: UsesWeaver, id: str) -> dict[str, Any]:
    """One rule with its history."""
    return weaver.rules.get(id).to_dict()


@router.post("/rules", status_code=201)
async def attach(
    weaver: UsesWeaver, body: Attach, response: Response, dry_run: bool = False, knots: Count = 10
) -> dict[str, Any]:
    """Attach a rule: checked first, in force from the next knot of its stream on.

    With `dry_run` it is tried on the last `knots` recorded knots, and nothing changes.
    """
    request = RuleRequest(**body.model_dump())
    if dry_run:
        response.status_code = 200
        return await weaver.plan_attach(request, knots=knots)
    return (await weaver.attach(request)).to_dict()


class Promote(BaseModel):
    """A new share of the keys, or the move into place."""

    model_config = ConfigDict(extra="forbid")

    percent: float | None = None
    in_place: bool = False


@router.post("/rules/{id}/promote")
async def promote(weaver: UsesWeaver, id: str, body: Promote) -> dict[str, Any]:
    """Change the share of the keys, or move the rule from its side stream into place."""
    return (await weaver.promote(id, percent=body.percent, in_place=body.in_place)).to_dict()


@router.post("/rules/{id}/retire")
async def retire(weaver: UsesWeaver, id: str) -> dict[str, Any]:
    """End a rule from the next knot on; what it has woven stays."""
    return weaver.retire(id).to_dict()
