"""What the weaver answers to a pin: the knot of a batch, and what the batch needs to know to be woven."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from weft.clock import parse_iso
from weft.lineage.identity import Identity
from weft.lineage.knot import Knot
from weft.weaving.rule import Rule
from weft.weaving.weave import Moment
from weft.windows.watermark import Watermarks


@dataclass(frozen=True)
class Pinned:
    """What the weaver fixed for a batch: its knot, the rules in force, the watermarks before it."""

    knot: Knot
    rules: tuple[Rule, ...]
    identity: Identity
    watermark_ms: int | None = None
    watermarks: Watermarks = field(default_factory=Watermarks)

    @property
    def now(self) -> datetime:
        """The one moment that every expression of this batch sees."""
        return parse_iso(self.knot.now)

    @property
    def moment(self) -> Moment:
        """What expressions get in place of the clock and the dice."""
        return Moment(self.now, self.knot.seed)
