"""A SELECT becomes the tree of a product, and what a tree cannot say is refused; no text does anything else."""

from __future__ import annotations

import string
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from weft.products.sql import from_sql
from weft.products.tree import Part, Product, ProductError

COLUMNS = {
    "users": ("id", "name", "city", "boss"),
    "orders": ("id", "user_id", "total", "status", "placed"),
    "items": ("order_id", "no", "article", "qty"),
    "articles": ("id", "name", "price"),
    "user-stars": ("id", "user", "at"),
    "texts": ("id", "lang", "odd-name"),
    "loose": ("a",),
}
KEYS = {
    "users": ("id",),
    "orders": ("id",),
    "items": ("order_id", "no"),
    "articles": ("id",),
    "user-stars": ("id",),
    "texts": ("id", "lang"),
    "loose": (),
}


def root(text: str) -> Part:
    product = from_sql("p", text, KEYS, COLUMNS)
    assert isinstance(product, Product)
    return product.root


def refused(text: str) -> ProductError:
    with pytest.raises(ProductError) as raised:
        root(text)
    assert raised.value.hint
    assert raised.value.ids["product"] == "p"
    return raised.value


ID = (("id", "id"),)


def test_columns_and_expressions_are_fields_and_where_is_the_filter() -> None:
    found = root(
        "SELECT u.ID, upper(Name) AS big, 1 AS one FROM users AS u WHERE city = 'x' AND (boss > 1 OR boss < 0)"
    )
    assert found == Part(
        "users",
        fields=(("id", "id"), ("big", "upper(name)"), ("one", "1")),
        filter="(city = 'x') AND (boss > 1 OR boss < 0)",
    )


def test_a_star_is_all_columns() -> None:
    assert root("SELECT * FROM users").fields == tuple((one, one) for one in COLUMNS["users"])
    assert root("SELECT t.* FROM texts t").fields[-1] == ("odd-name", "`odd-name`")  # type: ignore[index]


def test_a_table_joined_by_its_key_stands_inline_under_the_one_that_its_on_names() -> None:
    found = root(
        "SELECT o.total, u.name, b.name AS boss FROM orders o"
        " INNER JOIN users u ON o.user_id = u.id LEFT OUTER JOIN users b ON (b.id = u.boss)"
    )
    boss = Part("users", "b", on=(("id", "boss"),), fields=(("boss", "name"),), inline=True)
    user = Part(
        "users",
        "u",
        on=(("id", "user_id"),),
        fields=(("name", "name"),),
        required=True,
        inline=True,
        parts=(boss,),
    )
    assert found == Part("orders", fields=(("total", "total"),), parts=(user,))


def test_a_condition_in_on_narrows_the_part_and_can_complete_its_key() -> None:
    found = root(
        "SELECT t.`odd-name` AS odd FROM articles a LEFT JOIN texts t ON t.id = a.id AND t.lang = 'de'"
    )
    text = Part(
        "texts", "t", on=ID, fields=(("odd", "`odd-name`"),), filter="lang = 'de'", inline=True
    )
    assert found.parts == (text,)


def test_where_on_a_left_join_makes_it_required_and_all_on_the_way_to_it() -> None:
    found = root(
        "SELECT o.id, b.city FROM orders o LEFT JOIN users u ON u.id = o.user_id"
        " LEFT JOIN users b ON b.id = u.boss WHERE b.city = 'x'"
    )
    [user] = found.parts
    [boss] = user.parts
    assert (user.required, boss.required, boss.filter, user.filter) == (
        True,
        True,
        "city = 'x'",
        None,
    )


def test_an_inner_join_under_a_left_one_makes_both_required() -> None:
    found = root(
        "SELECT o.id, b.city FROM orders o LEFT JOIN users u ON u.id = o.user_id JOIN users b ON b.id = u.boss"
    )
    assert [part.required for _, part in found.walk()][1:] == [True, True]


def test_a_left_join_that_shows_nothing_is_left_out() -> None:
    assert root("SELECT o.id FROM orders o LEFT JOIN users u ON u.id = o.user_id").parts == ()


