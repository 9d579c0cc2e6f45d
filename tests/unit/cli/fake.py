"""A weaver that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from click.testing import CliRunner, Result

from weft.cli.root import cli
from weft.cli.terminal import Terminal
from weft.errors import EDGES, WeftError


@dataclass
class FakeWeaver:
    """Answers by method and path; an error is answered as the weaver does, as problem+json."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    asked: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers[f"{request.method} {request.url.path}"]
        if isinstance(answer, WeftError):
            return httpx.Response(EDGES[answer.domain].http_status, json=answer.to_dict())
        return httpx.Response(200, json=answer)

    @property
    def body(self) -> Any:
        """The body of the last request."""
        return json.loads(self.asked[-1].content)

    @property
    def params(self) -> dict[str, str]:
        """The parameters of the last request."""
        return dict(self.asked[-1].url.params)


def run(*words: str, weaver: FakeWeaver | None = None) -> Result:
    """What a command prints and how it ends."""
    terminal = Terminal(transport=httpx.MockTransport(weaver or FakeWeaver()))
    return CliRunner().invoke(cli, list(words), obj=terminal)
