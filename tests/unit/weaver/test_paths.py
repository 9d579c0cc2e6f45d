"""Paths of the API that end in whatever a key or an id may be."""

from __future__ import annotations

import pytest
from starlette.routing import compile_path

from weft.weaver.routes.products import router


@pytest.mark.parametrize("key", ["a", "a/b", "two\nlines", "ends\n", "ü #%"])
def test_a_key_may_have_slashes_and_line_breaks(key: str) -> None:
    [path] = [one.path for one in router.routes if one.path.startswith("/products/{name}/")]
    found = compile_path(path)[0].match(f"/products/profile/{key}")
    assert found is not None and found["key"] == key