def test_many_rows_are_aggregated_and_collected_under_the_root() -> None:
    found = root(
        "SELECT o.id, count(i.*) AS n, sum(i.qty) AS q,"
        " array_agg(struct(i.no, a.name AS article) ORDER BY i.qty DESC, i.no) AS list"
        " FROM orders o LEFT JOIN items i ON i.order_id = o.id LEFT JOIN articles a ON a.id = i.article GROUP BY o.id"
    )
    on = (("order_id", "id"),)
    article = Part(
        "articles", "a", on=(("id", "article"),), fields=(("article", "name"),), inline=True
    )
    listed = Part(
        "items",
        "list",
        True,
        on,
        (("no", "no"),),
        order=(("qty", True), ("no", False)),
        parts=(article,),
    )
    sums = Part(
        "items", "i", True, on, inline=True, aggregate=(("n", "count(*)"), ("q", "sum(qty)"))
    )
    assert found == Part("orders", fields=ID, parts=(listed, sums))


@pytest.mark.parametrize(
    "item",
    [
        "json_agg(json_build_object('id', o.id))",
        "jsonb_agg(jsonb_build_object('id', o.id))",
        "collect_list(named_struct('id', o.id))",
        "array_agg(struct(o.id))",
        "coalesce(json_agg(json_build_object('id', o.id)) FILTER (WHERE o.id IS NOT NULL), '[]')",
        "coalesce(array_agg(struct(o.id)), array())",
    ],
)
def test_every_way_to_write_a_list_is_the_same_list(item: str) -> None:
    found = root(
        f"SELECT {item} AS o FROM users u LEFT JOIN orders o ON o.user_id = u.id GROUP BY u.id"
    )
    assert found.parts == (Part("orders", "o", True, (("user_id", "id"),), ID),)


def test_whole_rows_are_all_columns() -> None:
    for row in ("o", "o.*"):
        found = root(
            f"SELECT u.id, (SELECT json_agg({row}) FROM orders o WHERE o.user_id = u.id) AS l FROM users u"
        )
        assert found.parts == (Part("orders", "l", True, (("user_id", "id"),)),)


def test_an_inner_join_of_many_rows_that_shows_nothing_asks_that_there_is_one() -> None:
    found = root(
        "SELECT u.name FROM users u JOIN orders o ON o.user_id = u.id WHERE o.total > 1 GROUP BY u.id"
    )
    [part] = found.parts
    there = Part(
        "orders",
        "o",
        on=(("user_id", "id"),),
        fields=(),
        filter="total > 1",
        required=True,
        inline=True,
    )
    assert part == there


def test_subqueries_are_parts_and_may_be_several() -> None:
    found = root(
        "SELECT (SELECT count(*) FROM orders WHERE user_id = u.id AND status = 'open') AS n,"
        " coalesce((SELECT count(1) FROM `user-stars` s WHERE s.user = u.id), 0) AS stars,"
        " (SELECT b.name FROM users b WHERE b.id = u.boss) AS boss,"
        " (SELECT total FROM orders o WHERE o.user_id = u.id ORDER BY placed DESC LIMIT 1) AS latest"
        " FROM users u"
    )
    on = (("user_id", "id"),)
    assert found == Part(
        "users",
        fields=(),
        parts=(
            Part(
                "orders",
                "orders",
                True,
                on,
                filter="status = 'open'",
                inline=True,
                aggregate=(("n", "count(*)"),),
            ),
            Part(
                "user-stars",
                "s",
                True,
                (("user", "id"),),
                inline=True,
                aggregate=(("stars", "count(*)"),),
            ),
            Part("users", "b", on=(("id", "boss"),), fields=(("boss", "name"),), inline=True),
            Part(
                "orders",
                "o",
                on=on,
                fields=(("latest", "total"),),
                order=(("placed", True),),
                inline=True,
            ),
        ),
    )


