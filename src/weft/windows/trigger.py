"""When the panes of a window come, as its author writes it, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.windows.written import WindowError, flag, refuse_unknown, whole

KEYS = ("early", "late", "final", "count", "every_ms")


@dataclass(frozen=True)
class Cadence:
    """How often panes come: after a number of new records, or each time the watermark passes a
    multiple of a time that lies after the window's first record.
    """

    count: int | None = None
    every_ms: int | None = None

    def to_dict(self) -> dict[str, int]:
        """This pace as its author writes it."""
        pairs = (("count", self.count), ("every_ms", self.every_ms))
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True)
class Trigger:
    """When the panes of a window come.

    Without anything said, a pane comes when the watermark reaches the window's end, and another
    with each knot that brings records for it within the allowed lateness. `early` adds panes before
    the end; `late` makes late panes wait for a number of records; `final` leaves one pane, once the
    lateness has passed; `plain` replaces all of that by a pace alone.
    """

    early: Cadence | None = None
    late_count: int = 1
    final: bool = False
    plain: Cadence | None = None

    def to_dict(self) -> dict[str, Any]:
        """This trigger as its author writes it; what is not said is left out."""
        if self.plain is not None:
            return dict(self.plain.to_dict())
        written: dict[str, Any] = {}
        if self.early is not None:
            written["early"] = self.early.to_dict()
        if self.late_count != 1:
            written["late"] = {"count": self.late_count}
        if self.final:
            written["final"] = True
        return written


def parse_trigger(written: Any) -> Trigger:
    """The trigger that a window declares, or the first thing wrong with it."""
    if written is None:
        return Trigger()
    if not isinstance(written, Mapping):
        raise trigger_error(
            "A trigger is written as a mapping.", hint="For example {early: {count: 10}}."
        )
    refuse_unknown(written, KEYS, where="a trigger")
    plain = {name: written[name] for name in ("count", "every_ms") if name in written}
    if plain:
        if len(written) > len(plain):
            raise trigger_error(
                "A trigger has either a plain count or time, or early, late and final.",
                hint="Move the count or time into `early`, or leave the others out.",
            )
        return Trigger(plain=_pace(plain, where="a trigger"))
    early = written.get("early")
    late = written.get("late", {})
    if not isinstance(late, Mapping):
        raise trigger_error("`late` is written as a mapping.", hint="For example late: {count: 3}.")
    refuse_unknown(late, ("count",), where="`late`")
    trigger = Trigger(
        early=None if early is None else _pace(early, where="`early`"),
        late_count=whole(late, "count", least=1, default=1),
        final=flag(written, "final", default=False),
    )
    if trigger.final and (early is not None or "late" in written):
        raise trigger_error(
            "`final` gives one pane once the lateness has passed, and no early or late ones.",
            hint="Leave out `final`, or leave out `early` and `late`.",
        )
    return trigger


def _pace(written: Any, *, where: str) -> Cadence:
    if not isinstance(written, Mapping) or len(written) != 1:
        raise trigger_error(
            f"The pace of {where} is either a count or a time.",
            hint="Write {count: 10} or {every_ms: 1000}.",
        )
    refuse_unknown(written, ("count", "every_ms"), where=where)
    if "count" in written:
        return Cadence(count=whole(written, "count", least=1))
    return Cadence(every_ms=whole(written, "every_ms", least=1))


def trigger_error(message: str, *, hint: str) -> WindowError:
    """What is said of a trigger that makes no sense."""
    return WindowError(message, code="window.trigger", hint=hint)
