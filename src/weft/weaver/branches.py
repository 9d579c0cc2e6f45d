"""Branches: a stream beside another, from a knot on, to run rules on real data that nobody reads yet.

A branch is a side stream written by a rule without steps. Rules attached to it change it alone; promoting moves
them to the stream itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.weaver import amend
from weft.weaver.attach import check_output, check_rule, schema_now
from weft.weaver.catalog import store_stream
from weft.weaver.rules import RuleError
from weft.weaving.rule import Rule, RuleStatus

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

PREFIX = "branch-"


class BranchMissingError(WeftError):
    """There is no such branch."""

    code = "branch.missing"
    domain = "missing"


@dataclass(frozen=True)
class Branch:
    """A branch: its stream, the knot at which it left, and the rules on it."""

    name: str
    stream: str
    at: int | None
    since: int
    open: bool
    rules: tuple[str, ...]


class Branches:
    """The branches of all streams."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver

    def all(self) -> list[Branch]:
        """The branches that are open."""
        return [
            self._describe(rule)
            for rule in self._weaver.rules.all(active=True)
            if not rule.steps and rule.output
        ]

    async def make(self, stream: str, name: str, *, at: int | None) -> Branch:
        """Branch a stream at a knot (default: the newest) under a name."""
        weaver = self._weaver
        origin = weaver.catalog.stream(stream)
        rule = Rule(id=f"{PREFIX}{name}", stream=stream, steps=(), output=name, note="branch")
        check_output(weaver, rule, origin)
        weaver.rules.check_id(rule.id)
        head = weaver.knots.head(origin.origin).number
        if at is None or at == head:
            amend.declare_side(weaver, weaver.rules.attach(rule.changed(filled_after=head or 0)))
        else:
            amend.check_start(weaver, rule, at)
            await amend.fill(weaver, rule, at)
        weaver.changed()
        return self._describe(weaver.rules.get(rule.id))

    async def diff(self, name: str) -> dict[str, Any]:
        """What differs between a branch and its stream: rows added, removed, changed, with examples."""
        weaver = self._weaver
        rule = self._get(name)
        origin = weaver.catalog.stream(rule.stream).origin
        return dict(
            await weaver.ask(
                "diff",
                {
                    "left": rule.stream,
                    "right": name,
                    "after": rule.filled_after or 0,
                    "upto": weaver.knots.head(origin).number or 0,
                    "left_schema": schema_now(weaver, rule.stream).to_json(),
                    "right_schema": schema_now(weaver, name).to_json(),
                    "key": weaver.key_of(rule.stream),
                },
                timeout=600,
            )
        )

    async def promote(self, name: str) -> list[Rule]:
        """Move the rules of a branch to its stream, in force from the next knot on, and end the branch."""
        weaver = self._weaver
        rule = self._get(name)
        moving = list(weaver.rules.all(stream=name, active=True))
        if not moving:
            raise RuleError(
                f"Branch '{name}' has no rules that could be promoted.",
                code="branch.no-rules",
                domain="conflict",
                hint="Attach rules to it first, or drop it.",
            )
        target = weaver.catalog.stream(rule.stream)
        for one in moving:
            await check_rule(weaver, one.changed(stream=rule.stream), target)
        moved = [
            weaver.rules.change(one.id, f"promoted from branch {name}", stream=rule.stream)
            for one in moving
        ]
        self._end(rule, because=f"branch {name} was promoted")
        return moved

    def drop(self, name: str) -> None:
        """End a branch and its rules; its recorded rows stay until they are cleaned up."""
        rule = self._get(name)
        for one in self._weaver.rules.all(stream=name, active=True):
            self._weaver.rules.retire(one.id, because=f"branch {name} was dropped")
        self._end(rule, because=f"branch {name} was dropped")

    def _end(self, rule: Rule, *, because: str) -> None:
        weaver = self._weaver
        assert rule.output is not None
        weaver.rules.retire(rule.id, because=because)
        stream = replace(weaver.catalog.stream(rule.output), dropped=True)
        weaver.store.apply([store_stream(stream)])
        weaver.changed()

    def _get(self, name: str) -> Rule:
        for rule in self._weaver.rules.all(active=True):
            if rule.output == name and not rule.steps:
                return rule
        open_ones = ", ".join(branch.name for branch in self.all()) or "none"
        raise BranchMissingError(
            f"There is no branch '{name}'. Open branches: {open_ones}.",
            hint="Make one with `weft stream branch`.",
            branch=name,
        )

    def _describe(self, rule: Rule) -> Branch:
        assert rule.output is not None
        return Branch(
            name=rule.output,
            stream=rule.stream,
            at=rule.filled_after,
            since=rule.since,
            open=rule.status is RuleStatus.ACTIVE,
            rules=tuple(r.id for r in self._weaver.rules.all(stream=rule.output, active=True)),
        )
