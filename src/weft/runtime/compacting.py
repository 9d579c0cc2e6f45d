"""The data side of a compaction: files written, compared with what was recorded, put into the table, old ones deleted.

Asked for by the weaver, beside the pipelines that write and read the stream; may be repeated.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weft.errors import WeftError
from weft.locations.location import locate
from weft.runtime import session
from weft.streams import compaction
from weft.streams.compacted import MARK
from weft.streams.compaction import Made
from weft.streams.kernel_rehash import KernelRehash
from weft.streams.table import Deleted, Table
from weft.streams.tables import Tables

if TYPE_CHECKING:
    from weft.runtime.worker import Worker


LEFT_OVER_S = 86_400.0
"""A file that is in no table for so long is nobody's: whoever wrote it has died."""


class RowsDifferError(WeftError):
    """Rows that were put together have other hashes than those recorded; nothing was changed."""

    code = "compaction.differs"


def compact(
    worker: Worker,
    operation: str,
    *,
    stream: str,
    upto: int,
    vacuumed: int,
    grace_s: float | None,
) -> dict[str, Any]:
    """Put the files of knots up to one together, and delete what was replaced more than a while ago.

    `vacuumed` is the last version of the table whose replaced files are gone; without `grace_s` none are deleted now.
    """
    table = Tables(worker.spark, worker.storage).open(stream)
    if not table.exists():
        return {"made": 0, "replaced": 0, "vacuumed": vacuumed, "files": 0, "bytes": 0}
    made = replaced = 0
    for run in compaction.plan(table, upto):
        files = compaction.write(table, run)
        worker.faults.reach("compacting")
        if files is not None and compaction.commit(
            table, files, {"operation": operation}, lambda one: _check(worker, table, one)
        ):
            made, replaced = made + len(files.files), replaced + len(files.replaces)
    worker.faults.reach("compacted")
    deleted = Deleted(0, 0)
    if grace_s is not None:
        before = time.time() - grace_s
        vacuumed, paths = table.replaced(vacuumed, before_ms=int(before * 1000))
        deleted = table.delete([*paths, *_left_over(table, min(before, time.time() - LEFT_OVER_S))])
    return {
        "made": made,
        "replaced": replaced,
        "vacuumed": vacuumed,
        "files": deleted.files,
        "bytes": deleted.bytes,
    }


def _check(worker: Worker, table: Table, made: Made) -> None:
    """The rows of each knot, as Spark reads them from a new file, have the hash that was recorded of them."""
    paths = {f"{table.path}/{file.path}": file for file in made.files}
    rehash = KernelRehash(session.fork(worker.spark))
    found = {(one.path, one.knot): one for one in rehash(list(paths))}
    for path, file in paths.items():
        for knot in table.knots(file.after, file.upto):
            one = found.get((path, knot.note.knot))
            total = one.total if one is not None else 0
            if f"{total:064x}" != knot.note.hash:
                raise RowsDifferError(
                    f"The rows of knot {knot.note.knot} of stream '{table.path.rpartition('/')[2]}' have another "
                    "hash when they are put together with others; they are left as they are.",
                    hint="`weft verify --deep` says whether they were changed; if not, please report this.",
                    knot=knot.note.knot,
                )


def _left_over(table: Table, before: float) -> Iterator[str]:
    """Files of compactions that were given up or died: no knot, live or cut, lies in them."""
    held = {file.path for cut in (True, False) for file in table.compacted(cut=cut)}
    for name in locate(table.path).names():
        _, is_ours, made = name.partition(MARK)
        if is_ours and name not in held and int(made.partition("-")[0]) < before:
            yield name
