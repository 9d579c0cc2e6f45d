"""The HTTP application of the weaver: routes by noun over one `Weaver`."""

from __future__ import annotations

from fastapi import FastAPI

import weft
from weft.weaver import problems
from weft.weaver.routes import (
    branches,
    events,
    knots,
    lineage,
    pipelines,
    project,
    records,
    rollbacks,
    rules,
    service,
    spine,
    state,
    watermarks,
    workers,
)
from weft.weaver.routes import streams as stream_routes
from weft.weaver.weaver import Weaver


def make_app(weaver: Weaver) -> FastAPI:
    """The application that serves this weaver."""
    app = FastAPI(
        title="Weft",
        version=weft.__version__,
        description="Streams whose logic can be changed, undone, explained and replayed while they run.",
    )
    app.state.weaver = weaver
    problems.install(app)
    for routes in (
        spine,  # first: routes are tried in order, and these are called for every batch
        service,
        project,
        pipelines,
        stream_routes,
        knots,
        lineage,
        records,
        rules,
        rollbacks,
        branches,
        watermarks,
        state,
        workers,
        events,
    ):
        app.include_router(routes.router)
    return app
