"""Leases: a pipeline is run by one worker at a time, and a worker that lost its lease is refused.

Each time a lease changes hands its token rises; whatever a worker asks for carries the token it was given. Who holds a
lease is stored. How long it lives is counted in time that passed since its worker was last heard, not by the time of
day, which may be set back; a weaver that starts gives every lease its full time again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from weft.clock import Clock
from weft.errors import WeftError
from weft.weaver.store.records import Records, put

DURATION = timedelta(seconds=10)


class LeaseLostError(WeftError):
    """The worker's lease is gone: another worker may have taken over."""

    code = "lease.lost"
    domain = "conflict"

    def __init__(self, pipeline: str, *, worker: str, token: int) -> None:
        super().__init__(
            f"Worker '{worker}' no longer holds pipeline '{pipeline}': its lease (token {token}) "
            "was given back or passed to another worker.",
            hint="The worker stops its query; the one that holds the lease goes on.",
            pipeline=pipeline,
            worker=worker,
            token=token,
        )


@dataclass(frozen=True)
class Lease:
    """Who runs a pipeline, and with which fencing token."""

    pipeline: str
    worker: str | None
    token: int


class Leases:
    """The leases of all pipelines."""

    def __init__(self, records: Records, clock: Clock, *, duration: timedelta = DURATION) -> None:
        self._records = records
        self._clock = clock
        self._started = clock.elapsed()
        self._heard: dict[str, timedelta] = {}
        self.duration = duration

    def find(self, pipeline: str) -> Lease | None:
        """The lease of a pipeline, expired or not."""
        return self._records.find(Lease, "leases", pipeline)

    def holder(self, pipeline: str) -> str | None:
        """The worker that holds a pipeline now."""
        lease = self.find(pipeline)
        return lease.worker if lease and self._is_live(lease) else None

    def held_by(self, worker: str) -> dict[str, Lease]:
        """The live leases of a worker, by pipeline."""
        return {
            lease.pipeline: lease
            for lease in self._records.scan(Lease, "leases")
            if lease.worker == worker and self._is_live(lease)
        }

    def soonest_end(self, *, but: str) -> timedelta | None:
        """How long until the first lease of another worker than this one runs out, unless it is renewed."""
        ends = [
            self.duration - (self._clock.elapsed() - self._heard_of(lease))
            for lease in self._records.scan(Lease, "leases")
            if lease.worker != but and self._is_live(lease)
        ]
        return min(ends, default=None)

    def acquire(self, pipeline: str, worker: str) -> Lease | None:
        """Give a pipeline to a worker unless another one holds it; a new holder gets a new token."""
        current = self.find(pipeline)
        if current and self._is_live(current):
            return current if current.worker == worker else None
        token = current.token + 1 if current else 1
        return self._write(Lease(pipeline, worker, token), before=current)

    def renew(self, pipeline: str, worker: str, token: int) -> Lease:
        """Extend a lease; refused when it has passed to someone else."""
        lease = self.check(pipeline, worker, token)
        self._heard[pipeline] = self._clock.elapsed()
        return lease

    def release(self, pipeline: str, worker: str, token: int) -> None:
        """Give a pipeline back, so that another worker can take it at once."""
        current = self.find(pipeline)
        if current and (current.worker, current.token) == (worker, token):
            self._write(replace(current, worker=None), before=current)

    def revoke(self, pipeline: str) -> None:
        """End a lease that has run out, so that its worker is refused when it wakes up."""
        current = self.find(pipeline)
        if current and current.worker is not None and not self._is_live(current):
            self._write(replace(current, worker=None), before=current)

    def check(self, pipeline: str, worker: str, token: int) -> Lease:
        """The lease that this worker holds; raises LeaseLostError when another one has been given it since.

        A lease that has run out but that nobody took is still good: the token proves that nobody else ran.
        """
        lease = self.find(pipeline)
        if lease is None or (lease.worker, lease.token) != (worker, token):
            raise LeaseLostError(pipeline, worker=worker, token=token)
        return lease

    def _is_live(self, lease: Lease) -> bool:
        silent = self._clock.elapsed() - self._heard_of(lease)
        return lease.worker is not None and silent < self.duration

    def _heard_of(self, lease: Lease) -> timedelta:
        return self._heard.get(lease.pipeline, self._started)

    def _write(self, lease: Lease, *, before: Lease | None) -> Lease:
        self._records.store.apply(
            [put("leases", lease.pipeline, value=lease)],
            expect=self._records.expected("leases", lease.pipeline, value=before),
        )
        self._heard[lease.pipeline] = self._clock.elapsed()
        return lease
