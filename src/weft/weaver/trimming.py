"""What a stream need not keep, as the steps of one operation: rows that expire, then knots that are forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weft.operations.step import Expire, Step
from weft.weaver.expiring import plan_expiry
from weft.weaver.forgetting import plan_forgetting

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver


async def plan_trim(weaver: Weaver, request: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps that let go of what a stream need not keep now; none where there is nothing."""
    rows = await plan_expiry(weaver, request)
    expiring = max((one.upto for one in rows if isinstance(one, Expire)), default=0)
    knots = await plan_forgetting(weaver, str(request["stream"]), expiring=expiring)
    return rows if knots is None else (*rows, knots)
