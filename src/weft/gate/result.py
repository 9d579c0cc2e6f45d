"""What a call gives, as the functions with rules of their own say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weft.gate.term import Term
from weft.schema.schema import Type


@dataclass(frozen=True)
class Result:
    """The type of a call, and whether by itself it never raises and never grows."""

    type: Type
    total: bool = False


Special = Callable[[str, list[Term]], Result]
