"""The checks of one stream's table against the knots that wrote it: commits, files, and the rows in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.lineage.chain import Line
from weft.lineage.facts import DataFile, Output
from weft.lineage.finding import Verification
from weft.lineage.fingerprint import MODULUS
from weft.lineage.knot import UNSEALED, Knot
from weft.locations.location import Location
from weft.streams.compacted import Compactions
from weft.streams.floor import find_floor
from weft.streams.log import (
    LOG_FOLDER,
    Commit,
    check_checkpoint,
    checkpoint_name,
    commits,
    sha256_of,
)
from weft.streams.rehash import FileHash, Rehash


@dataclass
class Contents:
    """What a table's log says is in the table: its live files, the knots that are live, and whose rows are expired."""

    files: dict[str, DataFile] = field(default_factory=dict)
    knots: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    expired: int = 0
    """The rows of knots up to this one were let go of; nobody looks for them."""
    unknown: dict[int, str] = field(default_factory=dict)
    """Fills of which nothing is recorded, by knot, and where they are: right for those that are cut off again."""
    compactions: Compactions = field(default_factory=Compactions)

    def files_of(self, number: int, output: Output) -> tuple[DataFile, ...]:
        """The files that have the rows of a knot now: those that it wrote, or the one that it shares."""
        shared = self.compactions.find(number)
        if shared is None:
            return output.files
        return (DataFile(shared.path, shared.rows, shared.bytes, shared.sha256),)


def check_table(
    stream: str,
    folder: Location,
    line: Line,
    fills: Mapping[int, Output],
    report: Verification,
    *,
    expired: int = 0,
    rehash: Rehash | None = None,
) -> None:
    """The table holds the rows of every live knot of the stream, those of no other, and unchanged.

    `fills` are the rows that were woven into the stream from before its first knot, by knot; `expired` is the last knot
    whose rows were let go of. With `rehash` every row is hashed again.
    """
    written = dict(fills)
    written |= {
        number: knot.outputs[stream]
        for number, knot in line.knots.items()
        if knot.hash is not None and stream in knot.outputs
    }
    contents = _replay(stream, folder, line, fills, report)
    report.expect(
        contents.expired <= expired,
        "table.expired",
        f"table of {stream}",
        f"the rows of knots up to {contents.expired} were taken out of it, and nothing is recorded of that",
    )
    _compare(stream, contents, line, written, report)
    checked: dict[str, bool] = {}
    whole = {}
    for number, output in written.items():
        if number > max(line.start, contents.expired):
            files = contents.files_of(number, output)
            for file in files:
                if file.path not in checked:
                    is_live = number in line.live
                    checked[file.path] = _check_file(stream, folder, number, file, is_live, report)
            if all(checked[file.path] for file in files):
                whole[number] = output
    if rehash is not None:
        _check_rows(stream, folder, whole, contents, rehash, report)


def _replay(
    stream: str, folder: Location, line: Line, fills: Mapping[int, Output], report: Verification
) -> Contents:
    floor = find_floor(folder)
    contents = Contents(expired=floor.expired if floor else 0)
    if floor is not None:
        where = f"floor of the table of {stream}"
        report.expect(floor.is_intact, "table.altered", where, "its text is not what was written")
        report.expect(
            floor.knot <= max(line.floor, 1),
            "table.gap",
            where,
            "knots before it are not forgotten",
        )
    expected = floor.version + 1 if floor else 0
    kept = set((folder / LOG_FOLDER).names())
    for commit in commits(folder):
        where = f"version {commit.version} of the table of {stream}"
        report.counts["commits"] += 1
        report.expect(commit.version == expected, "table.gap", where, f"version {expected} is gone")
        expected = commit.version + 1
        if commit.flaw:
            report.add("table.altered", where, commit.flaw)
        for file in commit.adds:
            contents.files[file.path] = file
        for path in commit.removes:
            contents.files.pop(path, None)
        if commit.knot is not None and commit.knot >= line.floor:
            contents.knots.add(commit.knot)
            contents.seen.add(commit.knot)
            if commit.weft.get("fill") and commit.knot in fills:
                _check_output(commit, fills[commit.knot], where, report)
            elif commit.weft.get("fill"):
                contents.unknown[commit.knot] = where
            else:
                _check_commit(stream, commit, line, where, report)
        contents.compactions.add(commit.compacts)
        _cut(contents, commit)
        contents.expired = max(contents.expired, commit.expires)
        if checkpoint_name(commit.version) in kept:
            check_checkpoint(folder, commit.version, contents.files, report)
    for number, where in contents.unknown.items():
        report.add("table.unrecorded-knot", where, f"nothing is known of its fill up to {number}")
    return contents


