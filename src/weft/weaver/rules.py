"""Rules: attached, promoted and retired while their stream runs; each knot says which were in force."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from weft.clock import Clock, iso
from weft.errors import WeftError
from weft.lineage.guard import Guard
from weft.lineage.knot import Knot, RuleRef, Status
from weft.schema.schema import nearest
from weft.weaver.catalog import Stream
from weft.weaver.events import Events
from weft.weaver.knots import Knots
from weft.weaver.store.records import Records, put
from weft.weaver.store.store import Write
from weft.weaving.rule import Deed, Rule, RuleStatus

NAME = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
LONGEST_NAME = 64
BASELINE_KNOTS = 20


class RuleError(WeftError):
    """A rule that cannot be attached or changed; nothing was."""

    code = "rule.invalid"
    domain = "user"


class RuleMissingError(WeftError):
    """There is no such rule."""

    code = "rule.missing"
    domain = "missing"


class Rules:
    """All rules of all streams, in the order they were attached."""

    def __init__(self, records: Records, clock: Clock, knots: Knots, events: Events) -> None:
        self._records = records
        self._clock = clock
        self._knots = knots
        self._events = events
        # Read for every pin, changed only here: kept in memory beside the store.
        self._rules = {rule.id: rule for rule in records.scan(Rule, "rules", "rule")}

    def all(self, *, stream: str | None = None, active: bool = False) -> Iterator[Rule]:
        """Rules in the order they were attached."""
        for rule in sorted(self._rules.values(), key=lambda rule: rule.order):
            if stream in (None, rule.stream) and (not active or rule.status is RuleStatus.ACTIVE):
                yield rule

    def get(self, name: str) -> Rule:
        """A rule by its id."""
        rule = self._rules.get(name)
        if rule is None:
            near = nearest(name, self._rules)
            raise RuleMissingError(
                f"There is no rule '{name}'.",
                hint=f"Did you mean '{near}'?" if near else "See `weft rule list`.",
                rule=name,
            )
        return rule

    def in_force(self, origin: str, number: int) -> list[Rule]:
        """The rules on a stream and on the side streams written with it, for knot `number`."""
        return [
            rule
            for rule in self.all(active=True)
            if rule.in_force(number) and self._origin_of(rule) == origin
        ]

    def refs(self, rules: Iterable[Rule]) -> tuple[RuleRef, ...]:
        """Rules as a knot names them."""
        return tuple(RuleRef(rule.id, rule.version, rule.percent) for rule in rules)

    def find_version(self, ref: RuleRef) -> Rule:
        """A rule as it was when a knot named it."""
        rule = self._records.get(Rule, "rules", "version", ref.id, ref.version)
        return rule.changed(percent=ref.percent)

    def new_id(self, stream: str) -> str:
        """An id for a rule that was given none."""
        return f"{stream.replace('.', '-')[:50].rstrip('-_')}-{len(self._rules) + 1}"

    def check_id(self, name: str) -> None:
        """Refuse an id that is taken or that people could not type."""
        if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
            raise RuleError(
                f"'{_shown(name)}' cannot be the id of a rule.",
                code="rule.bad-id",
                hint="Use lower-case letters, digits and single - or _, at most 64 characters.",
            )
        if name in self._rules:
            raise RuleError(
                f"There is already a rule '{name}'.",
                code="rule.exists",
                domain="conflict",
                hint="Choose another id, or promote or retire that one.",
                rule=name,
            )

    def check_active(self, rule: Rule) -> None:
        """Refuse a rule that is retired."""
        if rule.status is RuleStatus.RETIRED:
            raise RuleError(
                f"Rule '{rule.id}' is retired and cannot be changed.",
                code="rule.retired",
                domain="conflict",
                hint="Attach it again under a new id.",
                rule=rule.id,
            )

    def numbered(self, rule: Rule) -> Rule:
        """A rule with its place after all others."""
        return rule.changed(order=max((r.order for r in self._rules.values()), default=0) + 1)

    def attach(self, rule: Rule) -> Rule:
        """Store a checked rule; it is in force from the next knot on."""
        head = self._knots.head(self._origin_of(rule))
        now = iso(self._clock.now())
        attached = self.numbered(rule).changed(
            since=rule.since or head.last + 1,
            attached=now,
            history=(Deed(now, "attached", head.last + 1),),
        )
        self._store(attached, "rule.attached", knot=attached.since)
        return attached

    def change(self, name: str, did: str, **fields: Any) -> Rule:
        """Change a rule from the next knot on, and remember what it was before."""
        rule = self.get(name)
        self.check_active(rule)
        head = self._knots.head(self._origin_of(rule))
        deed = Deed(iso(self._clock.now()), did, head.last + 1)
        changed = rule.changed(**fields, history=(*rule.history, deed))
        self._store(changed, f"rule.{did.split()[0]}", knot=head.last + 1)
        return changed

    def replace(self, rule: Rule, kind: str, **facts: Any) -> None:
        """Store a rule as it is now, and say what happened to it."""
        self._store(rule, kind, **facts)

    def retire(self, name: str, *, because: str, to_undo: bool = False) -> Rule:
        """End a rule after the knots that are pinned already."""
        head = self._knots.head(self._origin_of(self.get(name)))
        return self.change(
            name,
            "retired",
            status=RuleStatus.RETIRED,
            retired=iso(self._clock.now()),
            retired_because=because,
            until=head.last,
            to_undo=to_undo,
        )

    def remember(self, rules: Iterable[Rule]) -> None:
        """Take in rules that were stored with other things."""
        self._rules.update({rule.id: rule for rule in rules})

    def guarded(self, knot: Knot, *, anomalies: int = 0) -> Iterator[tuple[Rule, str]]:
        """The rules in force for this knot whose guards it, with so many anomalies, breaks, each with the reason."""
        for ref in knot.rules:
            rule = self._rules.get(ref.id)
            if rule is None or not rule.guards or rule.status is RuleStatus.RETIRED:
                continue
            before = [
                earlier
                for earlier in self._knots.log(knot.stream, before=rule.since, limit=BASELINE_KNOTS)
                if earlier.status is Status.COMPLETE
            ]
            for guard in map(Guard.parse, rule.guards):
                reason = guard.broken_by(knot, before, anomalies=anomalies)
                if reason is not None:
                    yield rule, reason
                    break

    def _origin_of(self, rule: Rule) -> str:
        stream = self._records.find(Stream, "catalog", "stream", rule.stream)
        return stream.origin if stream else rule.stream

    def _store(self, rule: Rule, kind: str, **facts: Any) -> None:
        told = self._events.write(kind, rule=rule.id, stream=rule.stream, **facts)
        self._records.store.apply([*store_rule(rule), *told])
        self.remember([rule])


def store_rule(rule: Rule) -> list[Write]:
    """The writes that store a rule, and this version of it for the knots that will name it."""
    return [
        put("rules", "rule", rule.id, value=rule),
        put("rules", "version", rule.id, rule.version, value=rule),
    ]


def _shown(text: str) -> str:
    safe = text.encode("unicode_escape").decode()
    return safe if len(safe) <= 80 else safe[:77] + "..."
