"""Deployment: a project becomes the one that runs. What would drop or mix recorded things is told first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weft.errors import WeftError
from weft.operations.run import OperationBusyError
from weft.operations.step import describe
from weft.project.change import Change, compare_pipeline, compare_source
from weft.project.definition import Project
from weft.queries.change import compare_kept
from weft.steps.compile import apply_schema
from weft.weaver.catalog import Changes, Pipeline, declared, store_stream
from weft.weaver.store import Write
from weft.weaver.store.records import put
from weft.weaving.impact import check_in_place

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


class CannotChangeError(WeftError):
    """A deployment that would change what cannot be changed; nothing was."""

    code = "project.cannot-change"
    domain = "conflict"


class NeedsRecomputeError(WeftError):
    """A deployment after which pipelines have to be run again from their recorded input; nothing was changed."""

    code = "project.needs-recompute"
    domain = "conflict"


class OtherProjectError(WeftError):
    """The weaver runs another project; nothing was changed."""

    code = "project.other"
    domain = "conflict"

    def __init__(self, deployed: str, name: str) -> None:
        super().__init__(
            f"This weaver runs the project '{deployed}', and this is '{name}'.",
            hint="Name the weaver of your project with `--weaver`; if the project itself has a new name, say "
            "`--rename`.",
            deployed=deployed,
            project=name,
        )


@dataclass(frozen=True)
class Deployment:
    """What a deployment changes, and what becomes of the pipelines by it."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    effects: tuple[Change, ...] = ()
    steps: tuple[str, ...] = ()
    operation: str | None = None
    """The operation that runs pipelines again, if any has to be."""


async def deploy(
    weaver: Weaver,
    project: Project,
    *,
    recompute: bool = False,
    rename: bool = False,
    dry_run: bool = False,
    by: str | None = None,
) -> Deployment:
    """Make a project the deployed one; pipelines that it adds or changes are started, others untouched."""
    deployed = weaver.catalog.find_project()
    if deployed is not None and deployed.name != project.name and not rename:
        raise OtherProjectError(deployed.name, project.name)
    if deployed is not None:
        project = _following(project, deployed)
    writes, changes = weaver.catalog.deploy(project)
    effects = tuple(_effects(weaver, project, changes))
    _refuse(effects)
    _check_rules(weaver, project)
    again = tuple(dict.fromkeys(e.pipeline for e in effects if e.verdict == "recomputed"))
    told = Deployment(changes.added, changes.changed, changes.removed, effects)
    if again and dry_run and not recompute:
        return told
    if again and not recompute:
        reasons = "; ".join(f"{e.pipeline}: {e.what}" for e in effects if e.verdict == "recomputed")
        raise NeedsRecomputeError(
            f"{', '.join(again)} cannot go on with what is kept: {reasons}.",
            hint="Deploy with `--recompute` to run it again from its recorded input, with everything "
            "downstream; or declare a new pipeline beside it.",
            pipelines=list(again),
        )
    is_deployed = deployed is not None and deployed.hash == project.hash
    if not changes and is_deployed and not weaver.catalog.is_rebuilt():
        return told
    if again:
        return await _recompute(weaver, project, told, again, dry_run=dry_run, by=by)
    _check_free(weaver, project, changes)
    if not dry_run:
        events = weaver.events.write(
            "project.deployed", added=told.added, changed=told.changed, removed=told.removed
        )
        weaver.store.apply([*writes, *weaver.functions.deployed(project), *events])
        weaver.changed()
    return told


def _following(project: Project, old: Project) -> Project:
    """A project whose functions that are as they were keep the versions that they had.

    One that was recorded before the kernel counted is not another one for that, and its pipelines are not changed.
    """
    functions = {
        ref: function.following(old.functions[ref]) if ref in old.functions else function
        for ref, function in project.functions.items()
    }
    return replace(project, functions=functions)


def install(weaver: Weaver, version: str) -> None:
    """Make a stored version of the project the deployed one; the operation that does it holds what changes."""
    project = weaver.catalog.version(version)
    writes, changes = weaver.catalog.deploy(project)
    events = weaver.events.write(
        "project.deployed", added=changes.added, changed=changes.changed, removed=changes.removed
    )
    noted = weaver.functions.deployed(project)
    weaver.store.apply([*writes, *_left_behind(weaver, project), *noted, *events])
    weaver.changed()


def recomputed(weaver: Weaver, project: Project, names: list[str]) -> list[Pipeline]:
    """The pipelines that are made again, as the new version has them, and everything that reads what they write."""
    known = {pipeline.name: pipeline for pipeline in weaver.catalog.pipelines(removed=True)}
    after = {pipeline.name: pipeline for pipeline in declared(project)}
    found: dict[str, Pipeline] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        old, new = known.get(name), after.get(name)
        pipeline = new or old
        assert pipeline is not None
        if old is not None:
            pipeline = replace(pipeline, epoch=old.epoch, last_epoch=old.last_epoch)
        found[name] = pipeline
        written = {pipeline.stream, *weaver.catalog.written_by(name)}
        everyone = {**known, **after}.values()
        waiting += [other.name for other in everyone if written & set(other.inputs)]
    return weaver.catalog.in_order(list(found.values()))


