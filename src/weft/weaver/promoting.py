"""What a replay has tried becomes true: rolled back to where it began, and rewritten with the change, in one plan."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.clock import iso
from weft.operations.operation import Kind, Operation, OperationStatus
from weft.operations.step import Rerun
from weft.replays.request import ReplayRequest
from weft.weaver.code_of_knots import ReplayError
from weft.weaver.replays import tried_project

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


async def promoted(weaver: Weaver, tried: Operation, *, dry_run: bool, by: str | None) -> Operation:
    """Do what a replay has tried to the live streams; with `dry_run` only the plan of it."""
    kind, request = _what(weaver, tried, by)
    if dry_run:
        steps = await weaver.operations.plan(kind, request)
        asked = iso(weaver.clock.now())
        return Operation(f"{kind}-planned", kind, request, (), tuple(steps), asked, by=by)
    return await weaver.operations.run(kind, request, by=by, because=f"promotes {tried.id}")


def _what(weaver: Weaver, tried: Operation, by: str | None) -> tuple[Kind, dict[str, Any]]:
    """The operation that makes a replay true."""
    asked = codec.from_form(ReplayRequest, tried.request)
    change = asked.what_if
    if tried.status is not OperationStatus.DONE:
        raise _refused(tried, f"it is {tried.status}", code="replay.under-way")
    if not change:
        raise _refused(tried, "nothing was different in it", code="replay.nothing-tried")
    if change.added:
        raise _refused(tried, "records that were added came from nowhere")
    if change.redefines:
        if change.rules or change.without:
            raise _refused(tried, "it tried another project and other rules at once")
        begun = [step.leg for step in tried.steps if isinstance(step, Rerun)]
        names = [leg.pipeline for leg in begun if leg.redefined]
        project = tried_project(weaver, weaver.catalog.project(), change)
        return "recompute", {"project": project.hash, "pipelines": names}
    if len(change.rules) > 1:
        raise _refused(tried, "it tried several rules at once; attach them one by one")
    names = [rule.stream for rule in change.rules]
    names += [weaver.rules.get(name).stream for name in change.without]
    touched = {weaver.catalog.stream(name).origin for name in names}
    if len(touched) != 1:
        raise _refused(tried, f"it changed {' and '.join(sorted(touched))}, each a plan of its own")
    [stream] = touched
    to = next(
        step.leg.after
        for step in tried.steps
        if isinstance(step, Rerun) and step.leg.stream == stream
    )
    rule = None
    if change.rules:
        name = f"{change.rules[0].id}-{uuid.uuid4().hex[:6]}"
        rule = replace(change.rules[0], id=name, order=0, author=by)
    return "rollback", {
        "stream": stream,
        "to": to,
        "attach": None if rule is None else weaver.rules.numbered(rule).to_dict(),
        "retire": list(change.without),
        "patience_s": 30.0,
    }


def _refused(tried: Operation, why: str, *, code: str = "replay.cannot-promote") -> ReplayError:
    return ReplayError(
        f"{tried.id} cannot be promoted: {why}.",
        code=code,
        domain="conflict",
        hint="Promote a replay that tried one rule, left rules out, or tried another project.",
        operation=tried.id,
    )
