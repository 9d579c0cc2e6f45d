"""The steps of operations, as values: what each does, in words for people. Each may be repeated.

What a step needs is in it, so that a plan that was written down can be gone on with by any weaver.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from weft.operations.cut import Cut, Span
from weft.replays.leg import Leg
from weft.weaving.rule import Rule


@dataclass(frozen=True)
class Stop:
    """Stop pipelines after the batch in hand; one that does not end in time is cancelled."""

    pipelines: tuple[str, ...]
    kind: Literal["stop"] = "stop"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"hold {', '.join(self.pipelines)}: finish the batch in hand, then stop"]


@dataclass(frozen=True)
class Plan:
    """Plan the rest again, now that everything stands still: batches that were in hand have tied their knots."""

    kind: Literal["plan"] = "plan"

    def describe(self) -> list[str]:
        """It is part of stopping."""
        return []


@dataclass(frozen=True)
class CutCheckpoint:
    """Make the checkpoint of a pipeline anew as it was at a knot; the old one stays."""

    cut: Cut
    kind: Literal["cut-checkpoint"] = "cut-checkpoint"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        batch = self.cut.keep_batch
        start = "the beginning" if batch is None else f"batch {batch}"
        return [
            f"cut the checkpoint of {self.cut.pipeline} back to {start} (epoch {self.cut.epoch})"
        ]


@dataclass(frozen=True)
class Retract:
    """Take the rows of knots back from the sinks that can give them back."""

    pipeline: str
    stream: str
    gone: Span
    sinks: tuple[str, ...]
    final: tuple[str, ...] = ()
    """Sinks that keep what they got."""
    kind: Literal["retract"] = "retract"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        knots = f"knots {self.gone.after + 1} to {self.gone.upto} of {self.stream}"
        lines = [f"take {knots} back from {sink}" for sink in self.sinks]
        return [
            *lines,
            *(f"leave {knots} in {sink}, which takes nothing back" for sink in self.final),
        ]


@dataclass(frozen=True)
class Restore:
    """Deliver knots to sinks again that an earlier rollback took back."""

    pipeline: str
    stream: str
    back: tuple[Span, ...]
    sinks: tuple[str, ...]
    kind: Literal["restore"] = "restore"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [
            f"deliver knots {span.after + 1} to {span.upto} of {self.stream} again to {sink}"
            for span in self.back
            for sink in self.sinks
        ]


@dataclass(frozen=True)
class CutTables:
    """Take the rows of knots out of the tables of a pipeline, and bring those of an earlier rollback back."""

    cut: Cut
    kind: Literal["cut-tables"] = "cut-tables"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        cut, lines = self.cut, []
        if cut.gone is not None:
            number = cut.last - cut.cut_after
            lines.append(
                f"cut {cut.stream} after knot {cut.cut_after}: {number} "
                f"knot{'s' if number != 1 else ''} up to {cut.last} are rolled back"
            )
        lines += [f"bring knots {s.after + 1} to {s.upto} of {cut.stream} back" for s in cut.revive]
        beside = [name for name in cut.streams if name != cut.stream]
        if beside and lines:
            lines.append(f"cut {', '.join(beside)} with it")
        return lines


@dataclass(frozen=True)
class Settle:
    """Say in the store what is true of the tables now: knots, heads, epochs, and the rules in force."""

    cuts: tuple[Cut, ...]
    stream: str
    to: int
    retire: tuple[str, ...] = ()
    restore: tuple[str, ...] = ()
    attach: Rule | None = None
    kind: Literal["settle"] = "settle"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        lines = [f"retire rule {rule}" for rule in self.retire]
        lines += [f"put rule {rule} in force again" for rule in self.restore]
        if self.attach is not None:
            lines.append(f"put rule {self.attach.id} in force on {self.attach.stream}")
        return lines


@dataclass(frozen=True)
class Install:
    """Make a version of the project the deployed one."""

    project: str
    kind: Literal["install"] = "install"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"deploy version {self.project[:10]} of the project"]


@dataclass(frozen=True)
class CatchUp:
    """Weave recorded rows into the output of a rule while its stream goes on."""

    rule: str
    stream: str
    output: str
    kind: Literal["catch-up"] = "catch-up"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"weave the recorded rows of {self.stream} into {self.output} by rule {self.rule}"]


@dataclass(frozen=True)
class Pause:
    """Let the batch in hand tie its knot and hold the next one back, without stopping the pipeline."""

    pipeline: str
    kind: Literal["pause"] = "pause"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"hold the next batch of {self.pipeline} back"]


@dataclass(frozen=True)
class JoinLive:
    """Weave what came since, and put the rule in force from the next knot on."""

    rule: str
    stream: str
    output: str
    kind: Literal["join"] = "join"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"join {self.output} to the live flow of {self.stream} at its newest knot"]


@dataclass(frozen=True)
class Unfill:
    """Take what was woven into the output of a rule out again, and retire the rule."""

    rule: str
    output: str
    kind: Literal["unfill"] = "unfill"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [
            f"take what was woven into {self.output} out again",
            f"retire rule {self.rule}",
        ]


@dataclass(frozen=True)
class Divide:
    """Copy the checkpoint of a pipeline with its state in another number of partitions, and compare both."""

    pipeline: str
    partitions: int
    batch: int
    epoch: int
    new_epoch: int
    kind: Literal["divide"] = "divide"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [
            f"copy the checkpoint of {self.pipeline} at batch {self.batch} into epoch {self.new_epoch}",
            f"move its state to {self.partitions} partitions",
            "compare every window before and after",
        ]


@dataclass(frozen=True)
class Switch:
    """Give pipelines the epochs that were made for them, or mark those as used up."""

    epochs: Mapping[str, int]
    adopt: bool = True
    kind: Literal["switch"] = "switch"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        if not self.adopt:
            return []
        return [f"go on with epoch {epoch} of {name}" for name, epoch in self.epochs.items()]


@dataclass(frozen=True)
class Copy:
    """Copy the whole storage while nothing writes to it."""

    name: str
    kind: Literal["copy"] = "copy"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"copy the store, streams, checkpoints and sources to backup {self.name}"]


@dataclass(frozen=True)
class LetGo:
    """Let pipelines go on."""

    pipelines: tuple[str, ...]
    kind: Literal["let-go"] = "let-go"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"let {', '.join(self.pipelines)} go on"]


@dataclass(frozen=True)
class Rerun:
    """Run a pipeline again over recorded knots, into the workspace of a replay."""

    leg: Leg
    kind: Literal["rerun"] = "rerun"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [self.leg.describe()]


@dataclass(frozen=True)
class CompareRows:
    """Compare the rows that a replay has made with those that are recorded."""

    stream: str
    after: int
    upto: int
    kind: Literal["compare"] = "compare"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [
            f"compare knots {self.after + 1} to {self.upto} of {self.stream} with what is recorded"
        ]


@dataclass(frozen=True)
class Clear:
    """Remove the workspace of a replay."""

    kind: Literal["clear"] = "clear"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return ["remove what was written into the workspace"]


@dataclass(frozen=True)
class Expire:
    """Take the rows of old knots out of a stream's table, and delete their files; the knots stay."""

    stream: str
    after: int
    """The last knot whose rows were gone before."""
    upto: int
    rows: int = 0
    bytes: int = 0
    kind: Literal["expire"] = "expire"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        knots = f"knots {self.after + 1} to {self.upto} of {self.stream}"
        return [f"let the rows of {knots} go ({self.rows:,} rows, {self.bytes:,} bytes)"]


