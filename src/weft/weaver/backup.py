"""A backup: everything under a storage, copied while nothing writes to it, so that it can be gone on from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


def back_up(weaver: Weaver, to: str) -> dict[str, Any]:
    raise NotImplementedError
