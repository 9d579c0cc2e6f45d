"""Requests that nobody thought of: made up from the API's own description, sent to a project that runs.

Each is answered with a status, a content type and a form that the description has; none is a defect, and the pipelines
go on. `WEFT_FUZZ` says how many requests are made per operation of the API.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.spark.projects import CLEAN, REVENUE, orders, shop
from weft.testing import Play, play
from weft.weaver.verification import verify_storage

EXAMPLES = int(os.environ.get("WEFT_FUZZ", "6"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
NAMES = ("orders", "clean-orders", "revenue", "clean", "rule", "branch", "orders.dead")


def known(value: Any, chance: random.Random) -> Any:
    """A name that there is in the place of a made-up one, now and then."""
    return chance.choice(NAMES) if isinstance(value, str) and chance.random() < 0.6 else value


def aim(case: Case, chance: random.Random) -> None:
    """Have a made-up request hit something, and end."""
    for part in (case.path_parameters, case.query, case.body):
        if isinstance(part, dict):
            for name in ("stream", "id", "name", "pipeline", "output"):
                if name in part:
                    part[name] = known(part[name], chance)
    if case.path == "/events":
        case.query = {**(case.query or {}), "stream": "false"}
    if case.path == "/workers/{worker}/sync" and isinstance(case.body, dict):
        case.body["wait"] = 0.0


def fuzz(run: Play, operation: Any) -> None:
    chance = random.Random(operation.label)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Case) -> None:
        aim(case, chance)
        case.call_and_validate(base_url=run.address, checks=CHECKS, timeout=120)

    ask()


def test_no_request_is_a_defect_and_the_pipelines_go_on(tmp_path: Path) -> None:
    with play(shop(clean=CLEAN, revenue=REVENUE), storage=tmp_path / "s") as run:
        run.feed("orders", orders(0, 12))
        run.attach(stream="orders", steps=[{"filter": "id >= 0"}], id="rule")
        run.post("/branches", {"stream": "orders", "name": "branch"})
        run.feed("orders", orders(12, 12))
        schema = schemathesis.openapi.from_url(f"{run.address}/openapi.json")
        found = [result.ok() for result in schema.get_all_operations()]
        assert len(found) > 50
        for operation in found:
            fuzz(run, operation)
        for pipeline in ("orders", "clean", "revenue"):
            run.api.post(f"/pipelines/{pipeline}/start").raise_for_status()
        run.feed("orders", orders(24, 12))
        assert {row["id"] for row in run.rows("orders")} == set(range(36))
        assert verify_storage(run.storage).findings == []
