"""Functions, pipelines and rules by version: which there were, what they say, how two of them differ."""

from __future__ import annotations

import asyncio

from weft.project.definition import Project
from weft.weaver.definitions import (
    CodeDefinition,
    CodeDiff,
    compare_versions,
    define_function,
    define_pipeline,
    define_rule,
)
from weft.weaver.functions import CodeKind, CodeVersion
from weft.weaver.routes import Answer, UsesWeaver, make_router
from weft.weaver.weaver import Weaver

router = make_router("functions")


@router.get("/functions", response_model=list[CodeVersion])
async def list_versions(
    weaver: UsesWeaver, ref: str | None = None, kind: CodeKind | None = None
) -> Answer:
    """Every version of a function, pipeline or rule that was ever deployed or attached; of each the newest last."""
    return Answer(weaver.functions.all(kind=kind, ref=ref))


@router.get("/functions/{ref}", response_model=CodeDefinition)
async def show_newest(weaver: UsesWeaver, ref: str, kind: CodeKind | None = None) -> Answer:
    """A function, pipeline or rule as it is now, or was last."""
    return Answer(_define(weaver, weaver.functions.find(ref, kind=kind)))


@router.get("/functions/{ref}/{version}", response_model=CodeDefinition)
async def show(weaver: UsesWeaver, ref: str, version: str, kind: CodeKind | None = None) -> Answer:
    """One version; of its hash, the first digits that no other has will do."""
    return Answer(_define(weaver, weaver.functions.find(ref, version, kind=kind)))


@router.get("/functions/{ref}/{version}/diff/{other}", response_model=CodeDiff)
async def diff(
    weaver: UsesWeaver, ref: str, version: str, other: str, kind: CodeKind | None = None
) -> Answer:
    """How one version differs from another: a unified diff of the sources, and what else."""
    before, after = (
        _define(weaver, weaver.functions.find(ref, one, kind=kind)) for one in (version, other)
    )
    # Long sources take seconds to compare, and batches must not wait for it.
    return Answer(await asyncio.to_thread(compare_versions, before, after))


def _define(weaver: Weaver, found: CodeVersion) -> CodeDefinition:
    if found.kind == "rule":
        project: Project | None = weaver.catalog.find_project()
        known = project.functions if project else {}
        versions = {ref: function.version for ref, function in known.items()}
        return define_rule(found, weaver.functions.rule_of(found), versions)
    define = define_function if found.kind == "function" else define_pipeline
    return define(found, weaver.functions.project_of(found))
