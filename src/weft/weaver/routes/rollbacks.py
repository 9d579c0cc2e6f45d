"""Rollbacks: a stream as it was at a knot, and everything downstream with it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from weft.weaver.routes import LARGEST, UsesWeaver

router = APIRouter(tags=["rollbacks"])


class Rollback(BaseModel):
    """A stream and the knot that it goes back to."""

    model_config = ConfigDict(extra="forbid")

    stream: str
    to: int = Field(ge=0, le=LARGEST, description="a knot of the stream; 0 is before the first")


@router.get("/rollbacks")
async def list_rollbacks(weaver: UsesWeaver) -> list[dict[str, Any]]:
    """All rollbacks, oldest first."""
    return weaver.rollbacks.all()


@router.get("/rollbacks/{id}")
async def show(weaver: UsesWeaver, id: str) -> dict[str, Any]:
    """One rollback: its plan and how far it is."""
    return weaver.rollbacks.get(id)


@router.post("/rollbacks")
async def roll_back(weaver: UsesWeaver, body: Rollback, dry_run: bool = False) -> dict[str, Any]:
    """Roll a stream back to a knot; with `dry_run` only say what would be done."""
    if dry_run:
        plan = await weaver.rollbacks.plan(body.stream, body.to)
        return {"status": "planned", "plan": plan.to_dict()}
    return await weaver.rollbacks.run(body.stream, body.to)
