"""Aggregates as authors write them."""

from __future__ import annotations

import pytest

from weft.windows.aggregate import Aggregate, AggregateError, parse_aggregate, parse_aggregates


def test_aggregates_keep_their_order_and_the_text_of_their_arguments() -> None:
    parsed = parse_aggregates({"orders": "count(*)", "revenue": "SUM( total  * rate )"})
    assert parsed == (
        Aggregate("orders", "count"),
        Aggregate("revenue", "sum", ("total  * rate",)),
    )


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("count(email)", Aggregate("x", "count", ("email",))),
        ("mean(a)", Aggregate("x", "avg", ("a",))),
        ("first(a, true)", Aggregate("x", "first", ("a",), skips_nulls=True)),
        ("max_by(coalesce(a, b), at)", Aggregate("x", "max_by", ("coalesce(a, b)", "at"))),
        ("approx_percentile(a, 0.5)", Aggregate("x", "approx_percentile", ("a",), (0.5,))),
        (
            "percentile_approx(a, array(0.5, 0.9), 100)",
            Aggregate("x", "approx_percentile", ("a",), (0.5, 0.9), is_many=True),
        ),
        ("min(tags['a,b'])", Aggregate("x", "min", ("tags['a,b']",))),
    ],
)
def test_functions_are_parsed(text: str, parsed: Aggregate) -> None:
    assert parse_aggregate("x", text) == parsed


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("x", "total", "aggregate.syntax"),
        ("x", "sum(a) + 1", "aggregate.syntax"),
        ("x", "sum(a) / count(*)", "aggregate.syntax"),
        ("x", "sum(a", "aggregate.syntax"),
        ("x", "sum(a); drop table b", "aggregate.syntax"),
        ("x", "summ(a)", "aggregate.function"),
        ("x", "java_method('a', 'b')", "aggregate.function"),
        ("x", "max_by(a)", "aggregate.arguments"),
        ("x", "first(a, maybe)", "aggregate.arguments"),
        ("x", "count(distinct a)", "aggregate.distinct"),
        ("x", "approx_percentile(a, 50)", "aggregate.share"),
        ("x", "approx_percentile(a, b)", "aggregate.share"),
        ("window", "count(*)", "aggregate.name"),
    ],
)
def test_what_is_no_aggregate_is_refused_with_a_hint(name: str, text: str, code: str) -> None:
    with pytest.raises(AggregateError) as refused:
        parse_aggregate(name, text)
    assert refused.value.code == code
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "types", "result"),
    [
        ("count(*)", [], "bigint"),
        ("sum(a)", ["int"], "bigint"),
        ("sum(a)", ["decimal(10,2)"], "decimal(20,2)"),
        ("avg(a)", ["decimal(10,2)"], "decimal(14,6)"),
        ("avg(a)", ["int"], "double"),
        ("max(a)", ["string"], "string"),
        ("collect_set(a)", ["string"], "array<string>"),
        ("approx_percentile(a, array(0.5))", ["double"], "array<double>"),
    ],
)
def test_the_type_of_an_aggregate_is_known_before_it_runs(
    text: str, types: list[str], result: str
) -> None:
    assert parse_aggregate("x", text).result_type(types) == result


def test_a_sum_of_texts_is_refused() -> None:
    with pytest.raises(AggregateError) as refused:
        parse_aggregate("x", "sum(a)").result_type(["string"])
    assert refused.value.code == "aggregate.type"
