"""The book of operations in the weaver's store: one partition, in which each change is one conditional write."""

from __future__ import annotations

from collections.abc import Callable

from weft.operations.operation import PATIENCE_S, Grip, Hold, Operation
from weft.operations.run import OperationBusyError
from weft.weaver.store.records import Records, put, remove
from weft.weaver.store.store import StoreConflictError, Write, key

PARTITION = "operations"
KEPT = 1000
"""So many operations that are over are remembered."""


class StoredBook:
    """Operations over a store; `told` hears of each that begins or ends."""

    def __init__(self, records: Records, told: Callable[[Operation], None]) -> None:
        self._records = records
        self._told = told

    def hold(self, pipeline: str) -> Hold | None:
        """What holds a pipeline now."""
        return self._records.find(Hold, PARTITION, "hold", pipeline)

    def grip(self, operation: Operation, grip: Grip) -> None:
        """Hold the pipelines of an operation tighter, or looser."""
        patience = float(operation.request.get("patience_s", PATIENCE_S))
        holds = [Hold(name, operation.id, grip, patience) for name in operation.pipelines]
        self._records.store.apply([_hold(hold) for hold in holds])

    async def open(self, operation: Operation, *, before: Operation | None = None) -> None:
        """Write an operation down and take its pipelines, all or none."""
        free = {key(PARTITION, "hold", name): None for name in operation.pipelines}
        known = None if before is None else _operation(before).value
        holds = [_hold(Hold(name, operation.id)) for name in operation.pipelines]
        try:
            self._records.store.apply(
                [_operation(operation), *holds], expect={**free, _place(operation.id): known}
            )
        except StoreConflictError:
            for name in operation.pipelines:
                holder = self.hold(name)
                if holder is not None:
                    raise OperationBusyError(name, holder.operation) from None
            raise
        self._told(operation)

    async def wait(self, operation: Operation) -> None:
        """Write an operation down that waits for its pipelines."""
        self._records.store.apply([_operation(operation)], expect={_place(operation.id): None})
        self._told(operation)

    async def keep(self, operation: Operation, *, before: Operation) -> None:
        """Write down how far an operation is, if nobody else did since `before`."""
        expected = {_place(operation.id): _operation(before).value}
        self._records.store.apply([_operation(operation)], expect=expected)

    async def end(self, operation: Operation, *, before: Operation) -> None:
        """Write down the end of an operation and let go of what it holds."""
        held = [remove(PARTITION, "hold", name) for name in self._held_by(operation)]
        expected = {_place(operation.id): _operation(before).value}
        self._records.store.apply(
            [_operation(operation), *held, *self._forgotten()], expect=expected
        )
        self._told(operation)

    async def find(self, name: str) -> Operation | None:
        """An operation by its id."""
        return self._records.find(Operation, PARTITION, "operation", name)

    async def all(self) -> list[Operation]:
        """All operations, oldest first."""
        return sorted(self._all(), key=lambda operation: (operation.asked, operation.id))

    def _all(self) -> list[Operation]:
        return list(self._records.scan(Operation, PARTITION, "operation"))

    def _held_by(self, operation: Operation) -> list[str]:
        holds = [self.hold(name) for name in operation.pipelines]
        return [hold.pipeline for hold in holds if hold and hold.operation == operation.id]

    def _forgotten(self) -> list[Write]:
        over = sorted((o for o in self._all() if o.is_over), key=lambda o: o.finished or "")
        return [remove(PARTITION, "operation", o.id) for o in over[: max(0, len(over) - KEPT)]]


def _place(name: str) -> bytes:
    return key(PARTITION, "operation", name)


def _operation(operation: Operation) -> Write:
    return put(PARTITION, "operation", operation.id, value=operation)


def _hold(hold: Hold) -> Write:
    return put(PARTITION, "hold", hold.pipeline, value=hold)
