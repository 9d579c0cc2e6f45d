"""Files that are put together: which knots of a stream may be touched, who may still read what is replaced, the step.

Nothing is held: pipelines write and read the stream meanwhile, and a rollback that comes in between is not waited for.
The table itself refuses files that were made of what it no longer has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.clock import iso
from weft.operations.operation import Operation
from weft.operations.step import Compact, Step
from weft.project.compaction import CompactionSpec
from weft.weaver.expiring import WORKER_S, check_free
from weft.weaver.knots import line
from weft.weaver.store.records import Records, put
from weft.weaver.store.store import Write

if TYPE_CHECKING:
    from weft.weaver.weaver import Weaver

READERS = ("replay", "fill", "backup")
"""Operations that read the files of tables for longer than a batch."""


@dataclass(frozen=True)
class CompactedRows:
    """Up to which knot the files of a stream were put together, and which replaced ones are deleted."""

    upto: int
    at: str
    operation: str
    vacuumed: int = -1
    """The version of the table whose replaced files, and those of versions before, are gone."""


def store_compacted(stream: str, compacted: CompactedRows) -> Write:
    """The write that says how far the files of a stream were put together."""
    return put(line(stream), "compacted", value=compacted)


def compacted_upto(records: Records, stream: str) -> int:
    """The last knot of a stream that was looked at by a compaction; 0 when there was none."""
    known = records.find(CompactedRows, line(stream), "compacted")
    return known.upto if known is not None else 0


def settings(weaver: Weaver) -> CompactionSpec:
    """What the project says of compaction."""
    return weaver.catalog.project().processing.compaction


def is_due(weaver: Weaver, stream: str) -> bool:
    """Whether enough knots have come since that files are put together by themselves."""
    every = settings(weaver).every
    before = compacted_upto(weaver.records, stream)
    return every > 0 and _last(weaver, stream) - before >= every


def plan_compaction(weaver: Weaver, request: Mapping[str, Any]) -> tuple[Step, ...]:
    """The step that puts the files of a stream together; none while it has few knots."""
    stream = str(request["stream"])
    weaver.catalog.stream(stream)
    check_free(weaver, stream)
    upto = _last(weaver, stream)
    return (Compact(stream, upto),) if upto > 0 else ()


def _last(weaver: Weaver, stream: str) -> int:
    """The last knot that is old enough: a rollback to one of the newest should find its files as they were."""
    head = weaver.knots.head(weaver.catalog.stream(stream).origin).number or 0
    return head - settings(weaver).apart


async def compact(weaver: Weaver, operation: Operation, step: Compact) -> dict[str, Any]:
    """Do the step: have a worker put files together, and write down how far. May be repeated."""
    known = weaver.records.find(CompactedRows, line(step.stream), "compacted")
    vacuumed = known.vacuumed if known is not None else -1
    arguments = {
        "operation": operation.id,
        "stream": step.stream,
        "upto": step.upto,
        "vacuumed": vacuumed,
        "grace_s": await _grace(weaver),
    }
    done: dict[str, Any] = await weaver.ask("compact", arguments, timeout=WORKER_S)
    now = iso(weaver.clock.now())
    made = CompactedRows(step.upto, now, operation.id, done["vacuumed"])
    weaver.store.apply([store_compacted(step.stream, made)])
    return {"upto": step.upto, **done}


async def _grace(weaver: Weaver) -> float | None:
    """How long replaced files stay; None while somebody may read files of any age."""
    operations = await weaver.operations.runner.all()
    if any(one.kind in READERS and not one.is_over for one in operations):
        return None
    return settings(weaver).grace_seconds
