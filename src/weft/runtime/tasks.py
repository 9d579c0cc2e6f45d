"""What the weaver has a worker do beside its pipelines: each task in a thread and a job group of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.logs import get_logger
from weft.runtime.client import WeaverAwayError
from weft.runtime.failures import as_weft
from weft.runtime.faults import CrashError
from weft.runtime.work import Work

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

log = get_logger(__name__)


class TaskRunner:
    """The tasks of one worker that are under way."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._work = Work(worker)
        self._groups: dict[int, str] = {}

    def start(self, task: Mapping[str, Any]) -> None:
        """Do a task, and tell the weaver what came of it."""
        threading.Thread(target=self._do, args=(task,), daemon=True).start()

    def call_off(self, number: int) -> None:
        """End the jobs of a task that nobody waits for any longer."""
        group = self._groups.pop(number, None)
        if group is not None:
            log.info("task %d is called off", number)
            self._worker.spark.sparkContext.cancelJobGroup(group)

    def _do(self, task: Mapping[str, Any]) -> None:
        worker = self._worker
        answer: dict[str, Any] = {"id": task["id"]}
        group = f"weft-task-{worker.id}-{task['id']}"
        self._groups[task["id"]] = group
        worker.spark.sparkContext.setJobGroup(group, task["kind"], interruptOnCancel=True)
        try:
            answer["result"] = self._work.do(task["kind"], task["arguments"])
        except CrashError:
            return
        except WeftError as error:
            answer["error"] = error.to_dict()
        except Exception as error:
            if task["id"] in self._groups:
                log.error("task %s failed", task["kind"], exc_info=error)
            answer["error"] = as_weft(task["kind"], error).to_dict()
        finally:
            self._groups.pop(task["id"], None)
        try:
            worker.line.call("POST", f"/workers/{worker.id}/answers", [answer])
        except WeaverAwayError as error:
            log.warning("answer to task %s is lost: %s", task["kind"], error.message)
