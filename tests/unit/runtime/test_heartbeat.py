"""A worker's leases are renewed beside its loop, as long as that is alive."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from weft.runtime import heartbeat
from weft.runtime.client import WeaverClient
from weft.runtime.heartbeat import Heartbeat

LEASE_S = 0.02
LONG_S = 10.0


class Weaver:
    """Takes renewals; the first one it does not answer."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.renewed = threading.Event()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.url.path, json.loads(request.content)))
        if len(self.asked) == 1:
            raise httpx.ConnectError("nobody is there")
        self.renewed.set()
        return httpx.Response(204)


@contextmanager
def beating(weaver: Weaver, held: dict[str, int]) -> Iterator[Heartbeat]:
    line = WeaverClient("http://weaver", transport=httpx.MockTransport(weaver))
    beats = Heartbeat(line, "w-1", lambda: held)
    beats.synced(LEASE_S)
    beats.start()
    yield beats
    beats.end()
    beats.join(LONG_S)
    assert not beats.is_alive()


def test_leases_are_renewed_also_after_the_weaver_was_away() -> None:
    weaver = Weaver()
    with beating(weaver, {"clean": 3}):
        assert weaver.renewed.wait(LONG_S)
    assert weaver.asked[1] == ("/workers/w-1/renew", {"leases": {"clean": 3}})


def test_a_loop_that_has_been_silent_for_long_is_not_spoken_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heartbeat, "LONGEST_SILENCE_S", -1.0)
    weaver = Weaver()
    with beating(weaver, {"clean": 3}) as beats:
        beats.join(20 * LEASE_S)
    assert weaver.asked == []
