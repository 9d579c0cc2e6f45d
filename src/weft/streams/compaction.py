"""Small files of old knots put together into few large ones, and a large one divided where a table is cut.

In come a table and the knots that may be touched, out come files and the commit that puts them in the place of those
that were there: the same rows in the same order, in one version of the table. Whoever is faster makes the other's files
superfluous: the table takes only files that were made of what it has then. Called by a worker.
"""

from __future__ import annotations

import hashlib
import io
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weft.errors import WeftError
from weft.locations.location import Location, locate
from weft.locations.parquet import open_parquet
from weft.streams.compacted import MARK, CompactedFile, knots_of
from weft.streams.log import sha256_of
from weft.streams.note import TableKnot
from weft.streams.table import Table, TableConflictError

TARGET_BYTES = 64 << 20
"""A file of this size is large enough, and is not put together with others."""
SMALL_BYTES = 1 << 20
"""A file up to this size is put together with whatever is newer."""
MOST_KNOTS = 20_000
"""So many knots with files of their own are looked at in one go; more come the next time."""
GROUP_ROWS = 1 << 17
"""So many rows make a row group: who wants one knot of many reads the groups that may have it."""


class RowsAlteredError(WeftError):
    """A file that was to be put together with others is not what was written; nothing was changed."""

    code = "compaction.altered"
    domain = "external"


@dataclass(frozen=True)
class Unit:
    """Neighbouring knots that lie together already: one with its own files, or all that share one."""

    after: int
    upto: int
    paths: tuple[str, ...]
    sums: tuple[str, ...]
    rows: int
    bytes: int


APART = Unit(0, 0, (), (), 0, 0)
"""Stands for a part that a stream was filled with, which shares no file."""


@dataclass(frozen=True)
class Made:
    """Files that were made and are not in the table yet, of which knots, and the paths that they replace."""

    files: tuple[CompactedFile, ...]
    replaces: tuple[str, ...]


def plan(
    table: Table, upto: int, *, target: int = TARGET_BYTES, small: int = SMALL_BYTES
) -> list[list[Unit]]:
    """The runs of knots up to one that are worth a file of their own, oldest first."""
    runs = []
    for stretch in _stretches(table, upto):
        tiers = _tiers(stretch, target, small)
        runs += [run for run in tiers if sum(len(one.paths) for one in run) > 1]
    return runs


def _stretches(table: Table, upto: int) -> Iterator[list[Unit]]:
    """Knots that may share a file: none between them was cut, or is a part that a stream was filled with.

    What lies in shared files already is told by these; only knots after the newest of them are looked at.
    """
    cuts = table.cuts()
    held: list[Unit] = []
    shared = [_shared(one) for one in table.compacted(cut=False) if one.upto <= upto]
    begin = shared[-1].upto if shared else table.expired()
    listed = table.knots(begin, min(upto, begin + MOST_KNOTS))
    own = list(takewhile(lambda knot: knot.shared is None, listed))
    # Behind a shared file lies what is listed after it; between two there may be knots with files of their own.
    for unit, is_next in [*((one, False) for one in shared), *((_own(one), True) for one in own)]:
        after = held[-1].upto if held else unit.after
        is_apart = unit is APART or (not is_next and after != unit.after)
        if held and (is_apart or any(keep < unit.upto and head > after for keep, head in cuts)):
            yield held
            held, after = [], unit.after
        if unit is not APART:
            held.append(replace(unit, after=after))
    if held:
        yield held


def _shared(file: CompactedFile) -> Unit:
    return Unit(file.after, file.upto, (file.path,), (file.sha256,), file.rows, file.bytes)


def _own(knot: TableKnot) -> Unit:
    """A knot with its own files."""
    if knot.note.fill is not None:
        return APART
    return Unit(
        after=knot.note.knot - 1,
        upto=knot.note.knot,
        paths=tuple(file.path for file in knot.files),
        sums=tuple(file.sha256 for file in knot.files),
        rows=sum(file.rows for file in knot.files),
        bytes=sum(file.bytes for file in knot.files),
    )


def _tiers(units: Sequence[Unit], target: int, small: int) -> list[list[Unit]]:
    """Runs of neighbours, from the newest back: one joins the newer ones unless it is larger than all of them.

    So a row that lies in a large file is written anew only when that at least doubles, and a long stream has few files.
    """
    runs: list[list[Unit]] = []
    total = 0
    for unit in reversed(units):
        if runs and unit.bytes <= max(total, small) and total + unit.bytes <= target:
            runs[-1].insert(0, unit)
            total += unit.bytes
        else:
            runs.append([unit])
            total = unit.bytes
    return runs[::-1]


def write(table: Table, run: Sequence[Unit]) -> Made | None:
    """Write the rows of a run into one file, or one for each set of columns; None where nothing comes of it."""
    files: list[CompactedFile] = []
    replaced: list[str] = []
    try:
        for alike in _alike(table, run):
            if sum(len(one.paths) for one in alike) > 1:
                files.append(_write(table, alike))
                replaced += [path for one in alike for path in one.paths]
    except FileNotFoundError:  # they are expired, or put together by another one, since
        discard(table, Made(tuple(files), ()))
        return None
    return Made(tuple(files), tuple(replaced)) if files else None


def discard(table: Table, made: Made) -> None:
    """Delete files that did not come into the table."""
    for file in made.files:
        (locate(table.path) / file.path).delete()


