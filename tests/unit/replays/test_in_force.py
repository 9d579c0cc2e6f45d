"""Recorded knots meet the rules that they had: what is asked for between one knot and the next."""

from __future__ import annotations

from weft.replays.in_force import RuleCall, rule_calls
from weft.steps.step import steps_from
from weft.weaving.rule import Rule

CHEAP = Rule("cheap", "orders", steps_from([{"filter": "total < 5"}]), guards=("rows_in < 1",))
ASIDE = Rule("aside", "orders", steps_from([{"filter": "total > 5"}]), output="large", percent=40.0)
BELOW = Rule("below", "large", steps_from([{"set": {"email": "'*'"}}]))


def test_a_new_rule_is_attached_as_it_was_and_without_its_guards() -> None:
    [call] = rule_calls([], [CHEAP])
    assert call.path == "/rules" and call.body == {
        "id": "cheap",
        "stream": "orders",
        "steps": [{"filter": "total < 5"}],
        "output": None,
        "percent": 100.0,
    }


def test_the_same_rules_ask_for_nothing() -> None:
    assert list(rule_calls([CHEAP, ASIDE], [CHEAP, ASIDE])) == []


def test_rules_are_attached_in_their_order_and_end_in_the_opposite_one() -> None:
    attached = [call.body["id"] for call in rule_calls([], [ASIDE, BELOW])]
    assert attached == ["aside", "below"]
    retired = [call.path for call in rule_calls([ASIDE, BELOW], [])]
    assert retired == ["/rules/below/retire", "/rules/aside/retire"]


def test_a_rule_is_promoted_to_a_share_and_into_place() -> None:
    wider, moved = ASIDE.changed(percent=60.0), ASIDE.changed(output=None, percent=100.0)
    promote = "/rules/aside/promote"
    assert list(rule_calls([ASIDE], [wider])) == [RuleCall(promote, {"percent": 60.0})]
    both = {"in_place": True, "percent": 100.0}
    assert list(rule_calls([ASIDE], [moved])) == [RuleCall(promote, both)]
