"""What every request passes: who may ask, how much, in which form; and what is told of a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from weft.loading.load import load
from weft.weaver.app import make_app
from weft.weaver.gatehouse import LARGEST_BODY
from weft.weaver.store.memory import MemoryStore
from weft.weaver.weaver import Weaver

PROJECT: dict[str, Any] = {
    "app_name": "shop",
    "streams": {
        "orders": {
            "source": {
                "kafka": {
                    "servers": "localhost:9092",
                    "topic": "orders",
                    "client": {"sasl.password": "hush", "client.id": "shop"},
                }
            },
            "schema": {"id": "long"},
        }
    },
    "pipelines": {
        "clean": {
            "from": "orders",
            "to": "clean-orders",
            "sinks": [
                {"kafka": {"topic": "out", "key": "id", "client": {"ssl.key.password": "hush"}}}
            ],
        }
    },
}


def ask(
    method: str,
    path: str,
    *,
    weaver: Weaver | None = None,
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
    json: Any = None,
) -> httpx.Response:
    """One request to a weaver in memory, as a client on this machine makes it."""

    async def run() -> httpx.Response:
        app = make_app(weaver or Weaver(MemoryStore()))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8080"
        ) as client:
            return await client.request(
                method, path, headers=dict(headers or {}), content=content, json=json
            )

    return asyncio.run(run())


def deployed() -> Weaver:
    weaver = Weaver(MemoryStore())
    assert ask("PUT", "/project", weaver=weaver, json=load(PROJECT).to_dict()).status_code == 200
    return weaver


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8080", ""]
)
def test_a_name_that_only_resolves_to_this_machine_is_not_answered(host: str) -> None:
    answer = ask("GET", "/health", headers={"host": host})
    assert (answer.status_code, answer.json()["code"]) == (421, "request.wrong-host")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8080", "[::1]:8080", "LOCALHOST"])
def test_this_machine_is_answered_by_any_of_its_names(host: str) -> None:
    assert ask("GET", "/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1.evil.example", "content-type": "text/plain"},
    ],
)
def test_a_page_of_another_site_changes_nothing(headers: dict[str, str]) -> None:
    weaver = deployed()
    answer = ask("POST", "/pipelines/clean/stop", weaver=weaver, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "request.foreign-page")
    assert weaver.catalog.pipeline("clean").desired == "running"


def test_the_weavers_own_pages_and_links_to_them_are_answered() -> None:
    weaver = deployed()
    own = {"origin": "http://127.0.0.1:8080", "sec-fetch-site": "same-origin"}
    assert ask("POST", "/pipelines/clean/stop", weaver=weaver, headers=own).status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert ask("GET", "/docs", headers=link).status_code == 200


def test_a_body_without_end_is_not_read() -> None:
    declared = ask(
        "PUT", "/project", headers={"content-length": str(LARGEST_BODY + 1)}, content=b"{"
    )
    assert (declared.status_code, declared.json()["code"]) == (413, "request.too-large")
    sent = ask("PUT", "/project", content=b" " * (LARGEST_BODY + 1))
    assert (sent.status_code, sent.json()["code"]) == (413, "request.too-large")


@pytest.mark.parametrize(
    "body",
    [
        b'{"stream": "orders", "to": 99999999999999999999999}',
        b'{"stream": "orders", "to": 1e400}',
        b'{"stream": "\\ud800", "to": 1}',
        b'{"stream": "orders", "to": NaN}',
        b'{"stream": "orders", "to": 1, "note": "' + b"x" * 10_001 + b'"}',
        b"\xff\xfe",
        b"[" * 2000,
        b"",
    ],
)
def test_what_no_store_can_hold_is_refused_and_not_a_defect(body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = ask("POST", "/rollbacks", weaver=deployed(), headers=headers, content=body)
    assert answer.status_code == 422 and answer.json()["code"] == "request.invalid"


def test_a_worker_that_says_too_little_is_refused() -> None:
    said = {"host": "h", "pid": 1, "master": "local", "started": "now", "pipelines": {"clean": {}}}
    answer = ask("POST", "/workers/w/sync", json=said)
    assert (answer.status_code, answer.json()["code"]) == (422, "request.invalid")


def test_a_method_that_a_path_does_not_take_is_told_which_it_does() -> None:
    answer = ask("DELETE", "/rules")
    assert answer.status_code == 405 and "POST" in answer.headers["allow"]
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_page_of_the_api_needs_no_other_machine() -> None:
    page = ask("GET", "/docs").text
    assert "http://" not in page.replace("http://127.0.0.1", "") and "https://" not in page
    script = page.split('src="')[1].split('"')[0]
    assert ask("GET", script).status_code == 200


def test_secrets_are_shown_to_workers_only() -> None:
    weaver = deployed()
    shown = ask("GET", "/project", weaver=weaver).text
    assert "hush" not in shown and '"client.id":"shop"' in shown and '"key":"id"' in shown
    assert ask("GET", "/workers/nobody/project", weaver=weaver).status_code == 404


def test_every_status_and_content_type_of_an_error_is_in_the_document() -> None:
    document = ask("GET", "/openapi.json").json()
    assert "Problem" in document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            told = operation["responses"]
            assert {"404", "405", "409", "413", "421", "422", "503"} <= set(told), (method, path)
            for status in ("404", "422"):
                assert list(told[status]["content"]) == ["application/problem+json"], (method, path)