def test_parts_that_are_not_shown_have_names_of_their_own() -> None:
    found = root(
        "SELECT (SELECT count(*) FROM orders o WHERE o.user_id = u.id) AS a,"
        " (SELECT sum(total) FROM orders o WHERE o.user_id = u.id) AS b,"
        " (SELECT json_agg(x) FROM orders x WHERE x.user_id = u.id) AS o FROM users u"
    )
    names = [part.name for part in found.parts]
    assert names[2] == "o"
    assert len(set(names)) == 3


def test_comments_are_passed_over() -> None:
    assert root("-- all\nSELECT /* this */ id -- one\nFROM users;").fields == ID


JOINED = "FROM orders o LEFT JOIN users u ON u.id = o.user_id"
MANY = "FROM users u LEFT JOIN orders o ON o.user_id = u.id"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT id FROM users",
        "SELECT id FROM users HAVING id > 1",
        "SELECT id FROM users LIMIT 1",
        "SELECT id FROM users ORDER BY id",
        "SELECT id FROM users TABLESAMPLE (5 PERCENT)",
        "SELECT row_number() OVER (ORDER BY id) AS n FROM users",
        "SELECT id FROM users UNION ALL SELECT id FROM users",
        "WITH u AS (SELECT * FROM users) SELECT * FROM u",
        "SELECT id FROM (SELECT * FROM users) u",
        "SELECT u.id FROM users u, orders o",
        "SELECT u.id FROM users u CROSS JOIN orders o",
        "SELECT u.id FROM users u RIGHT JOIN orders o ON o.id = u.id",
        "SELECT u.id FROM users u FULL JOIN orders o ON o.id = u.id",
        "SELECT u.id FROM users u NATURAL JOIN orders o",
        "SELECT u.id FROM users u LEFT SEMI JOIN orders o ON o.id = u.id",
        "SELECT u.id FROM users u LEFT ANTI JOIN orders o ON o.id = u.id",
        "SELECT u.id FROM users u JOIN orders o USING (id)",
        "SELECT u.id FROM users u JOIN orders o ON true",
        "SELECT u.id FROM users u JOIN orders o ON o.id = u.boss OR o.id = 1",
        "SELECT u.id FROM users u JOIN orders o ON o.id > u.boss",
        "SELECT u.id FROM users u JOIN orders o ON o.id <=> u.boss",
        "SELECT u.id FROM users u JOIN orders o ON o.id = u.boss AND u.name = 'x'",
        "SELECT u.id FROM users u JOIN orders o ON o.id = u.boss + 1",
        "SELECT u.id FROM users u JOIN orders o ON o.id = u.boss JOIN articles a ON a.id = o.id AND a.id = u.id",
        "SELECT u.id FROM users u JOIN LATERAL (SELECT 1) x ON true",
        "SELECT x FROM users LATERAL VIEW explode(name) t AS x",
        "SELECT id FROM shop.users",
        "SELECT * EXCEPT (id) FROM users",
        "SELECT u.* EXCEPT (id) FROM users u",
        "SELECT a FROM loose",
        f"SELECT concat(u.name, o.status) AS x {JOINED}",
        f"SELECT coalesce(u.name, '-') AS x {JOINED}",
        f"SELECT CASE WHEN u.name IS NULL THEN 1 END AS x {JOINED}",
        f"SELECT * {JOINED}",
        f"SELECT o.id {JOINED} WHERE u.name IS NULL",
        f"SELECT o.id {JOINED} WHERE u.name = o.status",
        f"SELECT o.id {JOINED} WHERE coalesce(u.name, 'x') = 'x'",
        f"SELECT o.id {JOINED} WHERE u.name = 'x' OR o.total > 1",
        "SELECT id FROM users WHERE id IN (SELECT user_id FROM orders)",
        "SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.user_id = u.id)",
        "SELECT EXISTS (SELECT 1 FROM orders) AS x FROM users",
        "SELECT id FROM users WHERE count(*) > 1",
        "SELECT id FROM users WHERE 1 = 1",
        "SELECT upper(name) FROM users",
        "SELECT count(*) AS n FROM users",
        "SELECT count(*) AS n FROM users GROUP BY id",
        f"SELECT count(*) AS n {MANY} GROUP BY u.id",
        f"SELECT count(DISTINCT o.id) AS n {MANY} GROUP BY u.id",
        f"SELECT sum(o.total) + 1 AS n {MANY} GROUP BY u.id",
        f"SELECT coalesce(sum(o.total), 0) AS n {MANY} GROUP BY u.id",
        f"SELECT sum(coalesce(o.total, 1)) AS n {MANY} GROUP BY u.id",
        f"SELECT sum(o.total * u.id) AS n {MANY} GROUP BY u.id",
        f"SELECT sum(u.id) AS n {MANY} GROUP BY u.id",
        f"SELECT string_agg(o.status, ',') AS n {MANY} GROUP BY u.id",
        f"SELECT array_agg(o.id) AS n {MANY} GROUP BY u.id",
        f"SELECT array_agg(struct(o.id, u.name)) AS n {MANY} GROUP BY u.id",
        f"SELECT array_agg(struct(o.id) ORDER BY u.name) AS n {MANY} GROUP BY u.id",
        f"SELECT array_agg(struct(o.id) ORDER BY o.id NULLS LAST) AS n {MANY} GROUP BY u.id",
        f"SELECT array_agg(struct(upper(o.status))) AS n {MANY} GROUP BY u.id",
        f"SELECT json_agg(json_build_object(o.id, 1)) AS n {MANY} GROUP BY u.id",
        f"SELECT o.status {MANY} GROUP BY u.id",
        f"SELECT count(o.id) AS n {MANY} GROUP BY u.name",
        f"SELECT count(o.id) AS n {MANY} GROUP BY u.id, o.id",
        f"SELECT count(o.id) AS n {MANY} GROUP BY ROLLUP (u.id)",
        f"SELECT count(o.id) AS n {MANY} GROUP BY 1",
        ("SELECT count(i.no) AS n FROM orders o LEFT JOIN users u ON u.id = o.user_id"
        " LEFT JOIN orders i2 ON i2.id = u.boss LEFT JOIN items i ON i.order_id = i2.id GROUP BY o.id"),
        ("SELECT count(i.no) AS n FROM orders o LEFT JOIN items i ON i.order_id = o.id"
        " JOIN articles a ON a.id = i.article GROUP BY o.id"),
        "SELECT struct(u.id, u.name) AS x FROM users u",
        "SELECT (SELECT total FROM orders o WHERE o.user_id = u.id) AS x FROM users u",
        "SELECT (SELECT count(*) FROM orders o) AS x FROM users u",
        "SELECT (SELECT count(*) FROM orders o WHERE o.user_id > u.id) AS x FROM users u",
        "SELECT (SELECT count(*) FROM orders o WHERE o.user_id = u.id LIMIT 1) AS x FROM users u",
        "SELECT (SELECT total FROM orders o WHERE o.user_id = u.id LIMIT 2) AS x FROM users u",
        "SELECT (SELECT o.id, o.total FROM orders o WHERE o.id = u.boss) AS x FROM users u",
        "SELECT (SELECT count(*) FROM orders o WHERE o.user_id = u.id) + 1 AS x FROM users u",
        "SELECT (SELECT count(*) FROM orders o JOIN items i ON i.order_id = o.id WHERE o.id = u.id) AS x FROM users u",
        ("SELECT (SELECT count(*) FROM orders o JOIN items i ON i.order_id = u.id AND i.no = u.boss"
        " WHERE o.user_id = u.id) AS x FROM users u"),
        f"SELECT (SELECT count(*) FROM orders x WHERE x.user_id = u.id) AS n {JOINED}",
    ],
)  # fmt: skip
def test_what_a_tree_cannot_say_is_refused_by_name(text: str) -> None:
    error = refused(text)
    assert error.code == "product.sql-unsupported"
    assert error.ids["construct"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "syntax"),
        ("SELECT", "syntax"),
        ("SELECT 1", "syntax"),
        ("SELECT id FROM", "syntax"),
        ("SELECT id FROM users; SELECT id FROM users", "syntax"),
        ("DROP TABLE users", "syntax"),
        ("VALUES (1)", "syntax"),
        ('SELECT "name" FROM users', "syntax"),
        ("SELECT id FROM users WHERE " + "(" * 70 + "id" + ")" * 70, "syntax"),
        ("SELECT nme FROM users", "unknown"),
        ("SELECT x.name FROM users u", "unknown"),
        ("SELECT x.* FROM users u", "unknown"),
        ("SELECT u.nme FROM users u", "unknown"),
        ("SELECT id FROM usrs", "unknown"),
        ("SELECT id FROM users u JOIN orders o ON o.id = u.boss", "ambiguous"),
        ("SELECT users.id FROM users JOIN users ON users.id = users.boss", "ambiguous"),
        ("SELECT u.name AS id FROM users u", "name"),
        ("SELECT u.name, u.city AS NAME FROM users u", "name"),
        ("SELECT u.name AS `a b` FROM users u", "name"),
        ("SELECT name AS _weft FROM users u", "name"),
        (f"SELECT u.id, o.total {MANY}", "multiplied"),
        (f"SELECT count(o.id) AS n, count(s.id) AS m {MANY} LEFT JOIN `user-stars` s ON s.user = u.id GROUP BY u.id",
         "multiplied"),
        ((f"SELECT u.id, array_agg(struct(o.id)) AS n, array_agg(struct(s.id)) AS m {MANY}"
         " LEFT JOIN `user-stars` s ON s.user = u.id GROUP BY u.id"), "multiplied"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_a_code(text: str, code: str) -> None:
    assert refused(text).code == f"product.sql-{code}"


def test_the_nearest_word_is_told() -> None:
    assert "'name'" in str(refused("SELECT nme FROM users").hint)
    assert "'users'" in str(refused("SELECT id FROM usrs").hint)


SPOKEN = """
select from where and or not join left inner on group by order limit as count sum array_agg json_agg struct filter
case when then end is null in between like exists distinct having union with over coalesce cast lateral using
u o s users orders items id name total user_id boss u.id o.id o.user_id u.name u.* * ( ) , . = <> < + - 1 'x' `id`
; :: [ ] -> : ? @ interval date true x.y.z /* */ -- values rollup all desc nulls first string int
"""
WORDS = [*SPOKEN.split(), "\n"]
WRITTEN = [
    f"SELECT u.id, count(o.id) AS n, json_agg(json_build_object('a', o.id) ORDER BY o.total) AS l {MANY} GROUP BY u.id",
    "SELECT u.name, (SELECT max(o.total) FROM orders o WHERE o.user_id = u.id AND o.status = 'x') AS m FROM users u",
    "SELECT o.id, upper(u.name) AS n FROM orders o JOIN users u ON u.id = o.user_id WHERE u.city LIKE 'a%'",
]


@given(some.lists(some.sampled_from(WORDS), max_size=25))
@settings(max_examples=300, deadline=None)
def test_no_words_raise_anything_else(words: list[str]) -> None:
    for text in (" ".join(words), "SELECT " + " ".join(words) + " FROM users u"):
        with suppress(ProductError):
            root(text)


@given(some.sampled_from(WRITTEN), some.data())
@settings(max_examples=400, deadline=None)
def test_no_change_of_a_query_raises_anything_else(text: str, data: some.DataObject) -> None:
    words: list[Any] = text.split(" ")
    for _ in range(data.draw(some.integers(1, 4))):
        place = data.draw(some.integers(0, len(words) - 1))
        new = data.draw(some.sampled_from([*WORDS, *words, ""]))
        words[place : place + data.draw(some.integers(0, 2))] = [new]
        words = words or ["x"]
    with suppress(ProductError):
        root(" ".join(words))


@given(some.text(max_size=60) | some.text(alphabet=string.printable, max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_text_raises_anything_else(text: str) -> None:
    for one in (text, f"SELECT {text} FROM users", f"SELECT id FROM users WHERE {text}"):
        with suppress(ProductError):
            root(one)
