"""Replays as people ask for them: knots by number or time, changes that are checked, workspaces that can be dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from weft.clock import parse_iso
from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.loading.deployed import altered, checked
from weft.operations.operation import Operation
from weft.project.definition import Project
from weft.replays.change import ReplayChange
from weft.steps.function import FunctionVersion
from weft.weaver.attach import RuleRequest, checked_rule
from weft.weaver.code_of_knots import ReplayError
from weft.weaver.store.records import put
from weft.weaving.rule import Rule

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

NEWEST = 10
"""How many knots are run again when nobody says which."""


class RuleChange(BaseModel):
    """A rule that is tried in a replay: what it does to the rows of a stream."""

    model_config = ConfigDict(extra="forbid")

    stream: str
    steps: list[Any]
    output: str | None = None
    percent: float = 100.0


@dataclass(frozen=True)
class Progress:
    """How far a replay is: knots done of the leg that runs now."""

    pipeline: str
    done: int
    knots: int


class Replays:
    """What is known of replays while they run, and where they lie."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._progress: dict[str, Progress] = {}

    def note(self, name: str, progress: Progress) -> None:
        """Remember how far a replay is."""
        self._progress[name] = progress

    def forget(self, name: str) -> None:
        """A replay is over, and no longer on its way."""
        self._progress.pop(name, None)

    def progress(self, name: str) -> Progress | None:
        """How far a replay is, if its worker has said."""
        return self._progress.get(name)

    def place(self, name: str) -> str | None:
        """The folder of a replay's workspace."""
        storage = self._weaver.storage
        return None if storage is None else storage.workspace(name)

    async def drop(self, operation: Operation) -> None:
        """Remove the workspace of a replay that is over."""
        if not operation.is_over:
            raise ReplayError(
                f"{operation.id} is {operation.status}; its workspace is in use.",
                code="replay.under-way",
                domain="conflict",
                hint=f"Wait for it, or give it up with `weft operation abort {operation.id}`.",
                operation=operation.id,
            )
        await self._weaver.ask("clear", {"operation": operation.id}, timeout=60)


async def checked_what_if(
    weaver: Weaver,
    *,
    rules: Sequence[RuleChange],
    without: Sequence[str],
    leave_out: Mapping[str, str],
    add: Mapping[str, list[dict[str, Any]]],
    project: Mapping[str, Any] | None,
    settings: Mapping[str, Any],
    functions: Mapping[str, str],
) -> ReplayChange:
    """What is to be different, with everything that can be wrong with it found; raises and runs nothing otherwise."""
    for name in without:
        weaver.rules.get(name)
    for name in add:
        _check_addable(weaver, name)
    tried = [await _rule(weaver, place, one) for place, one in enumerate(rules, start=1)]
    for place, (name, text) in enumerate(leave_out.items(), start=1):
        steps = [{"filter": f"NOT coalesce(({text}), false)"}]
        left = RuleChange(stream=name, steps=steps)
        tried.append(await _rule(weaver, place, left, word="leave-out"))
    given = None if project is None else checked(project)
    if given is not None:
        # What else is asked for is changed in what was given.
        given = tried_project(weaver, given, ReplayChange(settings=settings, functions=functions))
        settings, functions = {}, {}
    what_if = ReplayChange(
        rules=tuple(tried),
        without=tuple(without),
        project=None if given is None else given.hash,
        settings=settings,
        functions=functions,
        added={name: tuple(records) for name, records in add.items() if records},
    )
    # A setting that cannot be, or a version that nobody has, is told before anything is planned.
    tried_project(weaver, weaver.catalog.project(), what_if)
    return what_if


def _check_addable(weaver: Weaver, name: str) -> None:
    weaver.catalog.stream(name)
    declared = weaver.catalog.project().streams.get(name)
    if declared is None or declared.changing:
        raise ReplayError(
            f"Records cannot be added to stream '{name}': rules write it, or its rows replace one another.",
            code="replay.added",
            hint="Add them to a stream that a source or a pipeline appends to.",
            stream=name,
        )