def divide(table: Table, knot: int, weft: Mapping[str, Any]) -> None:
    """See to it that no file has rows of a knot and of later ones: the one that does becomes two."""
    while (shared := table.straddling(knot)) is not None:
        path = locate(table.path) / shared.path
        with open_parquet(path) as parquet:
            first = sum(
                pc.sum(pc.less_equal(knots_of(parquet, group), knot)).as_py() or 0
                for group in range(parquet.num_row_groups)
            )
        spans = ((shared.after, knot, 0, first), (knot, shared.upto, first, shared.rows))
        made = Made(
            tuple(
                _store(table, after, upto, _groups(_slices(path, begin, end)), _schema(path))
                for after, upto, begin, end in spans
            ),
            (shared.path,),
        )
        commit(table, made, weft)


def commit(
    table: Table,
    made: Made,
    weft: Mapping[str, Any],
    check: Callable[[Made], None] = lambda _: None,
) -> bool:
    """Put files into the table once `check` lets them pass; False, and they are gone, where it has others meanwhile."""
    try:
        check(made)
        while True:
            version = table.version()
            try:
                table.compact(made.files, made.replaces, weft)
                return True
            except TableConflictError:
                if (
                    table.version() == version
                ):  # nobody was faster: the files themselves are refused
                    discard(table, made)
                    return False
    except WeftError:
        discard(table, made)
        raise


def cut(table: Table, keep: int, head: int, weft: Mapping[str, Any]) -> int:
    """Take the knots in (keep, head] out of a table, also where they share a file with others."""
    return _whole(table, (keep, head), weft, lambda: table.cut(keep, head, weft))


def restore(table: Table, keep: int, head: int, weft: Mapping[str, Any]) -> int:
    """Bring knots in (keep, head] that were cut back into a table, also where they share a file with others."""
    return _whole(table, (keep, head), weft, lambda: table.restore(keep, head, weft))


def expire(table: Table, upto: int, weft: Mapping[str, Any]) -> int:
    """Take the rows of all knots up to one out of a table, also where they share a file with others."""
    if upto <= table.expired():
        return table.version()
    return _whole(table, (upto,), weft, lambda: table.expire(upto, weft))


def _whole(
    table: Table, knots: Sequence[int], weft: Mapping[str, Any], turn: Callable[[], int]
) -> int:
    """Do something to a table that needs files to end with some knots; others may put them together meanwhile."""
    while True:
        for knot in knots:
            divide(table, knot, weft)
        try:
            return turn()
        except TableConflictError:
            if not any(table.straddling(knot) for knot in knots):
                raise


def _alike(table: Table, run: Sequence[Unit]) -> Iterator[list[Unit]]:
    """The neighbours in a run whose rows have the same columns; one without rows goes with any."""
    held: list[Unit] = []
    schema: pa.Schema | None = None
    for unit in run:
        found = [
            _checked(locate(table.path) / path, recorded)
            for path, recorded in zip(unit.paths, unit.sums, strict=True)
        ]
        known = [schema] if schema is not None else []
        same = all(one.equals(other, check_metadata=True) for one in found for other in known)
        if held and not same:
            yield held
            held, schema = [], None
        held.append(unit)
        schema = found[0] if found else schema
    if held:
        yield held


def _checked(path: Location, recorded: str) -> pa.Schema:
    """The columns of a file; refuses one that is not what was written."""
    if sha256_of(path) != recorded:
        raise RowsAlteredError(
            f"File {path.address} is not what was written; it is left as it is.",
            hint="`weft verify` lists everything that differs.",
            file=path.address,
        )
    return _schema(path)


def _schema(path: Location) -> pa.Schema:
    with open_parquet(path) as parquet:
        return parquet.schema_arrow


def _write(table: Table, units: Sequence[Unit]) -> CompactedFile:
    paths = [locate(table.path) / path for unit in units for path in unit.paths]
    rows = (piece for path in paths for piece in _slices(path, 0, sys.maxsize))
    return _store(table, units[0].after, units[-1].upto, _groups(rows), _schema(paths[0]))


def _slices(path: Location, begin: int, end: int) -> Iterator[pa.Table]:
    """The rows of a file from one to before another."""
    first = 0
    with open_parquet(path) as parquet:
        for group in range(parquet.num_row_groups):
            rows = parquet.metadata.row_group(group).num_rows
            low, high = max(begin - first, 0), min(end - first, rows)
            if low < high:
                yield parquet.read_row_group(group).slice(low, high - low)
            first += rows


def _groups(pieces: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Pieces put together to row groups."""
    held: list[pa.Table] = []
    for piece in pieces:
        held.append(piece)
        if sum(one.num_rows for one in held) >= GROUP_ROWS:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _store(
    table: Table, after: int, upto: int, groups: Iterator[pa.Table], schema: pa.Schema
) -> CompactedFile:
    """Write a file durably under a name that nobody else takes."""
    # As the names of a knot's own files begin with its number, so that names are in the order of rows.
    made = f"{int(time.time()):010d}-{uuid.uuid4()}"
    name = f"{after + 1:010d}-{upto:010d}{MARK}{made}.snappy.parquet"
    out = io.BytesIO()
    rows = 0
    with pq.ParquetWriter(out, schema, store_schema=False) as writer:
        for group in groups:
            writer.write_table(group, row_group_size=2 * GROUP_ROWS)
            rows += group.num_rows
        # Spark's own account of the columns, and none of Arrow's: files are as Spark wrote them.
        writer.add_key_value_metadata(dict(schema.metadata or {}))
    content = out.getvalue()
    (locate(table.path) / name).write(content)
    found = hashlib.sha256(content).hexdigest()
    return CompactedFile(
        upto=upto, after=after, path=name, rows=rows, bytes=len(content), sha256=found
    )
