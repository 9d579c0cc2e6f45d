"""The worker's line to the weaver: it waits with back-off while the weaver is away, and then goes on."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import orjson

from weft.errors import WeftError
from weft.logs import get_logger

log = get_logger(__name__)

FIRST_WAIT = 0.05
LONGEST_WAIT = 5.0


class WeaverAwayError(WeftError):
    """The weaver did not answer, and this call does not wait for it."""

    code = "weaver.away"
    domain = "external"
    retryable = True


class WeaverClient:
    """Calls of the weaver's REST interface; errors come back as the WeftErrors they were."""

    def __init__(
        self,
        address: str,
        *,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.address = address
        self._http = httpx.Client(
            base_url=address, timeout=timeout, transport=transport, trust_env=False
        )
        self._stopping = threading.Event()

    def call(self, method: str, path: str, body: Any = None, **params: Any) -> Any:
        """One request; raises WeaverAwayError when nobody answers."""
        content = None if body is None else orjson.dumps(body)
        headers = {"content-type": "application/json"} if content else {}
        try:
            response = self._http.request(
                method, path, content=content, headers=headers, params=params or None
            )
        except (httpx.TransportError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and not self._http.is_closed:
                raise  # httpx says so of a client that was closed, and only of that
            raise WeaverAwayError(
                f"The weaver at {self.address} does not answer: {error}.",
                hint="Start it with `weft up` or `weft weaver`.",
            ) from error
        answer = orjson.loads(response.content) if response.content else None
        if response.is_error:
            if not isinstance(answer, dict) or "code" not in answer:
                raise WeaverAwayError(
                    f"The weaver at {self.address} answered {response.status_code}."
                )
            raise WeftError.from_dict(answer)
        return answer

    def insist(self, method: str, path: str, body: Any = None) -> Any:
        """One request, repeated with back-off until the weaver answers or this client is closed."""
        wait = FIRST_WAIT
        while True:
            try:
                return self.call(method, path, body)
            except WeaverAwayError:
                if self._stopping.is_set():
                    raise
                if wait >= LONGEST_WAIT / 2:
                    log.warning("the weaver is away; trying again in %.1f s", wait)
                self._stopping.wait(wait)
                wait = min(wait * 2, LONGEST_WAIT)

    def close(self) -> None:
        """Stop waiting and close the connections."""
        self._stopping.set()
        self._http.close()
