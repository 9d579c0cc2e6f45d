"""From the rules of one recorded knot to those of the next: what is asked of a weaver so that they are in force. Pure.

Called by `weft.testing`, which feeds recorded knots to the project of today.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft import codec
from weft.weaving.rule import Rule


@dataclass(frozen=True)
class RuleCall:
    """A request about a rule: where it is posted, and what it says."""

    path: str
    body: Mapping[str, Any] = field(default_factory=dict)


def rule_calls(before: Sequence[Rule], after: Sequence[Rule]) -> Iterator[RuleCall]:
    """The requests after which other rules are in force, given in their order as the ones before them are.

    Guards are left out: what a rule did then is done again, whatever it meets.
    """
    known = {rule.id: rule for rule in before}
    wanted = {rule.id for rule in after}
    for rule in reversed(before):  # rules on a side stream end before the one that writes it
        if rule.id not in wanted:
            yield RuleCall(f"/rules/{rule.id}/retire")
    for rule in after:
        if rule.id not in known:
            yield RuleCall("/rules", _attached(rule))
        elif (change := _change(known[rule.id], rule)) != {}:
            yield RuleCall(f"/rules/{rule.id}/promote", change)


def _attached(rule: Rule) -> dict[str, Any]:
    form = codec.to_form(rule)
    return {name: form[name] for name in ("id", "stream", "steps", "output", "percent")}


def _change(before: Rule, after: Rule) -> dict[str, Any]:
    """What a rule was promoted to."""
    change: dict[str, Any] = {}
    if before.output is not None and after.output is None:
        change["in_place"] = True
    if before.percent != after.percent:
        change["percent"] = after.percent
    return change
