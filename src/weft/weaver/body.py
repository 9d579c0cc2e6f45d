"""The body of a request, read whole before anyone answers it. Called by what stands before the routes."""

from __future__ import annotations

from starlette.types import Message, Receive


async def whole_body(receive: Receive) -> bytes | None:
    """The whole body, whose size the gatehouse limits; None when whoever sent it went away."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def again(body: bytes, receive: Receive) -> Receive:
    """What hands out a body that was read once more, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again