@dataclass(frozen=True)
class Forget:
    """Forget the oldest knots of a stream, of which no rows are kept; the line begins with a later one."""

    stream: str
    first: int
    """The first knot that stays."""
    kind: Literal["forget"] = "forget"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"forget the knots of {self.stream} before {self.first}"]


@dataclass(frozen=True)
class Compact:
    """Put the small files of old knots together into few large ones; every row stays where its readers look."""

    stream: str
    upto: int
    kind: Literal["compact"] = "compact"

    def describe(self) -> list[str]:
        """What it does, a line each."""
        return [f"put the files of knots up to {self.upto} of {self.stream} together"]


Step = Annotated[
    Stop
    | Plan
    | CutCheckpoint
    | Retract
    | Restore
    | CutTables
    | Settle
    | Install
    | CatchUp
    | Pause
    | JoinLive
    | Unfill
    | Divide
    | Switch
    | Copy
    | Rerun
    | CompareRows
    | Clear
    | Expire
    | Forget
    | Compact
    | LetGo,
    Field(discriminator="kind"),
]

UNDOABLE = (Stop, Plan, CutCheckpoint, CatchUp, Pause, Divide, Copy, Rerun, CompareRows, Compact)
"""Steps after which everything can still be as it was."""

GIVE_UP = (Plan, CatchUp, JoinLive, Divide, Copy, Rerun, CompareRows, Compact)
"""Steps whose failure for good ends the operation by itself: nothing is lost by giving it up."""


def describe(steps: tuple[Any, ...]) -> list[str]:
    """The steps as people read them."""
    return [line for step in steps for line in step.describe()]
