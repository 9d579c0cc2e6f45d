"""Every version of code that was ever deployed or attached: functions, pipelines and rules, by reference and hash.

In come the projects and rules that the store keeps, out come their versions with who uses them since when. Called by
routes, and by a deployment, which notes from which knots on it counts.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from weft.clock import Clock, iso
from weft.errors import WeftError
from weft.project.definition import Project
from weft.schema.schema import nearest
from weft.steps.step import Function
from weft.weaver.catalog import Catalog, declared
from weft.weaver.knots import Knots
from weft.weaver.rules import Rules
from weft.weaver.store.records import Records, open_record, put, value_of
from weft.weaver.store.store import Write, key_range
from weft.weaving.rule import Rule, RuleStatus

CodeKind = Literal["function", "pipeline", "rule"]
PREFIX = re.compile(r"[0-9a-f]{1,64}")
SHOWN = 5
"""So many of the versions that a prefix may mean are named."""


class VersionMissingError(WeftError):
    """There is no such function, pipeline or rule, or none of this version."""

    code = "function.missing"
    domain = "missing"


class VersionUnclearError(WeftError):
    """What was asked for may be more than one thing."""

    code = "function.ambiguous"
    domain = "user"


@dataclass(frozen=True)
class DeployRecord:
    """A deployment: the version of the project that came into force, and the highest knot of each stream before it."""

    number: int
    project: str
    at: str
    after: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RunSpan:
    """The knots of a stream that were given out while a version was in force; the last is None while it is."""

    stream: str
    first: int
    last: int | None


@dataclass(frozen=True)
class CodeVersion:
    """One version of a function, a pipeline or a rule: where it is used, and since when.

    `since` and `knots` are known of what was deployed since deployments are recorded.
    """

    kind: CodeKind
    ref: str
    version: str
    current: bool
    pipelines: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    since: str | None = None
    knots: tuple[RunSpan, ...] = ()


Key = tuple[CodeKind, str, str]


@dataclass(frozen=True)
class _Declared:
    """A version that a project has, and the pipelines with their streams that run it."""

    key: Key
    runs: Mapping[str, str] = field(default_factory=dict)


class Functions:
    """The versions of all code that a store knows."""

    def __init__(
        self, records: Records, clock: Clock, catalog: Catalog, rules: Rules, knots: Knots
    ) -> None:
        self._records = records
        self._clock = clock
        self._catalog = catalog
        self._rules = rules
        self._knots = knots
        # A project under its hash never changes: each is read once.
        self._read: dict[bytes, tuple[str, tuple[_Declared, ...]]] = {}

    def deployed(self, project: Project) -> list[Write]:
        """The writes that note a deployment, and where its streams stand."""
        last = next(
            iter(self._records.scan(DeployRecord, "deployments", limit=1, reverse=True)), None
        )
        number = last.number + 1 if last else 1
        after = {one.stream: self._knots.head(one.stream).last for one in declared(project)}
        record = DeployRecord(number, project.hash, iso(self._clock.now()), after)
        return [put("deployments", number, value=record)]

    def all(self, *, kind: CodeKind | None = None, ref: str | None = None) -> list[CodeVersion]:
        """All versions, or those of a kind or reference, of each reference the newest last."""
        found = [*self._in_projects(), *self._of_rules()]
        return [one for one in found if kind in (None, one.kind) and ref in (None, one.ref)]

    def find(
        self, ref: str, version: str | None = None, *, kind: CodeKind | None = None
    ) -> CodeVersion:
        """The version that a prefix of it names, or without one the newest; refuses what is not clear."""
        if version is not None and not PREFIX.fullmatch(version):
            raise VersionUnclearError(
                f"'{_shown(version)}' is no version: they are hashes, and a prefix of one will do.",
                code="function.bad-version",
                hint=f"See `weft function list {_shown(ref)}`.",
            )
        known = self.all(kind=kind, ref=ref)
        if not known:
            self._refuse_unknown(ref, kind)
        meant = [one for one in known if one.version.startswith(version or "")]
        if not meant:
            raise VersionMissingError(
                f"'{ref}' has no version '{version}'.",
                hint=f"See `weft function list {ref}`.",
                ref=ref,
                version=version,
            )
        kinds = list(dict.fromkeys(one.kind for one in meant))
        if len(kinds) > 1:
            raise VersionUnclearError(
                f"'{ref}' is the name of a {' and of a '.join(kinds)}.",
                hint=f"Say which with `--kind {kinds[0]}`.",
                ref=ref,
                kinds=kinds,
            )
        if version is not None and len(meant) > 1:
            versions = [one.version for one in meant]
            more = f" and {len(versions) - SHOWN} more" if len(versions) > SHOWN else ""
            raise VersionUnclearError(
                f"'{version}' may be {len(versions)} versions of '{ref}': "
                f"{', '.join(one[:16] for one in versions[:SHOWN])}{more}.",
                hint="Give more of its digits.",
                ref=ref,
                versions=versions[:SHOWN],
            )
        return next((one for one in meant if one.current), meant[-1])

    def _refuse_unknown(self, ref: str, kind: CodeKind | None) -> None:
        near = nearest(ref, {one.ref for one in self.all(kind=kind)})
        raise VersionMissingError(
            f"There never was a {kind or 'function, pipeline or rule'} '{_shown(ref)}' here.",
            hint=f"Did you mean '{near}'?" if near else "See `weft function list`.",
            ref=_shown(ref),
        )

    def project_of(self, found: CodeVersion) -> Project:
        """The newest project that has a version of a function or pipeline."""
        return self._catalog.version(found.projects[-1])

    def rule_of(self, found: CodeVersion) -> Rule:
        """A rule in one of its versions."""
        return self._records.get(Rule, "rules", "version", found.ref, found.version)

    def _in_projects(self) -> Iterator[CodeVersion]:
        deployments = list(self._records.scan(DeployRecord, "deployments"))
        current = self._catalog.find_project()
        known = self._projects()
        last = {record.project: record.number for record in deployments}
        newest = current.hash if current else None
        order = sorted(known, key=lambda name: (name == newest, last.get(name, 0), name))
        rank = {name: place for place, name in enumerate(order)}
        holders: dict[Key, list[str]] = defaultdict(list)
        runs: dict[Key, dict[str, None]] = defaultdict(dict)
        for name in order:
            for one in known[name]:
                holders[one.key].append(name)
                runs[one.key].update(dict.fromkeys(one.runs))
        spans = self._spans(deployments, known)
        first = {record.project: record.at for record in reversed(deployments)}
        for key in sorted(holders, key=lambda key: (*key[:2], rank[holders[key][-1]])):
            kind, ref, version = key
            since = [first[name] for name in holders[key] if name in first]
            yield CodeVersion(
                kind=kind,
                ref=ref,
                version=version,
                current=newest in holders[key],
                pipelines=tuple(runs[key]) if kind == "function" else (),
                rules=tuple(self._calling(ref)) if kind == "function" else (),
                projects=tuple(holders[key]),
                since=min(since, default=None),
                knots=tuple(spans.get(key, ())),
            )

    def _projects(self) -> dict[str, tuple[_Declared, ...]]:
        """What each stored version of the project declares, by its hash."""
        for name, value in self._records.store.scan(key_range("projects")):
            if name not in self._read:
                project = value_of(Project, open_record(name, value))
                self._read[name] = (project.hash, tuple(_declared_by(project)))
        return dict(self._read.values())

    def _spans(
        self, deployments: list[DeployRecord], known: Mapping[str, tuple[_Declared, ...]]
    ) -> dict[Key, list[RunSpan]]:
        """The knots that were given out while each version was deployed."""
        begun: dict[tuple[Key, str], int] = {}
        found: dict[Key, list[RunSpan]] = defaultdict(list)
        for record in deployments:
            held = known.get(record.project, ())
            now = {(one.key, stream) for one in held for stream in one.runs.values()}
            for key, stream in sorted(begun.keys() - now):
                first, last = begun.pop((key, stream)), record.after.get(stream)
                last = self._knots.head(stream).last if last is None else last
                if first <= last:
                    found[key].append(RunSpan(stream, first, last))
            for key, stream in sorted(now - begun.keys()):
                begun[key, stream] = record.after.get(stream, 0) + 1
        for (key, stream), first in sorted(begun.items()):
            if first <= self._knots.head(stream).last:
                found[key].append(RunSpan(stream, first, None))
        return found

    def _calling(self, ref: str) -> Iterator[str]:
        """The rules in force that call a function."""
        for rule in self._rules.all(active=True):
            if any(isinstance(step, Function) and step.ref == ref for step in rule.steps):
                yield rule.id

    def _of_rules(self) -> Iterator[CodeVersion]:
        versions: dict[str, list[Rule]] = defaultdict(list)
        for rule in self._records.scan(Rule, "rules", "version"):
            versions[rule.id].append(rule)
        newest = {rule.id: rule for rule in self._rules.all()}
        for name, found in sorted(versions.items()):
            found.sort(key=lambda rule: len(rule.history))
            begun = [(found[0].attached, found[0].since)]
            begun += [_begun(after, before) for before, after in itertools.pairwise(found)]
            for place, rule in enumerate(found):
                is_last = place == len(found) - 1
                now = newest.get(name, rule)
                until = now.until if is_last else begun[place + 1][1] - 1
                yield CodeVersion(
                    kind="rule",
                    ref=name,
                    version=rule.version,
                    current=is_last and name in newest and now.status is RuleStatus.ACTIVE,
                    since=begun[place][0],
                    knots=(RunSpan(rule.stream, begun[place][1], until),),
                )


def _declared_by(project: Project) -> Iterator[_Declared]:
    for one in declared(project):
        yield _Declared(("pipeline", one.name, one.version), {one.name: one.stream})
    for ref, function in project.functions.items():
        runs = {spec.name: spec.to for spec in project.pipelines.values() if ref in spec.functions}
        yield _Declared(("function", ref, function.version), runs)


def _begun(rule: Rule, before: Rule) -> tuple[str | None, int]:
    """When a version of a rule began: with the first deed after those of the version before."""
    made = rule.history[len(before.history) :]
    return (made[0].at, made[0].knot) if made else (rule.attached, rule.since)


def _shown(text: str) -> str:
    safe = text.encode("unicode_escape").decode()
    return safe if len(safe) <= 80 else safe[:77] + "..."
