"""By which code a knot was made, and whether that is what it was: projects, functions and rules as they are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft import codec
from weft.canonical import digest
from weft.errors import WeftError
from weft.lineage.knot import Knot, Status
from weft.project.definition import Project, StreamSpec
from weft.project.provenance import LAZY
from weft.project.settings import HistorySpec
from weft.project.watch import UNWATCHED
from weft.replays.leg import Phase
from weft.steps.environment import differences
from weft.weaver.catalog import Pipeline, declared

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


class ReplayError(WeftError):
    """A replay that cannot be; nothing was run."""

    code = "replay.impossible"
    domain = "user"


def line_of(weaver: Weaver, stream: str, after: int, upto: int) -> list[Knot]:
    """The live knots in (after, upto] of a stream, oldest first; refuses what is not live, or not what it was."""
    found: list[Knot] = []
    knot: Knot | None = weaver.knots.get(stream, upto)
    assert knot is not None
    if knot.status is not Status.COMPLETE:
        raise ReplayError(
            f"Knot {upto} of stream '{stream}' is {knot.status} and cannot be replayed.",
            code="replay.not-live",
            hint=f"Choose a complete one; `weft stream log {stream}` shows them.",
            stream=stream,
            knot=upto,
        )
    while knot is not None and knot.number > after:
        before = weaver.knots.find(stream, knot.previous) if knot.previous else None
        _check_intact(knot, before)
        found.append(knot)
        knot = before
    return found[::-1]


def _check_intact(knot: Knot, before: Knot | None) -> None:
    follows = knot.previous_hash == (before.hash if before else None)
    if knot.is_intact() and follows:
        return
    what = "is not what was sealed" if follows else f"does not follow knot {knot.previous}"
    raise ReplayError(
        f"Knot {knot.number} of stream '{knot.stream}' {what}: it was altered.",
        code="replay.altered-knot",
        domain="conflict",
        hint="`weft verify` says what else was; `weft store rebuild` makes knots anew from their tables.",
        stream=knot.stream,
        knot=knot.number,
    )


def meaning(project: Project, pipeline: Pipeline) -> Any:
    """What a definition says of the rows that a pipeline makes."""
    if pipeline.name not in project.pipelines:
        stream = project.streams.get(pipeline.stream)
        return None if stream is None else _rows_of(stream)
    spec = project.pipeline(pipeline.name)
    return [
        project.version_of(pipeline.name),
        spec.inputs,
        _rows_of(project.stream(spec.to)),
        [project.schema_of(name).fingerprint for name in spec.inputs],
    ]


def _rows_of(stream: StreamSpec) -> Any:
    """What a stream's declaration says of its rows: not where they go, how long they are kept, or who watches them."""
    rows = replace(stream, sinks=(), provenance=LAZY, history=HistorySpec(), watch=UNWATCHED)
    return codec.to_form(rows)


def unlike(weaver: Weaver, pipeline: str, phases: Sequence[Phase]) -> tuple[str, ...]:
    """What is installed here and differs from what was when the functions of these phases were declared."""
    found: list[str] = []
    for project in (weaver.catalog.version(phase.project) for phase in phases):
        spec = project.pipelines.get(pipeline)
        for ref in spec.functions if spec else ():
            found += [f"{ref}: {told}" for told in differences(project.functions[ref])]
    return tuple(dict.fromkeys(found))


class CodeOfKnots:
    """Finds the code by which knots were made, among all that was ever deployed or tried."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._versions: dict[str, dict[str, str]] = {}

    def of(self, knot: Knot) -> tuple[str, str]:
        """The version of the project, and of the pipeline in it, by which a knot was made."""
        recorded = knot.steps[0].version if knot.steps else None
        rules = [rule.version for rule in knot.rules]
        for known, project in self._projects():
            version = self.declared(known, project).get(knot.pipeline)
            if version and recorded == (digest([version, rules]) if rules else version):
                self._check_rules(knot)
                _check_functions(project, knot)
                return known, version
        raise ReplayError(
            f"The definition by which knot {knot.number} of stream '{knot.stream}' was made is not kept as it was: "
            "none that is has its version.",
            code="replay.altered-definition",
            domain="conflict",
            hint="A stored project, function or rule was altered or is gone; `weft verify` says more.",
            stream=knot.stream,
            knot=knot.number,
        )

    def _check_rules(self, knot: Knot) -> None:
        """Refuse a stored rule that is not the one that a knot names: its version is that of its content."""
        for ref in knot.rules:
            if self._weaver.rules.find_version(ref).version != ref.version:
                raise ReplayError(
                    f"Rule '{ref.id}', by which knot {knot.number} of stream '{knot.stream}' was woven, is not kept as "
                    "it was: it was altered.",
                    code="replay.altered-definition",
                    domain="conflict",
                    hint="`weft store rebuild` makes rules anew from their tables.",
                    rule=ref.id,
                    knot=knot.number,
                )

    def _projects(self) -> Iterator[tuple[str, Project]]:
        """Every version of the project that is as it was stored, the one in force first."""
        catalog = self._weaver.catalog
        deployed = catalog.project().hash
        known = {project.hash: project for project in catalog.versions()}
        for name in sorted(known, key=lambda name: name != deployed):
            if catalog.has_version(name):
                yield name, known[name]

    def declared(self, hash: str, project: Project) -> Mapping[str, str]:
        """The versions of the pipelines of a project."""
        if hash not in self._versions:
            self._versions[hash] = {one.name: one.version for one in declared(project)}
        return self._versions[hash]


def _check_functions(project: Project, knot: Knot) -> None:
    """Refuse a stored function that is not the one whose version a knot names."""
    spec = project.pipelines.get(knot.pipeline)
    for ref in spec.functions if spec else ():
        if not project.functions[ref].is_intact():
            raise ReplayError(
                f"Function '{ref}', by which knot {knot.number} of stream '{knot.stream}' was made, is not kept as it "
                "was: its source was altered.",
                code="replay.altered-definition",
                domain="conflict",
                hint="`weft verify` says what else was; `weft store rebuild` makes projects anew from their tables.",
                function=ref,
                knot=knot.number,
            )
