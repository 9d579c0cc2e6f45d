"""An operation: something that holds pipelines and changes several things, from request to end. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from weft.errors import WeftError
from weft.operations.step import (
    UNDOABLE,
    CatchUp,
    Clear,
    CompareRows,
    CutCheckpoint,
    Divide,
    JoinLive,
    LetGo,
    Rerun,
    Restore,
    Retract,
    Step,
    Switch,
    Unfill,
    describe,
)

Kind = Literal[
    "rollback", "fill", "repartition", "recompute", "backup", "replay", "expire", "compact"
]
Grip = Literal["claimed", "paused", "stopped"]


PATIENCE_S = 30.0


class OperationStatus(StrEnum):
    """Where an operation stands."""

    WAITING = "waiting"
    """Another operation holds a pipeline that it needs."""
    RUNNING = "running"
    FAILED = "failed"
    """A step failed for good; a person retries or aborts it. Its pipelines stay held."""
    ABORTING = "aborting"
    DONE = "done"
    ABORTED = "aborted"


OVER = frozenset({OperationStatus.DONE, OperationStatus.ABORTED})


@dataclass(frozen=True)
class Hold:
    """A pipeline in the hands of an operation: no other may have it.

    `claimed` pipelines run on; of `paused` ones the next batch waits; `stopped` ones are given to no worker.
    """

    pipeline: str
    operation: str
    grip: Grip = "claimed"
    patience_s: float = PATIENCE_S
    """For so long a batch in hand may go on once the pipeline is to be stopped."""


@dataclass(frozen=True)
class Operation:
    """What was asked for, the steps that do it, and how far they are."""

    id: str
    kind: Kind
    request: Mapping[str, Any]
    pipelines: tuple[str, ...]
    steps: tuple[Step, ...]
    asked: str
    by: str | None = None
    because: str | None = None
    status: OperationStatus = OperationStatus.RUNNING
    done: int = 0
    """How many steps are done."""
    attempts: int = 0
    """How often the step in hand was tried."""
    error: Mapping[str, Any] | None = None
    """Why the step in hand failed when it was last tried."""
    result: Mapping[str, Any] = field(default_factory=dict)
    given_up: bool = False
    """Whether it was aborted, by a person or because it could not go on."""
    reason: Mapping[str, Any] | None = None
    """Why it gave itself up; its steps back may fail for other reasons."""
    finishes: bool = False
    """Whether its abort came too late to undo anything, so that it is finished without the sinks."""
    finished: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens to it."""
        return self.status in OVER

    @property
    def step(self) -> Step | None:
        """The step in hand."""
        return self.steps[self.done] if self.done < len(self.steps) else None

    @property
    def _begun(self) -> tuple[Step, ...]:
        return self.steps[: self.done + 1]

    def advanced(self, *, steps: tuple[Step, ...] | None, result: Mapping[str, Any]) -> Operation:
        """After the step in hand was done; `steps` replace those that follow it."""
        made = self.steps[: self.done + 1]
        return replace(
            self,
            steps=self.steps if steps is None else (*made, *steps),
            done=self.done + 1,
            attempts=0,
            error=None,
            result={**self.result, **result},
        )

    def failed(self, error: WeftError, *, for_good: bool) -> Operation:
        """After the step in hand failed."""
        status = OperationStatus.FAILED if for_good else self.status
        return replace(self, status=status, attempts=self.attempts + 1, error=error.to_dict())

    def retried(self) -> Operation:
        """Going on after a failure, forwards or back."""
        status = OperationStatus.ABORTING if self.given_up else OperationStatus.RUNNING
        return replace(self, status=status, attempts=0)

    def aborting(self, *, reason: WeftError | None = None) -> Operation:
        """On its way to an end that changes nothing, or, past the point of no return, to a whole one.

        The step in hand counts as begun: half of it may be done. Only a join changes everything at its end. `reason`
        is why it gives itself up, where nobody asked for that.
        """
        begun = [
            step for step in self._begun if step is not self.step or not isinstance(step, JoinLive)
        ]
        finishes = any(not isinstance(step, UNDOABLE) for step in begun)
        return replace(
            self,
            status=OperationStatus.ABORTING,
            steps=_finish(self) if finishes else _undo(self),
            given_up=True,
            reason=reason.to_dict() if reason else None,
            finishes=finishes,
            done=0,
            attempts=0,
        )

    def ended(self, at: str) -> Operation:
        """At its end."""
        is_undone = self.given_up and not self.finishes
        status = OperationStatus.ABORTED if is_undone else OperationStatus.DONE
        return replace(self, status=status, finished=at)

    def describe(self) -> list[str]:
        """Its steps as people read them."""
        return describe(self.steps)


def _finish(operation: Operation) -> tuple[Step, ...]:
    """What is left to do, without what only the world outside can refuse."""
    left = operation.steps[operation.done :]
    return tuple(step for step in left if not isinstance(step, Retract | Restore))


def _undo(operation: Operation) -> tuple[Step, ...]:
    """What takes back what was made ready: rows that were filled in, and checkpoints that nobody uses."""
    begun = operation._begun
    undo: list[Step] = [
        Unfill(step.rule, step.output) for step in begun if isinstance(step, CatchUp)
    ]
    if any(isinstance(step, Rerun | CompareRows) for step in begun):
        undo.append(Clear())
    epochs = {
        step.cut.pipeline: step.cut.epoch for step in begun if isinstance(step, CutCheckpoint)
    }
    epochs |= {step.pipeline: step.new_epoch for step in begun if isinstance(step, Divide)}
    if epochs:
        undo.append(Switch(epochs, adopt=False))
    held = (LetGo(operation.pipelines),) if operation.pipelines else ()
    return (*undo, *held)