async def _rule(weaver: Weaver, place: int, change: RuleChange, *, word: str = "what-if") -> Rule:
    request = RuleRequest(
        stream=change.stream,
        steps=change.steps,
        id=f"{word}-{place}",
        output=change.output,
        percent=change.percent,
    )
    return await checked_rule(weaver, request)


def tried_project(weaver: Weaver, project: Project, change: ReplayChange) -> Project:
    """What is tried in place of a project: the one that was given, or this one with something changed in it.

    It is kept under its hash, as if it had been deployed.
    """
    if change.project is not None:
        return weaver.catalog.version(change.project)
    if change.settings:
        project = altered(project, change.settings)
    if change.functions:
        found = {ref: _version(weaver, ref, said) for ref, said in change.functions.items()}
        project = replace(project, functions={**project.functions, **found})
    _keep(weaver, project)
    return project


def _keep(weaver: Weaver, project: Project) -> None:
    if not weaver.catalog.has_version(project.hash):
        weaver.store.apply([put("projects", project.hash, value=project)])


def _version(weaver: Weaver, ref: str, version: str) -> FunctionVersion:
    """A version of a function that was deployed once, by the beginning of its hash."""
    found = {
        one.version: one
        for project in weaver.catalog.versions()
        for one in project.functions.values()
        if one.ref == ref and one.version.startswith(version)
    }
    if len(found) != 1:
        many = f"{len(found)} versions begin so" if found else "none begins so"
        raise ReplayError(
            f"'{version[:20]}' does not name a version of function '{ref}': {many}.",
            code="replay.function",
            hint="Give more of the version's hash; knots and the deployed project name them.",
            function=ref,
        )
    [one] = found.values()
    return one


def span_of(
    weaver: Weaver,
    stream: str,
    after: int | None,
    upto: int | None,
    since: str | None,
    until: str | None,
) -> tuple[int, int]:
    """The knots that are meant: after the first number, up to the second."""
    weaver.catalog.stream(stream)
    head = weaver.knots.head(stream).number
    if head is None:
        raise ReplayError(
            f"Stream '{stream}' has no knots yet.",
            code="replay.nothing",
            hint="Wait until it has records.",
            stream=stream,
        )
    if since is not None or until is not None:
        return _within(weaver, stream, head, _moment(since), _moment(until))
    last = head if upto is None else upto
    weaver.knots.get(stream, last)
    return _behind(weaver, stream, max(0, last - NEWEST) if after is None else after, last), last


def _behind(weaver: Weaver, stream: str, after: int, last: int) -> int:
    """The knot behind which a range begins: the newest up to a number that the last one comes after, not one that was
    rolled back; 0 for none."""
    knot = weaver.knots.get(stream, last)
    if after >= last or knot.status is not Status.COMPLETE:
        return after
    while knot.number > after and knot.previous:
        knot = weaver.knots.get(stream, knot.previous)
    return knot.number if knot.number <= after else 0


def _within(
    weaver: Weaver, stream: str, head: int, since: float | None, until: float | None
) -> tuple[int, int]:
    found: list[Knot] = []
    knot: Knot | None = weaver.knots.find(stream, head)
    while knot is not None:
        at = parse_iso(knot.now).timestamp()
        if since is not None and at < since:
            break
        if until is None or at < until:
            found.append(knot)
        knot = weaver.knots.find(stream, knot.previous) if knot.previous else None
    if not found:
        raise ReplayError(
            f"Stream '{stream}' has no knots in that time.",
            code="replay.nothing",
            hint=f"See when its knots were tied with `weft stream log {stream}`.",
            stream=stream,
        )
    return found[-1].previous or 0, found[0].number


def _moment(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return parse_iso(text).timestamp()
    except ValueError as error:
        raise WeftError(
            f"'{text[:40]}' is not a time.",
            code="replay.time",
            domain="user",
            hint="Write it as 2026-01-31T12:00:00Z.",
        ) from error
