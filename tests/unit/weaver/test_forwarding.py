"""A weaver that stands by hands requests on to the one that leads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from weft.weaver import forwarding
from weft.weaver.forwarding import Forwarding


def streamed(status: int, body: bytes, **headers: str) -> httpx.Response:
    """An answer that comes in two parts."""

    async def parts() -> AsyncIterator[bytes]:
        yield body[:3]
        yield body[3:]

    return httpx.Response(status, content=parts(), headers=headers)


class Known:
    """What is known of who leads."""

    def __init__(self) -> None:
        self.app: Any = None
        self.leader: str | None = None


class Leader:
    """The leader's side of the wire: answers, breaks, or is not there."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.answers: list[httpx.Response | Exception] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if self.answers else streamed(200, b'{"by": "leader"}')
        if isinstance(answer, Exception):
            raise answer
        return answer


async def our_own(scope: Scope, receive: Receive, send: Send) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"own " + body})


@asynccontextmanager
async def standing_by(known: Known, leader: Leader) -> AsyncIterator[httpx.AsyncClient]:
    app = Forwarding(known)  # type: ignore[arg-type]
    await app._http.aclose()
    app._http = httpx.AsyncClient(transport=httpx.MockTransport(leader))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://me") as client:
        yield client
    await app.close()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "WAIT_S", 0.5)
    monkeypatch.setattr(forwarding, "AGAIN_S", 0.01)


@contextmanager
def a_leader() -> Iterator[tuple[Known, Leader]]:
    known = Known()
    known.leader = "http://leader:1"
    yield known, Leader()


def test_a_request_is_handed_on_whole_and_its_answer_back() -> None:
    async def ask() -> None:
        with a_leader() as (known, leader):
            async with standing_by(known, leader) as line:
                leader.answers = [streamed(404, b'{"no": 1}', own="y")]
                answer = await line.post(
                    "/a%2Fb/c", params={"q": "1 2"}, content=b"{}", headers={"origin": "http://me"}
                )
        assert (answer.status_code, answer.json()) == (404, {"no": 1})
        assert answer.headers["own"] == "y"
        assert answer.headers["weft-leader"] == "http://leader:1"
        request = leader.asked[0]
        assert str(request.url) == "http://leader:1/a%2Fb/c?q=1+2"
        assert (request.method, request.content) == ("POST", b"{}")
        assert request.headers["host"] == "leader:1"
        assert "origin" not in request.headers
        assert request.headers["weft-forwarded"] == "1"

    asyncio.run(ask())


def test_what_was_not_taken_is_asked_again_of_who_leads_then() -> None:
    async def ask() -> None:
        with a_leader() as (known, leader):
            not_leading = streamed(503, b"", **{"retry-after": "1"})
            leader.answers = [httpx.ConnectError("refused"), not_leading]
            async with standing_by(known, leader) as line:
                assert (await line.post("/rules", content=b"1")).json() == {"by": "leader"}
            assert [request.content for request in leader.asked] == [b"1"] * 3

    asyncio.run(ask())


def test_what_may_have_been_done_is_not_asked_again() -> None:
    async def ask() -> None:
        with a_leader() as (known, leader):
            leader.answers = [httpx.ReadError("reset"), httpx.ReadError("reset")]
            async with standing_by(known, leader) as line:
                answer = await line.post("/rules", content=b"1")
                assert (answer.status_code, answer.json()["code"]) == (503, "weaver.leader-lost")
                assert len(leader.asked) == 1
                assert (await line.get("/rules")).json() == {"by": "leader"}

    asyncio.run(ask())


def test_a_request_that_waited_is_answered_here_when_this_weaver_leads() -> None:
    async def ask() -> None:
        known, leader = Known(), Leader()
        async with standing_by(known, leader) as line:
            asking = asyncio.create_task(line.post("/rules", content=b"1"))
            await asyncio.sleep(0.05)
            known.app = our_own
            assert (await asking).content == b"own 1"
        assert not leader.asked

    asyncio.run(ask())


def test_nobody_leads_for_too_long() -> None:
    async def ask() -> None:
        async with standing_by(Known(), Leader()) as line:
            answer = await line.get("/rules")
            assert (answer.status_code, answer.json()["code"]) == (503, "weaver.no-leader")
            assert answer.headers["retry-after"] == "1"

    asyncio.run(ask())


def test_what_was_handed_on_goes_no_further() -> None:
    async def ask() -> None:
        with a_leader() as (known, leader):
            async with standing_by(known, leader) as line:
                answer = await line.get("/rules", headers={"weft-forwarded": "1"})
            assert answer.json()["code"] == "weaver.no-leader"
            assert not leader.asked

    asyncio.run(ask())