def _cut(contents: Contents, commit: Commit) -> None:
    """Take the knots that a commit cuts off out of the contents, and those in that it brings back."""
    for number in commit.span("cut"):
        contents.knots.discard(number)
        contents.unknown.pop(number, None)
    contents.knots.update(number for number in commit.span("restore") if number in contents.seen)


def _check_commit(
    stream: str, commit: Commit, line: Line, where: str, report: Verification
) -> None:
    """A knot's commit says what the knot says."""
    assert commit.knot is not None
    knot = line.knots.get(commit.knot)
    if knot is None:
        report.add("table.unrecorded-knot", where, f"nothing is known of knot {commit.knot}")
        return
    names: dict[str, Any] = {"id": knot.id, "stream": stream, "origin": knot.stream}
    output = knot.outputs.get(stream)
    if knot.hash is not None and output is not None:
        names["watermark"] = knot.watermark
        _check_output(commit, output, where, report)
        _check_told(commit, knot, where, report)
    for name, expected in names.items():
        report.expect(
            commit.weft.get(name) == expected,
            "table.altered",
            where,
            f"its {name} is not that of knot {knot.number}",
        )


def _check_told(commit: Commit, knot: Knot, where: str, report: Verification) -> None:
    """What the commit of a knot's own stream tells is what was sealed, form by form, whatever version wrote it."""
    facts = commit.weft.get("facts")
    if facts is None or knot.sealed_form is None:
        return
    own = {**facts["outputs"][knot.stream], "version": commit.version}
    told = {**facts, "outputs": {**facts["outputs"], knot.stream: own}}
    pinned = commit.weft.get("pinned") or {}
    expected = {**{n: v for n, v in pinned.items() if n not in UNSEALED}, **told}
    for name in sorted(expected.keys() & knot.sealed_form.keys()):
        report.expect(
            expected[name] == knot.sealed_form[name],
            "table.altered",
            where,
            f"its {name} is not that of knot {knot.number}",
        )


def _check_output(commit: Commit, output: Output, where: str, report: Verification) -> None:
    told = {"rows": commit.weft.get("rows"), "hash": commit.weft.get("hash")}
    report.expect(
        told == {"rows": output.rows, "hash": output.hash}
        and commit.adds == output.files
        and commit.version == output.version,
        "table.altered",
        where,
        f"its rows, hash, files or version are not those of knot {commit.knot}",
    )


def _compare(
    stream: str,
    contents: Contents,
    line: Line,
    written: Mapping[int, Output],
    report: Verification,
) -> None:
    """The live rows of the table are those of the live knots."""
    pending = line.pending
    wanted = {number for number in written if number in line.live}
    found = contents.knots - ({pending.number} if pending else set())
    where = f"table of {stream}"
    for number in sorted(wanted - found):
        report.add("table.missing-knot", where, f"it lacks knot {number}, which is live")
    for number in sorted(found - wanted):
        report.add("table.unknown-knot", where, f"it has knot {number}, which is not live")
    held = {number for number in wanted if number > contents.expired}
    report.counts["expired"] += len(wanted) - len(held)
    files = {
        file.path: file for number in held for file in contents.files_of(number, written[number])
    }
    live = set(contents.files)
    for path in sorted(set(files) - live):
        report.add("table.missing-file", where, f"it lacks file {path}, which a live knot has")
    own = f"{pending.number:010d}-" if pending else None
    for path in sorted(live - set(files)):
        if own is None or not path.startswith(own):
            report.add("table.unknown-file", where, f"it has file {path}, which no live knot has")
    for path in sorted(live & set(files)):
        report.expect(
            contents.files[path] == files[path],
            "table.altered",
            where,
            f"it describes file {path} otherwise than its knot",
        )


