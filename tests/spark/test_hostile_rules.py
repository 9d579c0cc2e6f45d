"""Hostile and wrong rules: each is refused with a code and a hint before anything changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.spark.projects import CLEAN, orders, shop
from weft.testing import Play, play


def filtering(expression: Any) -> dict[str, Any]:
    return {"steps": [{"filter": expression}]}


def setting(expression: str, column: str = "email") -> dict[str, Any]:
    return {"steps": [{"set": {column: expression}}]}


REFUSED = "expression.refused-function"

# The rule beside its stream, and the code that it is refused with.
HOSTILE: list[tuple[dict[str, Any], str]] = [
    # What is not there, or does not fit.
    (filtering("e_mail = 'x'"), "expression.unknown-column"),
    (filtering("_weft.nothing = 1"), "expression.unknown-column"),
    (filtering("total + 1"), "expression.not-boolean"),
    (setting("email + interval 1 day"), "expression.type"),
    (setting("lower(email, country)"), "expression.arguments"),
    (setting("lowr(email)"), "expression.unknown-function"),
    (setting("upper(email"), "expression.syntax"),
    (setting("   "), "step.invalid"),
    (setting("1", column="_weft"), "step.reserved-column"),
    (setting("cast(total as nonsense)", column="total"), "expression.syntax"),
    ({"steps": [{"drop": "e_mail"}]}, "schema.unknown-column"),
    ({"steps": [{"rename": {"email": "country"}}]}, "schema.duplicate-column"),
    ({"steps": [{"select": []}]}, "step.invalid"),
    ({"steps": [{"filtr": "id > 0"}]}, "step.unknown-kind"),
    ({"steps": [{"filter": "id > 0", "set": {}}]}, "step.invalid"),
    ({"steps": [{"filter": None}]}, "step.invalid"),
    ({"steps": [{"function": "os:system"}]}, "step.unknown-function"),
    ({"steps": [{"function": "../../etc/passwd:main"}]}, "step.unknown-function"),
    ({"steps": []}, "rule.empty"),
    ({"steps": [{"filter": "id > 0"}] * 101}, "rule.too-large"),
    # What would break a pipeline that reads the stream.
    ({"steps": [{"drop": "total"}]}, "rule.breaks-pipeline"),
    (setting("cast(total as string)", column="total"), "rule.changes-type"),
    # Code, files and other tables.
    (setting("java_method('java.lang.Runtime', 'getRuntime')"), REFUSED),
    (setting("reflect('java.lang.System', 'exit', '1')"), REFUSED),
    (setting("try_reflect('java.util.UUID', 'randomUUID')"), REFUSED),
    (setting("JaVa_MeThOd('java.lang.System', 'getenv')"), REFUSED),
    (setting("`reflect`('java.lang.System', 'getenv', 'HOME')"), REFUSED),
    (setting("input_file_name()"), REFUSED),
    (setting("read_files('/etc/passwd')"), REFUSED),
    (setting("xpath_string(email, '//a')"), REFUSED),
    (setting("current_user()"), REFUSED),
    (setting("call_function('reflect', 'java.lang.System', 'exit', '1')"), REFUSED),
    (setting("(select max(email) from orders)"), "expression.subquery"),
    (filtering("id in (select id from other)"), "expression.subquery"),
    (filtering("exists (select 1)"), "expression.subquery"),
    (filtering("true; drop table orders"), "expression.several"),
    (filtering("true) -- "), "expression.syntax"),
    (filtering("true union select * from secrets"), "expression.syntax"),
    (filtering("drop table orders"), "expression.statement"),
    (setting("email from csv.`/etc/passwd`"), "expression.syntax"),
    # What cannot be pinned, or looks at other records.
    (setting("uuid()"), REFUSED),
    (filtering("id = max(id)"), "expression.aggregate"),
    (filtering("row_number() over (order by id) = 1"), "expression.window"),
    (setting("explode(split(email, ','))"), "expression.generator"),
    (setting("*"), "expression.star"),
    # What would take all time or memory.
    (filtering("email rlike '(?=a)b'"), "expression.pattern"),
    (filtering("regexp_like(email, '(x{1000}){1000}')"), "expression.pattern"),
    (filtering("email rlike '\\\\p{Nothing}'"), "rule.refused-by-spark"),
    (setting("repeat(email, 1000000000)"), "expression.size"),
    (filtering(f"email = '{'x' * 1_000_000}'"), "expression.too-long"),
    (filtering("(" * 500 + "true" + ")" * 500), "expression.too-deep"),
    (filtering(" or ".join(["id = 1"] * 5_000)), "expression.too-large"),
    # Names that break out of what they are put into.
    (setting("'x'", column="a`; drop"), "step.bad-name"),
    (setting("'x'", column="new\nline"), "step.bad-name"),
    (setting("'x'", column="nul\x00"), "step.bad-name"),
    (filtering("email = 'a\x00b'"), "expression.control-character"),
    ({**filtering("true"), "id": 'quo"te'}, "rule.bad-id"),
    ({**filtering("true"), "id": "new\nline"}, "rule.bad-id"),
    ({**filtering("true"), "id": "nul\x00"}, "rule.bad-id"),
    ({**filtering("true"), "id": "a" * 65}, "rule.bad-id"),
    ({**filtering("true"), "output": "../outside"}, "rule.bad-output"),
    ({**filtering("true"), "output": "it's"}, "rule.bad-output"),
    ({**filtering("true"), "output": "nul\x00"}, "rule.bad-output"),
    ({**filtering("true"), "output": "clean-orders"}, "rule.output-taken"),
    ({**filtering("true"), "output": "orders"}, "rule.output-taken"),
    # Shares, guards and starts that make no sense.
    ({**filtering("true"), "percent": 0}, "rule.percent"),
    ({**filtering("true"), "percent": 100.5}, "rule.percent"),
    ({**filtering("true"), "guards": ["dead_share < banana"]}, "rule.guard"),
    ({**filtering("true"), "guards": ["__import__('os')"]}, "rule.guard"),
    ({**filtering("true"), "on_breach": "explode"}, "rule.on-breach"),
    ({**filtering("true"), "start": 99}, "rule.bad-start"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    with play(shop(clean=CLEAN), storage=tmp_path_factory.mktemp("hostile")) as running:
        running.feed("orders", orders(0, 4))
        yield running


@pytest.mark.parametrize(
    ("rule", "code"), HOSTILE, ids=[f"{n}-{code}" for n, (_, code) in enumerate(HOSTILE)]
)
def test_it_is_refused_and_nothing_changes(run: Play, rule: dict[str, Any], code: str) -> None:
    rows, streams = run.rows("orders"), run.api.get("/streams").json()
    answer = run.api.post("/rules", json={"stream": "orders", **rule})
    assert 400 <= answer.status_code < 500
    problem = answer.json()
    assert (problem["code"], answer.headers["content-type"]) == (code, "application/problem+json")
    assert problem["hint"]
    assert len(problem["message"]) < 1000
    assert run.api.get("/rules").json() == []
    assert run.api.get("/streams").json() == streams
    assert run.rows("orders") == rows


def test_the_stream_goes_on_after_all_of_them(run: Play) -> None:
    run.feed("orders", orders(4, 4))
    assert [row["id"] for row in run.rows("orders")] == list(range(8))
    assert run.knots("orders")[-1].rules == ()
