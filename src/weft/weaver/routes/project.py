"""The deployed project."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body as FromBody

from weft.loading.deployed import checked
from weft.project.definition import ProjectForm
from weft.project.secret import masked
from weft.weaver.deploy import Deployment, deploy
from weft.weaver.routes import Answer, UsesWeaver, make_router

router = make_router("project")


@router.get("/project", response_model=ProjectForm)
async def show(weaver: UsesWeaver) -> Answer:
    """The project as it is deployed, in its canonical form; what is secret in it is not shown."""
    return Answer(masked(weaver.catalog.project().to_dict()))


@router.get("/workers/{worker}/project", response_model=ProjectForm, tags=["workers"])
async def show_to_worker(weaver: UsesWeaver, worker: str, version: str | None = None) -> Answer:
    """The project with everything that a worker needs to run it; `version` is the hash of an earlier one."""
    weaver.workers.check_known(worker)
    catalog = weaver.catalog
    return Answer((catalog.find_version(version) if version else catalog.project()).to_dict())


@router.put("/project", response_model=Deployment)
async def put(
    weaver: UsesWeaver,
    form: Annotated[dict[str, Any], FromBody()],
    dry_run: bool = False,
    recompute: bool = False,
    rename: bool = False,
) -> Answer:
    """Deploy a project; it is checked as its file was. Says which pipelines are added, changed and removed.

    What cannot go on with what is kept is refused, or with `recompute` run again from its recorded input. A project
    of another name than the one that runs is refused, or with `rename` taken for the same one.
    """
    project = checked(form)
    told = await deploy(weaver, project, recompute=recompute, rename=rename, dry_run=dry_run)
    return Answer(told)