def _check_file(
    stream: str, folder: Location, number: int, file: DataFile, is_live: bool, report: Verification
) -> bool:
    """A file of a knot lies there with the bytes that were written; says whether it does."""
    path = folder / file.path
    where = f"file {file.path} of {stream}"
    report.counts["files"] += 1
    report.counts["bytes"] += file.bytes
    try:
        size = path.size()
    except FileNotFoundError:
        # Files of knots that were rolled back may be cleaned up.
        report.expect(not is_live, "file.missing", where, f"knot {number} has rows in it")
        return False
    intact = report.expect(
        size == file.bytes and sha256_of(path) == file.sha256,
        "file.altered",
        where,
        f"it is not what knot {number} wrote",
    )
    report.counts["rows"] += file.rows if intact else 0
    return intact


def _check_rows(
    stream: str,
    folder: Location,
    written: Mapping[int, Output],
    contents: Contents,
    rehash: Rehash,
    report: Verification,
) -> None:
    """The rows of each knot have the hash that was recorded, and those of each of its files have the root."""
    files = {number: contents.files_of(number, output) for number, output in written.items()}
    paths = {(folder / file.path).address: None for held in files.values() for file in held}
    found = {(one.path, one.knot): one for one in rehash(list(paths))}
    for number, output in written.items():
        total = 0
        shared = contents.compactions.find(number)
        if shared is not None:
            total = _check_shared(stream, folder / shared.path, number, output, found, report)
        for file in output.files if shared is None else ():
            one = found[(folder / file.path).address, None]
            where = f"file {file.path} of {stream}"
            report.expect(one.flaw is None, "file.unreadable", where, one.flaw or "")
            _check_hashes(one, (file,), where, number, report)
            total += one.total
        report.expect(
            f"{total % MODULUS:064x}" == output.hash,
            "file.hash",
            f"knot {number} of {stream}",
            "the hash of its rows is not the one recorded",
        )


def _check_shared(
    stream: str,
    path: Location,
    number: int,
    output: Output,
    found: Mapping[tuple[str, int | None], FileHash],
    report: Verification,
) -> int:
    """The rows of a knot in a file that it shares are those of the files that it wrote; returns what they add up to."""
    where = f"rows of knot {number} in file {path.name} of {stream}"
    broken = found.get((path.address, None))
    if broken is not None and broken.flaw is not None:
        report.add("file.unreadable", where, broken.flaw)
        return 0
    empty = FileHash(path.address, knot=number, leaves=b"")
    one = found.get((path.address, number)) or empty
    _check_hashes(one, output.files, where, number, report)
    return one.total


def _check_hashes(
    one: FileHash, files: Sequence[DataFile], where: str, number: int, report: Verification
) -> None:
    """So many rows as these files had, with the roots over them that were recorded."""
    rows = sum(file.rows for file in files)
    same = report.expect(
        one.flaw is not None or one.rows == rows,
        "file.rows",
        where,
        f"it has {one.rows} rows, not {rows}",
    )
    roots = one.roots([file.rows for file in files]) if same and one.flaw is None else ()
    for root, file in zip(roots, files, strict=False):
        report.expect(
            None in (root, file.root) or root == file.root,
            "file.root",
            where,
            f"the tree over the hashes of its rows has not the root that knot {number} recorded",
        )
