"""Products of a project file: by their parts or as a SELECT, and what is deployed of them is what was written."""

from __future__ import annotations

from typing import Any

from weft import codec
from weft.loading.deployed import checked
from weft.loading.load import load
from weft.products.tree import Product
from weft.project.definition import Project

TABLES = {
    "users": {"topic": "u", "key": ["email"], "columns": {"email": "string", "name": "string"}},
    "stars": {
        "topic": "s",
        "key": ["name", "repo"],
        "columns": {"name": "string", "repo": "string", "at": "timestamp"},
    },
}
PARTS = {
    "root": "users",
    "fields": {"loud": "upper(name)"},
    "parts": {
        "starred": {"many": "stars", "on": ["name"], "fields": ["repo"], "order": ["at desc"]}
    },
}
SELECT = """
SELECT u.email, upper(u.name) AS loud,
  (SELECT array_agg(struct(s.repo AS repo) ORDER BY s.at DESC) FROM stars s WHERE s.name = u.name) AS starred
FROM users u
"""


def project(**product: Any) -> Project:
    return load({"app_name": "shop", "tables": TABLES, "products": {"pages": product}})


def test_a_select_is_the_same_product_as_its_parts() -> None:
    by_parts, by_sql = project(**PARTS), project(sql=SELECT)
    assert by_sql.stream("pages").schema == by_parts.stream("pages").schema
    assert by_sql.stream("pages").key == ("email",)
    told = codec.from_form(Product, by_sql.pipeline("pages").product)
    assert told.tables() == ("users", "stars") and told.root.parts[0].order == (("at", True),)


def test_what_is_deployed_is_what_was_written() -> None:
    for one in (project(**PARTS, parallelism=3), project(sql=SELECT)):
        assert checked(one.to_dict()).hash == one.hash


def test_a_product_that_waits_for_no_transactions_is_kept_as_before_one_could() -> None:
    commits = {"topic": "app.transaction", "transactions": True, "key": "id"}
    waiting = load(
        {
            "app_name": "shop",
            "tables": {**TABLES, "commits": commits},
            "products": {"pages": {**PARTS, "transactions": "commits"}},
        }
    )
    assert checked(waiting.to_dict()).hash == waiting.hash
    assert waiting.pipeline("pages").inputs == ("users", "stars", "commits")
    assert set(project(**PARTS).pipeline("pages").product or ()) == {"name", "root", "parallelism"}


def test_a_table_and_a_product_say_that_their_rows_replace_one_another() -> None:
    found = project(**PARTS)
    assert all(found.stream(name).changing for name in ("users", "stars", "pages"))
    assert found.stream("pages").schema.names == ("email", "loud", "starred", "_change")
