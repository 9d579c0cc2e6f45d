"""Paths of the API that end in whatever a key or an id may be."""

from __future__ import annotations

import pytest
from starlette.routing import compile_path

from tests.unit.weaver.test_http import ask, deployed
from weft.weaver.routes.products import router


@pytest.mark.parametrize("key", ["a", "a/b", "two\nlines", "ends\n", "ü #%"])
def test_a_key_may_have_slashes_and_line_breaks(key: str) -> None:
    [path] = [one.path for one in router.routes if one.path.startswith("/products/{name}/")]
    found = compile_path(path)[0].match(f"/products/profile/{key}")
    assert found is not None and found["key"] == key


@pytest.mark.parametrize(
    ("method", "path", "code", "name"),
    [
        ("GET", "/rules/a%2Fb", "rule.missing", "a/b"),
        ("POST", "/rules/a%2fb/retire", "rule.missing", "a/b"),
        ("GET", "/functions/fns:odd%2Fx", "function.missing", "fns:odd/x"),
        ("DELETE", "/replays/..%2F..", "operation.missing", "../.."),
        ("GET", "/streams/%2E%2E%2Frules", "stream.missing", "../rules"),
        ("GET", "/products/a%2Fb/c%2Fd", "project.unknown-name", "a/b"),
    ],
)
def test_a_quoted_slash_is_part_of_a_name(method: str, path: str, code: str, name: str) -> None:
    answer = ask(method, path, weaver=deployed()).json()
    assert answer["code"] == code
    assert name in answer["ids"].values()
