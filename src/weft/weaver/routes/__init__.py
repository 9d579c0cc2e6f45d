"""REST by noun. A route reads the request, calls the weaver once, and returns what it said."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.convertors import Convertor, register_url_convertor

from weft.weaver.answer import Answer
from weft.weaver.gatehouse import JsonRoute
from weft.weaver.shortway import WEAVER
from weft.weaver.weaver import Weaver

__all__ = [
    "LARGEST",
    "Answer",
    "Body",
    "Count",
    "KnotNumber",
    "Text",
    "UsesWeaver",
    "Whole",
    "make_router",
]

LARGEST = 2**62
"""No number that a request may name is larger: keys of the store have room for it, and nothing counts so far."""


class AnyText(Convertor[str]):
    """The rest of a path, with slashes and line breaks: a key or an id may have any."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


register_url_convertor("text", AnyText())


def make_router(noun: str) -> APIRouter:
    """The routes of a noun."""
    return APIRouter(tags=[noun], route_class=JsonRoute)


async def _weaver(request: Request) -> Weaver:
    # Async, though it waits for nothing: FastAPI hands what is not to a thread, for every request.
    weaver: Weaver = request.scope[WEAVER]
    return weaver


class Body(BaseModel):
    """The body of a request; what it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


UsesWeaver = Annotated[Weaver, Depends(_weaver)]
Whole = Annotated[int, Field(ge=0, le=LARGEST)]
KnotNumber = Annotated[int, Field(ge=0, le=LARGEST)]
"""The number of a knot; 0 is before the first."""
Count = Annotated[int, Field(ge=1, le=1000)]
"""How many of something a request asks for."""
Text = Annotated[str, Field(max_length=10_000)]
"""Something that people write for people."""
