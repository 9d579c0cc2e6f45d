"""What a window aggregates is refused as a rule is: by the same gate, before anything runs."""

from __future__ import annotations

import pytest

from weft.loading.load import load
from weft.loading.problem import ProjectError

STREAM = {"source": {"mock": {}}, "schema": {"id": "long", "email": "string"}}
REFUSED = [
    ("max(java_method('java.lang.System', 'getenv', 'HOME'))", "expression.refused-function"),
    ("max((select 1))", "expression.subquery"),
    ("max(repeat(email, 1000000000))", "expression.size"),
    ("max(cast('now' as timestamp))", "expression.clock"),
    ("count(if(email rlike '(?=a)b', 1, null))", "expression.pattern"),
    ("sum(rand())", "aggregate.pinned"),
    ("max(now())", "aggregate.pinned"),
]


@pytest.mark.parametrize(("aggregate", "code"), REFUSED)
def test_a_hostile_argument_is_refused(aggregate: str, code: str) -> None:
    pipeline = {
        "from": "orders",
        "window": {"type": "tumbling", "size_ms": 10_000},
        "aggregate": {"one": aggregate},
        "to": "ones",
    }
    with pytest.raises(ProjectError) as refused:
        load({"app_name": "shop", "streams": {"orders": STREAM}, "pipelines": {"p": pipeline}})
    assert code in [problem.code for problem in refused.value.problems]
