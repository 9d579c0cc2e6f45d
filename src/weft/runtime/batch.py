"""One batch, from pinned rules to a tied knot. Called by the loop of its pipeline; safe to call twice."""

from __future__ import annotations

import time

from pyspark.sql import DataFrame

from weft.lineage.knot import Status
from weft.runtime import outcome, weaving
from weft.runtime.pipeline import RunningPipeline


def weave_batch(frame: DataFrame, batch: int, *, run: RunningPipeline) -> None:
    """Run one batch and tie its knot.

    1. Pin: the weaver fixes the rule set of this batch; a repeated batch gets the same one.
    2. Weave: steps and rules turn rows into woven rows, and say of each dropped one why.
    3. Write: every output stream takes the rows once, however often this runs: first the diverted
       streams, then the stream itself, whose commit holds everything that the knot will say.
    4. Record: sinks get the rows, the knot becomes COMPLETE. Then the loop marks the batch as done.

    A batch whose rows were written by an earlier try is not woven again; only its state is brought up to it.
    """
    started = time.monotonic()
    run.faults.reach("pin")
    pinned = run.pin(batch)  # 1
    if pinned.knot.status is Status.COMPLETE:
        weaving.keep_state(frame, run)
        return
    run.faults.reach("pinned")

    facts = outcome.find_written(run, pinned)
    if facts is not None:
        weaving.keep_state(frame, run)
    else:
        run.faults.reach("weave")
        woven = weaving.weave(frame, run, pinned)  # 2
        result = weaving.write(woven, run, pinned)  # 3
        run.faults.reach("write")
        facts = outcome.commit(run, pinned, woven, result, started=started)
    run.faults.reach("written")

    run.deliver(pinned.knot, facts)  # 4
    run.faults.reach("deliver")
    run.complete(pinned.knot, facts)
    run.faults.reach("recorded")
