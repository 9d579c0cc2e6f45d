"""A product's tree is a value: it is walked, and stored and read again as it was."""

from __future__ import annotations

import pytest

from weft import codec
from weft.gate.grammar import parse
from weft.products.tree import Part, Product, column

TREE = Product(
    "order-page",
    Part(
        "orders",
        fields=(("total", "total"), ("by", "upper(name)")),
        filter="not deleted",
        parts=(
            Part("customers", "customer", on=(("id", "customer"),), required=True, inline=True),
            Part(
                "lines",
                "lines",
                many=True,
                on=(("order_id", "id"), ("shop", "shop")),
                order=(("price", True), ("id", False)),
                limit=3,
                parts=(Part("articles", "article", on=(("id", "article"),), fields=()),),
            ),
            Part(
                "lines", "sums", many=True, on=(("order_id", "id"),), aggregate=(("n", "count(*)"),)
            ),
        ),
    ),
)


def test_a_product_is_stored_and_read_again_as_it_was() -> None:
    assert codec.unpack(Product, codec.pack(TREE)) == TREE


def test_all_parts_are_walked_behind_their_parents() -> None:
    paths = [path for path, _ in TREE.walk()]
    assert paths == [(), ("customer",), ("lines",), ("lines", "article"), ("sums",)]
    assert TREE.tables() == ("orders", "customers", "lines", "articles")
    assert TREE.depth == 3


def test_only_rows_that_are_shown_make_a_list() -> None:
    assert [part.is_list for _, part in TREE.walk()] == [False, False, True, False, False]


@pytest.mark.parametrize(
    "name", ["email", "_x1", "order", "case", "odd name", "a.b", "tick`", "größe", "1st"]
)
def test_the_sql_of_a_column_reads_that_column(name: str) -> None:
    read = parse(column(name))
    assert [one.name for one in read.find_all(type(parse("a")))] == [name]


def test_a_plain_name_stands_without_backticks() -> None:
    assert column("email") == "email"
