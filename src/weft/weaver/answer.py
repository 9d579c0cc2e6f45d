"""What the service answers: values in the same form in which they are stored, as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from weft import canonical, codec
from weft.lineage.knot import Knot


class Answer(Response):
    """A value as a response; the route says in its `response_model` what it is.

    Names are sorted, unless the order of them is worth something to who reads it.
    """

    media_type = "application/json"

    def __init__(self, value: Any, *, status_code: int = 200, keeps_order: bool = False) -> None:
        super().__init__(_encoded(value, keeps_order), status_code=status_code)


def _encoded(value: Any, keeps_order: bool) -> bytes:
    if isinstance(value, Knot):
        return value.stored
    return (orjson.dumps if keeps_order else canonical.encode)(plain(value))


def plain(value: Any) -> Any:
    """A value as JSON holds it. A knot is told in the form in which it was sealed, so that its hash can be checked."""
    if isinstance(value, Knot):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return codec.to_form(value)
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
