"""The deployed project."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body

from weft.errors import WeftError
from weft.project.definition import Project
from weft.weaver.routes import UsesWeaver

router = APIRouter(tags=["project"])


@router.get("/project")
async def show(weaver: UsesWeaver) -> dict[str, Any]:
    """The project as it is deployed, in its canonical form."""
    return weaver.catalog.project().to_dict()


@router.put("/project")
async def deploy(
    weaver: UsesWeaver, form: Annotated[dict[str, Any], Body()], dry_run: bool = False
) -> dict[str, list[str]]:
    """Deploy a checked project; says which pipelines are added, changed and removed."""
    try:
        project = Project.from_dict(form)
    except (KeyError, TypeError, ValueError) as error:
        raise WeftError(
            f"The body is not a project in its canonical form: {error!r}.",
            code="project.unreadable",
            domain="user",
            hint="Deploy a project file with `weft apply`, which checks it first.",
        ) from error
    return weaver.deploy(project, dry_run=dry_run)
