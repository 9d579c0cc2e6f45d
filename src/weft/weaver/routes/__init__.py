"""REST by noun. A route reads the request, calls the weaver once, and returns what it said."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field

from weft.weaver.weaver import Weaver

LARGEST = 2**62
"""No number that a request may name is larger: keys of the store have room for it, and nothing counts so far."""


def _weaver(request: Request) -> Weaver:
    weaver: Weaver = request.app.state.weaver
    return weaver


UsesWeaver = Annotated[Weaver, Depends(_weaver)]
KnotNumber = Annotated[int, Field(ge=0, le=LARGEST)]
"""The number of a knot; 0 is before the first."""
Count = Annotated[int, Field(ge=1, le=1000)]
"""How many of something a request asks for."""
