"""What is different about a knot from the one before it: rules, code, columns, and how much came in."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from weft.lineage.knot import Knot
from weft.project.definition import Project
from weft.schema.schema import Schema
from weft.weaver.code_of_knots import CodeOfKnots, ReplayError

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

MANY = 2.0
"""So many times more or fewer records than in the knot before are worth a word."""


@dataclass(frozen=True)
class KnotChange:
    """One thing that is different about a knot."""

    what: Literal["rule", "pipeline", "function", "columns", "input"]
    text: str
    diff: str | None = None
    """The lines of a function's sources that differ."""


def changes_at(weaver: Weaver, stream: str, number: int) -> list[KnotChange]:
    """What a knot has that the live one before it had not."""
    origin = weaver.catalog.stream(stream).origin
    knot = weaver.knots.get(origin, number)
    before = weaver.knots.find(origin, knot.previous) if knot.previous else None
    if before is None:
        return []
    return [
        *_rules(weaver, before, knot),
        *_code(weaver, before, knot),
        *_columns(weaver, before, knot),
        *_input(before, knot),
    ]


def _rules(weaver: Weaver, before: Knot, knot: Knot) -> Iterator[KnotChange]:
    old = {rule.id: rule for rule in before.rules}
    new = {rule.id: rule for rule in knot.rules}
    for name in new.keys() - old.keys():
        rule = weaver.rules.get(name)
        who = f", attached by {rule.author} at {rule.attached}" if rule.author else ""
        yield KnotChange("rule", f"rule {name} is in force{who}")
    for name in old.keys() - new.keys():
        yield KnotChange("rule", f"rule {name} is no longer in force")
    for name in old.keys() & new.keys():
        if old[name].percent != new[name].percent:
            share = f"from {old[name].percent:g} % to {new[name].percent:g} %"
            yield KnotChange("rule", f"rule {name} goes {share} of the keys")
        if old[name].version != new[name].version:
            yield KnotChange("rule", f"rule {name} does something else")


def _code(weaver: Weaver, before: Knot, knot: Knot) -> Iterator[KnotChange]:
    code = CodeOfKnots(weaver)
    try:
        old, new = (code.of(one) for one in (before, knot))
    except ReplayError as error:
        yield KnotChange("pipeline", error.message)
        return
    if old == new:
        return
    past, now = (weaver.catalog.version(project) for project, _ in (old, new))
    functions = list(_functions(knot.pipeline, past, now))
    yield from functions
    if not functions:
        yield KnotChange(
            "pipeline", f"pipeline {knot.pipeline} was deployed anew, with another definition"
        )


def _functions(pipeline: str, past: Project, now: Project) -> Iterator[KnotChange]:
    spec = now.pipelines.get(pipeline)
    for ref in spec.functions if spec else ():
        old, new = past.functions.get(ref), now.functions.get(ref)
        if old is None or new is None or old.version == new.version:
            continue
        lines = [
            line
            for module in sorted({*old.modules, *new.modules})
            for line in difflib.unified_diff(
                old.modules.get(module, "").splitlines(),
                new.modules.get(module, "").splitlines(),
                f"{module} {old.version[:10]}",
                f"{module} {new.version[:10]}",
                lineterm="",
            )
        ]
        text = f"function {ref} has version {new.version[:10]} in place of {old.version[:10]}"
        yield KnotChange("function", text, "\n".join(lines))


def _columns(weaver: Weaver, before: Knot, knot: Knot) -> Iterator[KnotChange]:
    if before.schema == knot.schema:
        return
    old, new = (weaver.catalog.schema(one.schema or "") or Schema(()) for one in (before, knot))
    gone = [field.name for field in old if new.find(field.name) is None]
    added = [field.name for field in new if old.find(field.name) is None]
    if added:
        yield KnotChange("columns", f"column {', '.join(added)} is new")
    if gone:
        yield KnotChange("columns", f"column {', '.join(gone)} is gone")


def _input(before: Knot, knot: Knot) -> Iterator[KnotChange]:
    old, new = before.ledger.rows_in, knot.ledger.rows_in
    if new > MANY * max(old, 1) or old > MANY * max(new, 1):
        yield KnotChange("input", f"{new:,} records came in, and {old:,} in the knot before")