async def _recompute(
    weaver: Weaver,
    project: Project,
    told: Deployment,
    again: tuple[str, ...],
    *,
    dry_run: bool,
    by: str | None,
) -> Deployment:
    weaver.store.apply([put("projects", project.hash, value=project)])
    request = {"project": project.hash, "pipelines": list(again)}
    if dry_run:
        steps = await weaver.operations.plan("recompute", request)
        return replace(told, steps=tuple(describe(steps)))
    operation = await weaver.operations.run("recompute", request, by=by)
    return replace(told, steps=tuple(operation.describe()), operation=operation.id)


def _effects(weaver: Weaver, project: Project, changes: Changes) -> Iterator[Change]:
    """What becomes of every pipeline that this deployment adds or changes and that has run before."""
    for name in (*changes.added, *changes.changed):
        known = weaver.catalog.find_pipeline(name)
        to = project.pipelines[name].to if name in project.pipelines else name
        yield from _other_writer(weaver, name, to)
        if known is None or weaver.knots.head(known.stream).last == 0:
            continue
        old = weaver.catalog.version(known.project)
        if name in project.pipelines and name in old.pipelines:
            yield from compare_pipeline(name, old, project)
            yield from compare_kept(name, old, project)
        elif name in project.streams and name in old.streams and name not in old.pipelines:
            yield from compare_source(old.stream(name), project.stream(name))


def _other_writer(weaver: Weaver, name: str, stream: str) -> Iterator[Change]:
    """A stream that another pipeline has written cannot be gone on with: the new one starts from the beginning."""
    known = weaver.catalog.find_stream(stream)
    if known is None or known.pipeline == name or weaver.knots.head(stream).last == 0:
        return
    if known.kind != "main":
        what = f"stream {stream} is written by rules on {known.origin}"
        yield Change(name, "refused", what)
    else:
        yield Change(
            name, "recomputed", f"{stream} was written by {known.pipeline or 'another pipeline'}"
        )


def _refuse(effects: tuple[Change, ...]) -> None:
    refused = [effect for effect in effects if effect.verdict == "refused"]
    if refused:
        reasons = "; ".join(f"{effect.pipeline}: {effect.what}" for effect in refused)
        raise CannotChangeError(
            f"The project cannot be deployed over what is recorded: {reasons}.",
            hint="Give what is new another name, and let what is recorded stand.",
            pipelines=list(dict.fromkeys(effect.pipeline for effect in refused)),
        )


def _check_rules(weaver: Weaver, project: Project) -> None:
    """Refuse a project on whose columns a rule that is in force could not work, or that needs what one drops."""
    schemas = {name: stream.schema for name, stream in project.streams.items()}
    for rule in weaver.rules.all(active=True):
        before = schemas.get(rule.stream)
        if before is None:
            continue
        try:
            after = apply_schema(rule.steps, before, project.functions)
            if rule.output is None:
                check_in_place(project, rule.stream, before, after)
        except WeftError as error:
            raise CannotChangeError(
                f"Rule '{rule.id}' on stream '{rule.stream}' does not fit the project: {error.message}",
                code="project.breaks-rule",
                hint=f"Retire it first with `weft rule retire {rule.id}`, or keep what it needs.",
                rule=rule.id,
            ) from error
        schemas[rule.output or rule.stream] = after


def _check_free(weaver: Weaver, project: Project, changes: Changes) -> None:
    """Refuse to change what an operation holds, or what stands downstream of it."""
    touched = {*changes.added, *changes.changed, *changes.removed}
    read = {s for one in declared(project) if one.name in touched for s in one.inputs}
    for pipeline in weaver.catalog.pipelines(removed=True):
        hold = weaver.operations.hold(pipeline.name)
        if hold is None:
            continue
        below = [one.name for one in weaver.catalog.downstream(pipeline)]
        written = {stream for name in below for stream in weaver.catalog.written_by(name)}
        if touched & set(below) or read & written:
            raise OperationBusyError(pipeline.name, hold.operation)


def _left_behind(weaver: Weaver, project: Project) -> list[Write]:
    """Streams that nobody writes any longer, because their pipeline writes to another one now."""
    names = {pipeline.name: pipeline.stream for pipeline in declared(project)}
    before = {one.name: one.stream for one in weaver.catalog.pipelines(removed=True)}
    return [
        store_stream(replace(stream, pipeline="", dropped=True))
        for stream in weaver.catalog.streams()
        if stream.pipeline in names
        and before.get(stream.pipeline) == stream.origin
        and names[stream.pipeline] != stream.origin
    ]
