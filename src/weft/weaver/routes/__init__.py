"""REST by noun. A route reads the request, calls the weaver once, and returns what it said."""

from typing import Annotated

from fastapi import Depends, Request

from weft.weaver.weaver import Weaver


def _weaver(request: Request) -> Weaver:
    weaver: Weaver = request.app.state.weaver
    return weaver


UsesWeaver = Annotated[Weaver, Depends(_weaver)]
