"""Branches: rules tried on real data beside the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from weft.weaver.branches import Branch
from weft.weaver.routes import Answer, Body, KnotNumber, UsesWeaver, make_router
from weft.weaving.rule import Rule

router = make_router("branches")


class NewBranch(Body):
    """A stream, a name for its branch, and the knot at which it leaves."""

    stream: str
    name: str
    at: KnotNumber | None = Field(
        default=None, description="a knot of the stream; default: the newest"
    )


@dataclass(frozen=True)
class PromotedRules:
    """The rules that were moved from a branch to its stream."""

    rules: tuple[Rule, ...]


@router.get("/branches", response_model=list[Branch])
async def list_branches(weaver: UsesWeaver) -> Answer:
    """The branches that are open."""
    return Answer(weaver.branches.all())


@router.post("/branches", status_code=201, response_model=Branch)
async def make(weaver: UsesWeaver, body: NewBranch) -> Answer:
    """Branch a stream at a knot under a name."""
    made = await weaver.branches.make(body.stream, body.name, at=body.at)
    return Answer(made, status_code=201)


@router.get("/branches/{name}/diff", response_model=dict[str, Any])
async def diff(weaver: UsesWeaver, name: str) -> Answer:
    """Rows added, removed and changed in a branch against its stream, with examples."""
    return Answer(await weaver.branches.diff(name))


@router.post("/branches/{name}/promote", response_model=PromotedRules)
async def promote(weaver: UsesWeaver, name: str) -> Answer:
    """Move the branch's rules to its stream and end the branch."""
    return Answer(PromotedRules(tuple(await weaver.branches.promote(name))))


@router.delete("/branches/{name}", status_code=204)
async def drop(weaver: UsesWeaver, name: str) -> None:
    """End a branch and its rules."""
    weaver.branches.drop(name)
