"""The line to weavers, of which there may be several."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from weft.errors import WeftError
from weft.runtime.client import WeaverAwayError, WeaverClient

Answer = Callable[[httpx.Request], httpx.Response]


def ok(request: httpx.Request, **headers: str) -> httpx.Response:
    return httpx.Response(200, json={"by": request.url.host}, headers=headers)


def gone(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def cut_off(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("reset", request=request)


class Weavers:
    """Hosts by name, with what each was asked."""

    def __init__(self, **hosts: Answer) -> None:
        self.hosts = hosts
        self.asked: list[str] = []
        addresses = ",".join(f"http://{name}" for name in hosts)
        self.line = WeaverClient(addresses, transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.host)
        return self.hosts[request.url.host](request)


def test_the_weaver_that_answered_is_asked_again() -> None:
    weavers = Weavers(a=gone, b=ok, c=ok)
    assert [weavers.line.call("POST", "/pins", {})["by"] for _ in range(3)] == ["b", "b", "b"]
    assert weavers.asked == ["a", "b", "b", "b"]


def test_what_may_have_been_done_is_not_asked_of_another() -> None:
    weavers = Weavers(a=cut_off, b=ok)
    with pytest.raises(WeaverAwayError):
        weavers.line.call("POST", "/rules", {})
    assert weavers.asked == ["a"]
    assert weavers.line.call("GET", "/rules")["by"] == "b"


def test_insisting_goes_from_weaver_to_weaver_until_one_answers() -> None:
    left = [cut_off, gone, gone, gone, ok]

    def next_one(request: httpx.Request) -> httpx.Response:
        return left.pop(0)(request)

    weavers = Weavers(a=next_one, b=next_one)
    weavers.line.insist("POST", "/pins", {})
    assert weavers.asked == ["a", "b", "a", "b", "a"]


def test_the_weaver_that_leads_is_asked_next_if_it_is_known() -> None:
    weavers = Weavers(a=lambda request: ok(request, **{"weft-leader": "http://b"}), b=ok)
    assert [weavers.line.call("GET", "/status")["by"] for _ in range(2)] == ["a", "b"]
    unknown = Weavers(a=lambda request: ok(request, **{"weft-leader": "http://evil"}), b=ok)
    assert [unknown.line.call("GET", "/status")["by"] for _ in range(2)] == ["a", "a"]


@pytest.mark.parametrize(
    "code", ["weaver.no-leader", "weaver.leader-lost", "store.away", "store.lost"]
)
def test_a_weaver_without_a_leader_is_away(code: str) -> None:
    told = WeftError("It is away.", code=code, domain="external").to_dict()
    left = [httpx.Response(503, json=told), httpx.Response(200, json=1)]
    weavers = Weavers(a=lambda _: left.pop(0))
    assert weavers.line.insist("POST", "/pins", {}) == 1


@pytest.mark.parametrize(
    "text", ["", "a:8080", "http://", "http://a,,http://b", "ftp://a", "http://a:x"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(WeftError) as caught:
        WeaverClient(text)
    assert caught.value.code == "weaver.bad-address"
