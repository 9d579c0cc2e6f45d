"""A leg of a replay, run: knot by knot from recorded rows, or as a stream from recorded state. May be repeated.

Called as a task of the replay's operation. What an earlier try has written is in the workspace, and is not run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from weft import codec
from weft.errors import WeftError
from weft.lineage.pin import Pinned
from weft.locations.location import locate
from weft.logs import get_logger
from weft.project.definition import Project, changing_keys
from weft.replays.change import ReplayChange
from weft.replays.leg import Leg, Phase
from weft.replays.report import MOST_MISMATCHES, LegReport, Mismatch, compare
from weft.runtime import outcome, session
from weft.runtime.batch import weave_batch
from weft.runtime.past import check_files, frame_of
from weft.runtime.replayed import ReplayedPipeline, Workspace
from weft.runtime.scripted import run_script
from weft.runtime.tempo import Tempo
from weft.streams.storage import Storage
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from weft.runtime.worker import Worker

log = get_logger(__name__)

PAGE = 200
LOOK_S = 1.0
"""How often a replay looks whether anybody still wants it, and says how far it is."""


class NoRoomError(WeftError):
    """What a replay would write does not fit on the disk."""

    code = "replay.no-room"
    domain = "user"


def rerun(worker: Worker, operation: str, leg: Leg, what_if: ReplayChange) -> LegReport:
    """Run the knots of a leg again into the workspace, and compare them with what is recorded."""
    started = time.monotonic()
    worker.check_operation(operation, forward=True)
    _check_room(worker.storage, leg)
    pins = recorded_pins(worker, leg)
    watch = _Watch(worker, operation, leg, len(pins))
    tempo = None if leg.speed is None else Tempo(leg.speed, watch.look)
    runs = [
        replayed_pipeline(worker, operation, leg, phase, what_if, pins, watch.tied, tempo)
        for phase in leg.phases
    ]
    found = (
        []
        if what_if
        else [
            one
            for run, phase in zip(runs, leg.phases, strict=True)
            for one in check_files(run, phase)
        ]
    )
    if found:  # rows that are not what they were would only show what is known already
        return _report(leg, [], found, started, tempo)
    for run, phase in zip(runs, leg.phases, strict=True):
        if leg.stateful and not leg.edits:
            run_script(run, leg, still_wanted=watch.look)
        else:
            _weave_each(run, phase)
    found += [
        one
        for run, phase in zip(runs, leg.phases, strict=True)
        for one in _differing(run, leg, phase)
    ]
    return _report(leg, pins, found, started, tempo)


def _report(
    leg: Leg,
    pins: Sequence[Pinned],
    found: Sequence[Mismatch],
    started: float,
    tempo: Tempo | None,
) -> LegReport:
    return LegReport(
        pipeline=leg.pipeline,
        stream=leg.stream,
        knots=len(pins),
        rows=sum(pinned.knot.ledger.rows_in for pinned in pins),
        seconds=round(time.monotonic() - started, 3),
        differing=len({one.knot for one in found}),
        mismatches=tuple(found[:MOST_MISMATCHES]),
        behind_s=None if tempo is None else round(tempo.behind_s, 3),
    )


def clear(storage: Storage, name: str) -> None:
    """Remove the workspace of a replay."""
    locate(storage.workspace(name)).delete_all()


class _Watch:
    """Says how far a leg is, and stops it when nobody wants it any longer."""

    def __init__(self, worker: Worker, operation: str, leg: Leg, knots: int) -> None:
        self._worker = worker
        self._operation = operation
        self._leg = leg
        self._knots = knots
        self._done = 0
        self._looked = time.monotonic()

    def tied(self) -> None:
        self._done += 1
        self.look()

    def look(self) -> None:
        if time.monotonic() - self._looked < LOOK_S:
            return
        self._looked = time.monotonic()
        self._worker.check_operation(self._operation, forward=True)
        told = {"pipeline": self._leg.pipeline, "done": self._done, "knots": self._knots}
        self._worker.weaver("POST", f"/replays/{self._operation}/progress", told)


def replayed_pipeline(
    worker: Worker,
    name: str,
    leg: Leg,
    phase: Phase,
    what_if: ReplayChange,
    pins: Sequence[Pinned],
    tied: Callable[[], None] = lambda: None,
    tempo: Tempo | None = None,
) -> ReplayedPipeline:
    """A pipeline as one phase of a leg defines it, over a workspace of this name."""
    form = worker.weaver("GET", f"/workers/{worker.id}/project?version={phase.project}")
    project = Project.from_dict(form)
    spec = project.pipelines.get(leg.pipeline)
    spark = session.fork(worker.spark)
    recorded = frozenset(leg.recorded)
    storage = Workspace(worker.storage.workspace(name), worker.storage, recorded)
    return ReplayedPipeline(
        name=leg.pipeline,
        project=project,
        stream=project.stream(spec.to if spec else leg.pipeline),
        spec=spec,
        epoch=0,
        token=0,
        worker=worker.id,
        spark=spark,
        storage=storage,
        client=worker.line,
        faults=worker.faults,
        tables=Tables(spark, storage, keys=changing_keys(project)),
        version=phase.version,
        feed=worker.feed(leg.pipeline) if spec is None else None,
        leg=leg,
        what_if=what_if,
        pins=[pinned for pinned in pins if pinned.knot.number <= phase.upto],
        first_batch=leg.state.batch + 1 if leg.state else 0,
        tied_one=tied,
        tempo=tempo,
    )


def recorded_pins(worker: Worker, leg: Leg) -> list[Pinned]:
    """The knots of a leg as they were pinned, oldest first."""
    found: list[Pinned] = []
    upto = leg.upto
    while upto > leg.begin:
        path = f"/pins/{leg.stream}?after={leg.begin}&upto={upto}&limit={PAGE}"
        page = [codec.from_form(Pinned, form) for form in worker.weaver("GET", path)]
        found += page
        upto = (page[-1].knot.previous or 0) if page else leg.begin
    return found[::-1]


def _weave_each(run: ReplayedPipeline, phase: Phase) -> None:
    """Weave the knots of a phase one by one, each from the rows that it had."""
    for number, pinned in enumerate(run.pins):
        if pinned.knot.number > phase.after:
            weave_batch(frame_of(run, pinned), run.first_batch + number, run=run)


def _differing(run: ReplayedPipeline, leg: Leg, phase: Phase) -> list[Mismatch]:
    """What the knots of a phase have done otherwise than is recorded, of those that are compared."""
    found: list[Mismatch] = []
    for pinned in run.pins:
        if pinned.knot.number <= max(phase.after, leg.after):
            continue
        facts = outcome.find_written(run, pinned)
        assert facts is not None  # it was just woven
        found += compare(pinned.knot, facts)
    return found


def _check_room(storage: Storage, leg: Leg) -> None:
    """Refuse what would fill the disk: as much as is recorded, and half of it for what is kept meanwhile."""
    needed = leg.bytes * 3 // 2
    free = locate(storage.root).free()
    if free is not None and needed > free:
        raise NoRoomError(
            f"Running {leg.stream} again would write about {needed:,} bytes, and {free:,} are free.",
            hint="Choose fewer knots, or make room: `weft replay list` shows workspaces that can be dropped.",
            stream=leg.stream,
        )
