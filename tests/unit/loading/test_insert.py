"""A table or a product added to the text of a project file: comments and order stay, and the file loads."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.loading.document import from_text
from weft.loading.insert import insert

USERS = "app_name: shop  # the shop\ntables:\n  users: {topic: u, key: id}  # people\n"
FORM = {"root": "users", "parts": {"self": {"one": "users", "on": {"id": "id"}}}}


@pytest.mark.parametrize(
    "text",
    [
        USERS,
        USERS + "products:\n",
        USERS + "products: {}  # none yet\n",
        USERS + "products:\n    a: {root: users}\n",
        "products:\n  a: {root: users}\n\n# the end of it\n\n" + USERS,
        USERS + "products:\n  a:\n    root: users\n    # a comment\nprocessing: {parallelism: 2}",
        USERS.rstrip(),
    ],
)
def test_an_entry_is_added_and_everything_else_stays(text: str) -> None:
    made = insert(text, "products", "pages", FORM)
    before, after = from_text(text).value, from_text(made)
    assert not after.flaws
    assert after.value == {**before, "products": {**(before.get("products") or {}), "pages": FORM}}
    assert all(line in made for line in text.splitlines() if "#" in line and "none yet" not in line)


def test_a_section_on_one_line_or_a_name_that_is_there_is_refused() -> None:
    for text in (
        USERS + "products: {a: {root: users}}\n",
        USERS + "products:\n  pages: {root: users}\n",
    ):
        with pytest.raises(WeftError) as refused:
            insert(text, "products", "pages", FORM)
        assert refused.value.code == "project.cannot-insert"


@pytest.mark.parametrize(
    "text",
    [
        '{"tables": {"users": {"key": ["id"]}}}',
        '{"tables": {"users": {"key": ["id"]}}, "products": {}}\n',
        "{\ntables: {users: {key: [id]}},\nproducts: {}\n}\n",
        '"products":\n  a: {root: users}\n' + USERS,
        "products:\n- a\n" + USERS,
        "products: |\n  a\n" + USERS,
        "- products\n",
        "",
        USERS + "...\n",
    ],
)
def test_a_file_that_is_written_in_another_way_is_refused(text: str) -> None:
    with pytest.raises(WeftError) as refused:
        insert(text, "products", "pages", FORM)
    assert refused.value.code == "project.cannot-insert"
