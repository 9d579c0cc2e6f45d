"""Wrong requests: each is refused with a code, the name of the thing and a hint, and nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.spark.projects import CLEAN, orders, shop
from weft.testing import Play, play

RULE = {"stream": "orders", "steps": [{"filter": "id > 0"}]}
HUGE = 10**30

# Method, path, body, code, and what the message must name.
WRONG: list[tuple[str, str, Any, str, str]] = [
    ("GET", "/nothing", None, "request.unknown-path", "/nothing"),
    ("DELETE", "/pipelines/clean", None, "request.refused", "DELETE"),
    ("POST", "/health", None, "request.refused", "POST"),
    ("GET", "/pipelines/cleen", None, "pipeline.missing", "cleen"),
    ("GET", "/pipelines/cl%00ean", None, "pipeline.missing", "cl"),
    ("POST", "/pipelines/cleen/start", None, "pipeline.missing", "cleen"),
    ("POST", "/pipelines/cleen/stop", None, "pipeline.missing", "cleen"),
    ("GET", "/pipelines/cleen/stats", None, "pipeline.missing", "cleen"),
    ("GET", "/pipelines/clean/stats?knots=many", None, "request.invalid", "knots"),
    ("GET", "/pipelines/clean/stats?knots=-3", None, "request.invalid", "knots"),
    ("GET", f"/pipelines/clean/stats?knots={HUGE}", None, "request.invalid", "knots"),
    ("GET", "/streams/oders", None, "stream.missing", "oders"),
    ("GET", "/knots", None, "request.invalid", "stream"),
    ("GET", "/knots?stream=oders", None, "stream.missing", "oders"),
    ("GET", "/knots?stream=orders&limit=0", None, "request.invalid", "limit"),
    ("GET", "/knots?stream=orders&limit=1001", None, "request.invalid", "limit"),
    ("GET", "/knots?stream=orders&before=soon", None, "request.invalid", "before"),
    ("GET", f"/knots?stream=orders&before={HUGE}", None, "request.invalid", "before"),
    ("GET", "/knots?stream=orders&before=-5", None, "request.invalid", "before"),
    ("GET", "/knots/orders/99", None, "knot.missing", "99"),
    ("GET", "/knots/orders/-1", None, "request.invalid", "number"),
    ("GET", f"/knots/orders/{HUGE}", None, "request.invalid", "number"),
    ("GET", "/knots/orders/one", None, "request.invalid", "number"),
    ("GET", "/knots/oders/1", None, "stream.missing", "oders"),
    ("GET", "/lineage?stream=oders", None, "stream.missing", "oders"),
    ("GET", "/lineage?stream=orders&knot=99", None, "knot.missing", "99"),
    ("GET", "/lineage?stream=orders&knot=-1", None, "request.invalid", "knot"),
    ("GET", f"/lineage?stream=orders&knot={HUGE}", None, "request.invalid", "knot"),
    ("GET", "/lineage?stream=orders&direction=left", None, "request.invalid", "direction"),
    ("GET", "/lineage?stream=orders&depth=0", None, "request.invalid", "depth"),
    ("GET", "/watermarks?stream=oders", None, "stream.missing", "oders"),
    ("GET", "/rules/even", None, "rule.missing", "even"),
    ("POST", "/rules/even/retire", None, "rule.missing", "even"),
    ("POST", "/rules/even/promote", {"percent": 50}, "rule.missing", "even"),
    ("POST", "/rules", None, "request.invalid", "body"),
    ("POST", "/rules", b"{not json", "request.invalid", "body"),
    ("POST", "/rules", [], "request.invalid", "body"),
    ("POST", "/rules", {"stream": "orders"}, "request.invalid", "steps"),
    ("POST", "/rules", {**RULE, "steps": "id > 0"}, "request.invalid", "steps"),
    ("POST", "/rules", {**RULE, "stream": 7}, "request.invalid", "stream"),
    ("POST", "/rules", {**RULE, "stream": "oders"}, "stream.missing", "oders"),
    ("POST", "/rules", {**RULE, "persent": 5}, "request.invalid", "persent"),
    ("POST", "/rules", {**RULE, "percent": "half"}, "request.invalid", "percent"),
    ("POST", "/rules", {**RULE, "start": "now"}, "request.invalid", "start"),
    ("POST", "/rules", {**RULE, "start": -1}, "request.invalid", "start"),
    ("POST", "/rules", {**RULE, "start": HUGE}, "request.invalid", "start"),
    ("POST", "/rules?dry_run=maybe", RULE, "request.invalid", "dry_run"),
    ("POST", "/rules?dry_run=true&knots=0", RULE, "request.invalid", "knots"),
    ("POST", "/rollbacks", {"stream": "orders"}, "request.invalid", "to"),
    ("POST", "/rollbacks", {"stream": "orders", "to": -1}, "request.invalid", "to"),
    ("POST", "/rollbacks", {"stream": "orders", "to": HUGE}, "request.invalid", "to"),
    ("POST", "/rollbacks", {"stream": "orders", "to": 99}, "rollback.no-such-knot", "99"),
    ("POST", "/rollbacks", {"stream": "oders", "to": 1}, "stream.missing", "oders"),
    ("POST", "/rollbacks", {"stream": "orders", "to": 2}, "rollback.nothing", "orders"),
    ("GET", "/rollbacks/rollback-1", None, "operation.missing", "rollback-1"),
    ("POST", "/branches", {"stream": "oders", "name": "trial"}, "stream.missing", "oders"),
    ("POST", "/branches", {"stream": "orders", "name": "A B"}, "rule.bad-output", "A B"),
    (
        "POST",
        "/branches",
        {"stream": "orders", "name": "clean-orders"},
        "rule.output-taken",
        "clean",
    ),
    ("POST", "/branches", {"stream": "orders", "name": "b", "at": 99}, "rule.bad-start", "99"),
    ("POST", "/branches", {"stream": "orders", "name": "b", "at": -1}, "request.invalid", "at"),
    ("GET", "/branches/trial/diff", None, "branch.missing", "trial"),
    ("POST", "/branches/trial/promote", None, "branch.missing", "trial"),
    ("DELETE", "/branches/trial", None, "branch.missing", "trial"),
    ("PUT", "/project", {"name": "shop"}, "project.unreadable", "project"),
    ("PUT", "/project", [], "request.invalid", "body"),
    ("GET", "/events?after=then&stream=false", None, "request.invalid", "after"),
    ("GET", "/events?limit=0&stream=false", None, "request.invalid", "limit"),
    ("POST", "/pins", {"pipeline": "clean"}, "request.invalid", "stream"),
    ("POST", "/pins/orders/1/complete", {"worker": "w", "token": 1}, "request.invalid", "facts"),
    ("POST", "/workers/w/sync", {"host": "h"}, "request.invalid", "pid"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    with play(shop(clean=CLEAN), storage=tmp_path_factory.mktemp("requests")) as running:
        running.feed("orders", orders(0, 3))
        running.feed("orders", orders(3, 3))
        yield running


def everything(run: Play) -> list[Any]:
    """All that a request could have changed."""
    paths = (
        "/rules",
        "/knots?stream=orders",
        "/knots?stream=clean-orders",
        "/rollbacks",
        "/project",
    )
    found = [run.api.get(path).raise_for_status().json() for path in paths]
    pipelines = run.api.get("/pipelines").raise_for_status().json()
    states = [(p["id"], p["desired"], p["epoch"], p["version"]) for p in pipelines]
    events = run.api.get("/events", params={"stream": False, "after": 0}).json()
    return [*found, states, run.api.get("/streams").json(), run.api.get("/branches").json(), events]


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "named"),
    WRONG,
    ids=[f"{n}-{method}-{code}" for n, (method, _, _, code, _) in enumerate(WRONG)],
)
def test_a_wrong_request_is_refused_with_a_reason_and_changes_nothing(
    run: Play, method: str, path: str, body: Any, code: str, named: str
) -> None:
    before = everything(run)
    if isinstance(body, bytes):
        headers = {"content-type": "application/json"}
        answer = run.api.request(method, path, content=body, headers=headers)
    else:
        answer = run.api.request(method, path, json=body)
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["code"], problem["status"]) == (code, answer.status_code)
    assert named in problem["message"]
    assert problem["hint"]
    assert everything(run) == before
