"""Branches: rules tried on real data beside the original."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from weft.weaver.routes import KnotNumber, UsesWeaver

router = APIRouter(tags=["branches"])


class Branch(BaseModel):
    """A stream, a name for its branch, and the knot at which it leaves."""

    model_config = ConfigDict(extra="forbid")

    stream: str
    name: str
    at: KnotNumber | None = Field(
        default=None, description="a knot of the stream; default: the newest"
    )


@router.get("/branches")
async def list_branches(weaver: UsesWeaver) -> list[dict[str, Any]]:
    """The branches that are open."""
    return weaver.branches.all()


@router.post("/branches", status_code=201)
async def make(weaver: UsesWeaver, body: Branch) -> dict[str, Any]:
    """Branch a stream at a knot under a name."""
    return await weaver.branches.make(body.stream, body.name, at=body.at)


@router.get("/branches/{name}/diff")
async def diff(weaver: UsesWeaver, name: str) -> dict[str, Any]:
    """Rows added, removed and changed in a branch against its stream, with examples."""
    return await weaver.branches.diff(name)


@router.post("/branches/{name}/promote")
async def promote(weaver: UsesWeaver, name: str) -> dict[str, Any]:
    """Move the branch's rules to its stream and end the branch."""
    return {"rules": [rule.to_dict() for rule in await weaver.branches.promote(name)]}


@router.delete("/branches/{name}", status_code=204)
async def drop(weaver: UsesWeaver, name: str) -> None:
    """End a branch and its rules."""
    weaver.branches.drop(name)
