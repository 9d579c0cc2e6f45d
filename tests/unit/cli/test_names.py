"""Names that are empty, or look like parts of a path: they name nothing, and never something else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import orjson
import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from tests.unit.cli.fake import FakeWeaver, run
from weft.cli.root import cli
from weft.cli.terminal import Terminal
from weft.errors import EDGES, WeftError
from weft.loading.load import load
from weft.weaver.app import make_app
from weft.weaver.store.memory import MemoryStore
from weft.weaver.weaver import Weaver

PROJECT: dict[str, Any] = {
    "app_name": "shop",
    "streams": {"ev": {"source": {"mock": {}}, "schema": {"n": "long"}}},
    "pipelines": {"few": {"from": "ev", "steps": [{"filter": "n > 1"}], "to": "few-ev"}},
    "tables": {"users": {"topic": "users", "key": ["id"], "columns": {"id": "string"}}},
    "products": {"profile": {"root": "users"}},
}
NAMED = [
    ["alert", "remove", "NAME"],
    ["anomaly", "accept", "NAME"],
    ["bisect", "NAME", "--check", "n > 1"],
    ["function", "diff", "NAME", "a1", "b2"],
    ["function", "show", "NAME"],
    ["function", "show", "NAME", "a1"],
    ["history", "compact", "NAME"],
    ["history", "show", "NAME"],
    ["history", "trim", "NAME"],
    ["knot", "show", "NAME", "1"],
    ["lineage", "NAME"],
    ["operation", "abort", "NAME"],
    ["operation", "retry", "NAME"],
    ["operation", "show", "NAME"],
    ["pipeline", "repartition", "NAME", "2"],
    ["pipeline", "show", "NAME"],
    ["pipeline", "start", "NAME"],
    ["pipeline", "stats", "NAME"],
    ["pipeline", "stop", "NAME"],
    ["product", "explain", "NAME", "1"],
    ["product", "get", "NAME", "1"],
    ["product", "show", "NAME"],
    ["record", "blame", "NAME", "1"],
    ["record", "show", "NAME", "1"],
    ["record", "why-not", "NAME", "1"],
    ["replay", "drop", "NAME"],
    ["replay", "promote", "NAME"],
    ["replay", "show", "NAME"],
    ["replay", "step", "NAME", "1"],
    ["rule", "promote", "NAME"],
    ["rule", "retire", "NAME"],
    ["rule", "show", "NAME"],
    ["stream", "diff", "NAME"],
    ["stream", "drop", "NAME"],
    ["stream", "head", "NAME"],
    ["stream", "log", "NAME"],
    ["stream", "promote", "NAME"],
    ["stream", "show", "NAME"],
    ["stream", "watermarks", "NAME"],
    ["state", "NAME"],
]


class InMemory(httpx.BaseTransport):
    """The line to a weaver in this process."""

    def __init__(self, weaver: Weaver) -> None:
        self._app = make_app(weaver)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport) as client:
                return await client.request(
                    request.method, request.url, headers=request.headers, content=request.read()
                )

        answer = asyncio.run(ask())
        return httpx.Response(answer.status_code, content=answer.content)


@pytest.fixture(scope="module")
def terminal() -> Terminal:
    weaver = Weaver(MemoryStore())
    weaver.store.apply(weaver.catalog.deploy(load(PROJECT))[0])
    return Terminal(transport=InMemory(weaver))


def words(command: list[str], name: str) -> list[str]:
    return [name if word == "NAME" else word for word in command]


@pytest.mark.parametrize("command", NAMED, ids=" ".join)
def test_a_name_that_nothing_has_is_told_as_such(terminal: Terminal, command: list[str]) -> None:
    for name in ("", ".", "..", "../..", "a/b", "ev/1", "profile/1", "few/stop", "ü %2F"):
        ended = CliRunner().invoke(cli, words(command, name), obj=terminal)
        assert ended.stdout == "" and "error: " in ended.stderr, name
        assert ended.exit_code in (EDGES["user"].exit_code, EDGES["missing"].exit_code), name
        for code in ("cli.defect", "weaver.defect", "request.unknown-path", "request.refused"):
            assert f"[{code}]" not in ended.stderr, name


@pytest.mark.parametrize(
    "command",
    [
        ["rule", "show", ""],
        ["stream", "drop", ""],
        ["stream", "head", ""],
        ["function", "show", "rules:mask", ""],
        ["function", "diff", "rules:mask", "a1", ""],
        ["record", "show", "orders", ""],
        ["product", "get", "", "1"],
    ],
    ids=" ".join,
)
def test_no_request_is_made_for_a_name_that_is_empty(command: list[str]) -> None:
    weaver = FakeWeaver()
    ended = run(*command, "--output", "json", weaver=weaver)
    assert orjson.loads(ended.stderr)["code"] == "cli.no-name"
    assert weaver.asked == []


@pytest.mark.parametrize("key", ["", ".", "..", "a/b", "%2F", "ü #?"])
def test_a_key_may_be_any_text(key: str) -> None:
    weaver = FakeWeaver({f"GET /products/profile/{key}": WeftError("No.", code="some.code")})
    assert "[some.code]" in run("product", "get", "profile", key, weaver=weaver).stderr


def test_a_function_is_named_with_its_module() -> None:
    weaver = FakeWeaver({"GET /functions/rules:mask": WeftError("No.", code="some.code")})
    assert "[some.code]" in run("function", "show", "rules:mask", weaver=weaver).stderr


@pytest.mark.parametrize("name", ["", ".", "..", "../streams/ev", "ev/", "./ev"])
def test_rows_are_read_by_the_name_of_a_stream_and_not_by_a_path(tmp_path: Path, name: str) -> None:
    write_deltalake(tmp_path / "streams" / "ev", pa.table({"n": [1]}))
    read = ["--storage", str(tmp_path), "--output", "json"]
    assert orjson.loads(run("stream", "rows", "ev", *read).stdout) == [{"n": 1}]
    refused = run("stream", "rows", name, *read)
    assert orjson.loads(refused.stderr)["code"] == "stream.no-table"
