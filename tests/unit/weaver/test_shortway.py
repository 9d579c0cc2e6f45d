"""Requests that take the short way are answered as the ordinary way answers them, right and wrong ones."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from tests.unit.weaver.test_http import deployed
from weft.weaver import shortway
from weft.weaver.app import make_app
from weft.weaver.weaver import Weaver

ORDINARY = "application/json; charset=utf-8"
"""Says the same, and is not what the short way looks for."""
WORKER = {"host": "here", "pid": 1, "master": "none", "started": "2026-01-01T00:00:00Z", "wait": 0}


async def send(
    client: httpx.AsyncClient, path: str, body: Any, *, kind: str, method: str = "POST"
) -> tuple[int, str, Any]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = await client.request(method, path, content=content, headers={"content-type": kind})
    return answer.status_code, answer.headers["content-type"], answer.json()


async def held(client: httpx.AsyncClient) -> dict[str, Any]:
    """A worker that holds the pipeline, and its batch."""
    given = await client.post("/workers/one/sync", json=WORKER)
    token = given.json()["pipelines"]["orders"]["token"]
    offsets = {"from": [None], "to": [{"0": 5}], "inputs": {}}
    who = {"worker": "one", "token": token}
    place = {"pipeline": "orders", "stream": "orders", "epoch": 0, "batch": 0}
    return {**who, **place, "offsets": offsets, "inputs": {}}


def client_of(weaver: Weaver) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app(weaver), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that took the short way."""
    paths: list[str] = []
    take = shortway.ShortWay._take

    async def noted(self: Any, route: Any, parts: Any, scope: Any, *rest: Any) -> None:
        paths.append(scope["path"])
        await take(self, route, parts, scope, *rest)

    monkeypatch.setattr(shortway.ShortWay, "_take", noted)
    return paths


def test_a_batch_is_pinned_confirmed_and_failed_alike_by_both_ways(taken: list[str]) -> None:
    weaver = deployed()

    async def run() -> None:
        async with client_of(weaver) as client:
            pin = await held(client)
            who = {"worker": "one", "token": pin["token"]}
            asked = [
                ("/pins", pin),
                ("/pins/orders/1/confirm", who),
                ("/pins/orders/fail", {**who, "reason": "no room"}),
                ("/pins/orders/1/confirm", who),
            ]
            for path, body in asked:
                short = await send(client, path, body, kind="application/json")
                again = await send(client, path, body, kind=ORDINARY)
                if path.endswith("/fail"):  # the second time there is nothing left to fail
                    assert (short[2], again[2]) == ({"knot": 1}, {"knot": None})
                else:
                    assert short == again
            assert taken == [path for path, _ in asked]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("/pins", {"token": 99}),
        ("/pins", {"token": -1}),
        ("/pins", {"token": 2**70}),
        ("/pins", {"stream": None}),
        ("/pins", {"pipeline": "none"}),
        ("/pins", {"inputs": {"clean": [1]}}),
        ("/pins", b"{"),
        ("/pins", b""),
        ("/pins", b"[]"),
        ("/pins", b'"\xed\xa0\x80"'),
        ("/pins", b'{"token": NaN}'),
        ("/pins/orders/one/confirm", {}),
        ("/pins/orders/-1/confirm", {}),
        ("/pins/orders/7/confirm", {}),
        ("/pins/none/1/confirm", {}),
        ("/pins/orders/1/complete", {"facts": {}}),
        ("/pins/orders/fail", {"reason": "x" * 10_001}),
    ],
)
def test_what_cannot_be_done_is_refused_alike_by_both_ways(path: str, changed: Any) -> None:
    weaver = deployed()

    async def run() -> None:
        async with client_of(weaver) as client:
            pin = await held(client)
            body = changed if isinstance(changed, bytes) else {**pin, **changed}
            short = await send(client, path, body, kind="application/json")
            assert short == await send(client, path, body, kind=ORDINARY)
            assert 400 <= short[0] < 500
            assert short[1] == "application/problem+json"

    asyncio.run(run())


def test_other_methods_and_paths_take_the_ordinary_way(taken: list[str]) -> None:
    weaver = deployed()

    async def run() -> None:
        async with client_of(weaver) as client:
            refused = await send(client, "/pins", {}, kind="application/json", method="PUT")
            assert (refused[0], refused[2]["code"]) == (405, "request.refused")
            assert (await send(client, "/pinsx", {}, kind="application/json"))[0] == 404
            assert (await send(client, "/pins/a/b/c/d", {}, kind="application/json"))[0] == 404
            assert taken == []

    asyncio.run(run())
