"""The HTTP application of the weaver: routes by noun over one `Weaver`."""

from __future__ import annotations

import functools
from collections.abc import Collection

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp, Receive, Scope, Send

import weft
from weft.weaver import problems
from weft.weaver.gatehouse import LOOPBACK_NAMES, Gatehouse
from weft.weaver.routes import (
    alerts,
    anomalies,
    bisects,
    branches,
    events,
    functions,
    history,
    knots,
    lineage,
    operations,
    pipelines,
    products,
    project,
    records,
    replays,
    rollbacks,
    rules,
    scaling,
    service,
    spine,
    state,
    watermarks,
    workers,
)
from weft.weaver.routes import streams as stream_routes
from weft.weaver.shortway import WEAVER, ShortWay
from weft.weaver.weaver import Weaver

ROUTES = (
    spine,
    service,
    project,
    pipelines,
    stream_routes,
    knots,
    lineage,
    records,
    products,
    rules,
    functions,
    operations,
    rollbacks,
    replays,
    bisects,
    history,
    branches,
    scaling,
    watermarks,
    anomalies,
    alerts,
    state,
    workers,
    events,
)


def make_app(weaver: Weaver, *, hosts: Collection[str] = LOOPBACK_NAMES) -> ASGIApp:
    """The application that serves this weaver to whoever asks for one of these hosts."""
    app = _routes(frozenset(hosts))

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, WEAVER: weaver}, receive, send)

    return served


@functools.cache
def _routes(hosts: frozenset[str]) -> FastAPI:
    """All routes, whichever weaver a request is for: its scope says. FastAPI needs long to prepare them."""
    app = FastAPIOffline(
        title="Weft",
        version=weft.__version__,
        description="Streams whose logic can be changed, undone, explained and replayed while they run.",
        redoc_url=None,
        responses=problems.RESPONSES,
        # The weaver counts by itself; nobody need be asked with each request whether it is traced.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.add_middleware(ShortWay, routes=spine.router.routes)
    app.add_middleware(Gatehouse, hosts=hosts)
    problems.install(app)
    app.state.routes = [route for module in ROUTES for route in module.router.routes]
    for module in ROUTES:
        app.include_router(module.router)
    return app
