"""weft_try: a value, or the reason why there is none, row by row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession


@pytest.fixture(params=["CODEGEN_ONLY", "NO_CODEGEN"])
def session(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """The session with and without generated code."""
    spark.conf.set("spark.sql.codegen.factoryMode", request.param)
    spark.conf.set("spark.sql.codegen.wholeStage", str(request.param == "CODEGEN_ONLY").lower())
    yield spark
    spark.conf.unset("spark.sql.codegen.factoryMode")
    spark.conf.unset("spark.sql.codegen.wholeStage")


def test_good_rows_have_values_and_bad_rows_have_reasons(session: SparkSession) -> None:
    rows = session.sql("SELECT weft_try(0L, 10 DIV (id - 1)) AS t FROM range(3)").collect()
    assert [row.t.v0 for row in rows] == [-10, None, 10]
    assert [row.t.error is None for row in rows] == [True, False, True]
    assert rows[1].t.error.startswith("[DIVIDE_BY_ZERO] Division by zero.")
    assert "SQLSTATE" not in rows[1].t.error
    assert "==" not in rows[1].t.error
    assert "spark.sql" not in rows[1].t.error


def test_null_is_a_value_without_a_reason(session: SparkSession) -> None:
    row = session.sql("SELECT weft_try(0L, nullif(id, 0)) AS t FROM range(1)").first()
    assert row is not None
    assert (row.t.v0, row.t.error) == (None, None)


@pytest.mark.parametrize(
    "value",
    ["string(id)", "array(id)", "named_struct('a', id)", "id > 1", "cast(id AS decimal(38,1))"],
)
def test_values_of_any_type_pass(session: SparkSession, value: str) -> None:
    rows = session.sql(f"SELECT {value} AS v, weft_try(0L, {value}) AS t FROM range(3)").collect()
    assert [row.v for row in rows] == [row.t.v0 for row in rows]


def test_a_part_that_two_expressions_share_is_computed_inside(session: SparkSession) -> None:
    rows = session.sql(
        "SELECT weft_try(0L, 1 DIV id + 1) AS a, weft_try(0L, 1 DIV id + 2) AS b,"
        " weft_try(0L, 1 DIV id + 1) AS c FROM range(2)"
    ).collect()
    assert [(row.a.v0, row.b.v0, row.c.v0) for row in rows] == [(None,) * 3, (2, 3, 2)]


def test_reasons_are_told_by_the_user_too(session: SparkSession) -> None:
    row = session.sql("SELECT weft_try(0L, raise_error('no ' || id)) AS t FROM range(1)").first()
    assert row is not None
    assert "no 0" in row.t.error


def test_constants_fail_like_columns(session: SparkSession) -> None:
    row = session.sql(
        "SELECT weft_try(0L, 1 / 0).error AS e, weft_try(0L, cast('x' AS int)).error AS f"
    ).first()
    assert row is not None
    assert row.e.startswith("[DIVIDE_BY_ZERO]")
    assert row.f.startswith("[CAST_INVALID_INPUT]")
