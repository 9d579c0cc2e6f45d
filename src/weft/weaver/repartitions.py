"""Repartitions: the state of a pipeline moved to another number of partitions, offline and compared."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.weaver.store.records import put, remove

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

MOST_PARTITIONS = 10_000


class Repartitions:
    """One pipeline at a time is held, moved and let go on."""

    def __init__(self, weaver: Weaver) -> None:
        self._weaver = weaver
        self._running: set[asyncio.Task[dict[str, Any]]] = set()

    def plan(self, pipeline: str, partitions: int) -> list[str]:
        """The steps of a repartition, as people read them."""
        weaver = self._weaver
        place = weaver.state_of(pipeline, None)
        if not 1 <= partitions <= MOST_PARTITIONS:
            raise WeftError(
                f"State cannot be kept in {partitions} partitions.",
                code="repartition.partitions",
                domain="user",
                hint=f"Choose 1 to {MOST_PARTITIONS}; as many as cores is a good start.",
                pipeline=pipeline,
            )
        found = weaver.catalog.pipeline(pipeline)
        if found.hold is not None:
            raise WeftError(
                f"Pipeline '{pipeline}' is held by {found.hold}.",
                code="repartition.busy",
                domain="conflict",
                hint="Wait until that is finished.",
                pipeline=pipeline,
            )
        return [
            f"hold {pipeline}: finish the batch in hand, then stop",
            f"copy the checkpoint at batch {place['batch']} into epoch {found.epoch + 1}",
            f"move its state to {partitions} partitions",
            "compare every window before and after",
            f"let {pipeline} go on",
        ]

    async def run(self, pipeline: str, partitions: int) -> dict[str, Any]:
        """Repartition a pipeline and let it go on; if that fails it goes on as it was."""
        self.plan(pipeline, partitions)
        held = replace(self._weaver.catalog.pipeline(pipeline), hold=f"repartition of {pipeline}")
        record = {"pipeline": pipeline, "partitions": partitions}
        self._weaver.store.apply(
            [
                put("repartition", pipeline, record=record),
                put("pipeline", pipeline, record=held.to_dict()),
            ]
        )
        self._weaver.changed()
        return await asyncio.shield(self._start(record))

    def resume(self) -> None:
        """Finish what was under way when the weaver died."""
        for record in self._weaver.records.scan("repartition"):
            self._start(record)

    def _start(self, record: dict[str, Any]) -> asyncio.Task[dict[str, Any]]:
        task = asyncio.get_running_loop().create_task(self._finish(**record))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _finish(self, pipeline: str, partitions: int) -> dict[str, Any]:
        weaver = self._weaver
        while weaver.leases.holder(pipeline):
            await asyncio.sleep(0.01)
        place = weaver.state_of(pipeline, None)
        found = weaver.catalog.pipeline(pipeline)
        epoch = found.epoch
        try:
            done = await weaver.ask(
                "repartition",
                {
                    "pipeline": pipeline,
                    "epoch": epoch,
                    "batch": place["batch"],
                    "partitions": partitions,
                },
                timeout=3600,
            )
            epoch += 1
            told = weaver.events.write("pipeline.repartitioned", pipeline=pipeline, **done)
        except WeftError as error:
            told = weaver.events.write(
                "pipeline.repartition-failed", pipeline=pipeline, reason=error.message
            )
            raise
        finally:
            free = replace(found, hold=None, epoch=epoch)
            weaver.store.apply(
                [
                    put("pipeline", pipeline, record=free.to_dict()),
                    remove("repartition", pipeline),
                    *told,
                ]
            )
            weaver.changed()
        return {"pipeline": pipeline, "epoch": epoch, **done}
