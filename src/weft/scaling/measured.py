"""What a worker measures of its load, and says every few seconds. Made in `runtime`, read in `weaver`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field

Amount = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**62)]
Several = Annotated[int, Field(ge=0, le=100_000)]


@dataclass(frozen=True)
class ExecutorsNow:
    """The executors of a worker: how many there are, and how many there may be."""

    running: Several
    asked: Several
    """How many there should be: more than run while some start, fewer while some are let go."""
    cores: Several
    """Of all that run."""
    minimum: Several = 1
    maximum: Several = 1
    elastic: bool = False
    """Whether their number can be changed: threads of one process are as many as they are."""
    start_up_s: Amount | None = None
    """How long executors that were asked for took to be there, if that was seen."""
    memory: Count = 0
    """The most bytes of heap that they have used."""

    @property
    def cores_each(self) -> float:
        """The cores of one executor."""
        return self.cores / self.running if self.running and self.cores else 1.0


@dataclass(frozen=True)
class PipelineWork:
    """What a pipeline did since its worker was last heard, and what waits."""

    seconds: Amount
    rows_in: Count = 0
    rows_out: Count = 0
    batches: Count = 0
    batch_s: Amount = 0.0
    run_s: Amount = 0.0
    """Seconds of its tasks on executors."""
    cpu_s: Amount = 0.0
    arrived: Count | None = None
    """Records that came to its source, where the source tells."""
    backlog: Count | None = None
    """Records that wait in its source, where the source tells."""

    @property
    def came(self) -> int:
        """Records that came, or where nobody tells, that were taken in."""
        return self.rows_in if self.arrived is None else self.arrived


@dataclass
class Carried:
    """What goes over from one report of a pipeline to the next: what waited, and the work for a batch in hand."""

    waiting: float | None = None
    run_s: float = 0.0

    def settle(self, work: PipelineWork, waiting: float | None) -> PipelineWork:
        """The same with the records that came, by what waits now, and with all the work for those that it took in.

        Tasks are counted as they end, records when their batch does: of a batch that takes longer than a report, most
        of the work comes in earlier ones.
        """
        run_s, arrived = self.run_s + work.run_s, work.arrived
        if arrived is None and waiting is not None and self.waiting is not None:
            arrived = max(0, round(work.rows_in + waiting - self.waiting))
        self.waiting, self.run_s = waiting, 0.0 if work.rows_in else run_s
        return replace(work, run_s=run_s, arrived=arrived)


@dataclass(frozen=True)
class WorkerLoad:
    """The load of a worker: its executors, and what each pipeline did."""

    executors: ExecutorsNow
    pipelines: Mapping[str, PipelineWork] = field(default_factory=dict)
