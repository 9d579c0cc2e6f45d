"""Rules: what changes streams while they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from weft.weaver import amend
from weft.weaver.attach import RuleRequest
from weft.weaver.routes import Answer, Body, Count, KnotNumber, Text, UsesWeaver, make_router
from weft.weaver.routes.rollbacks import RollbackPlan, plan_view
from weft.weaving.rule import Rule

router = make_router("rules")


class Attach(Body):
    """A rule to attach."""

    stream: str = Field(description="the stream whose rows it changes")
    steps: list[Any] = Field(description="steps as in the project file")
    id: str | None = Field(default=None, description="an id of your choice")
    output: str | None = Field(default=None, description="a side stream for the changed rows")
    percent: float = Field(default=100.0, description="share of the keys, stable by key hash")
    start: KnotNumber | Literal["latest"] = Field(
        default="latest", description="knot to start after"
    )
    author: Text | None = None
    note: Text | None = None
    guards: list[str] = Field(
        default=[], max_length=100, description="limits such as `dead_share < 0.01`"
    )
    on_breach: str = Field(default="retire", description="`retire` or `rollback`")


@dataclass(frozen=True)
class AttachPlan:
    """What a rule would do: tried on recorded rows, and the rollback that it would need."""

    rule: Rule
    start: int | str
    trial: Mapping[str, Any]
    rollback: RollbackPlan | None = None


@router.get("/rules", response_model=list[Rule])
async def list_rules(weaver: UsesWeaver, stream: str | None = None, active: bool = False) -> Answer:
    """Rules in the order they were attached."""
    return Answer(list(weaver.rules.all(stream=stream, active=active)))


@router.get("/rules/{id}", response_model=Rule)
async def show(weaver: UsesWeaver, id: str) -> Answer:
    """One rule with its history."""
    return Answer(weaver.rules.get(id))


@router.post(
    "/rules",
    status_code=201,
    response_model=Rule,
    responses={200: {"model": AttachPlan, "description": "With `dry_run`: what it would do."}},
)
async def attach(
    weaver: UsesWeaver, body: Attach, dry_run: bool = False, knots: Count = 10
) -> Answer:
    """Attach a rule: checked first, in force from the next knot of its stream on.

    With `dry_run` it is tried on the last `knots` recorded knots, and nothing changes.
    """
    request = RuleRequest(**body.model_dump())
    if not dry_run:
        return Answer(await amend.attach(weaver, request), status_code=201)
    plan = await amend.plan_attach(weaver, request, knots=knots)
    steps = plan.get("rollback")
    return Answer(
        AttachPlan(
            rule=plan["rule"],
            start=plan["start"],
            trial=plan["trial"],
            rollback=None if steps is None else plan_view(body.stream, int(body.start), steps),
        )
    )


class Promote(Body):
    """A new share of the keys, or the move into place."""

    percent: float | None = None
    in_place: bool = False
    start: KnotNumber | None = Field(
        default=None, description="with `in_place`: the past knot after which it shall count"
    )


@router.post("/rules/{id}/promote", response_model=Rule)
async def promote(weaver: UsesWeaver, id: str, body: Promote) -> Answer:
    """Change the share of the keys, or move the rule from its side stream into place."""
    return Answer(
        await amend.promote(
            weaver, id, percent=body.percent, in_place=body.in_place, start=body.start
        )
    )


@router.post("/rules/{id}/retire", response_model=Rule)
async def retire(weaver: UsesWeaver, id: str, now: bool = False) -> Answer:
    """End a rule from the next knot on; what it has woven stays.

    With `now` the batch in hand is given up, and pinned anew without the rule.
    """
    rule, _ = await amend.retire(weaver, id, now=now)
    return Answer(rule)
