"""The checks of one stream's table against the knots that wrote it: commits, files, and the rows in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.lineage.chain import Line
from weft.lineage.facts import DataFile, Output
from weft.lineage.finding import Verification
from weft.lineage.fingerprint import MODULUS
from weft.lineage.knot import UNSEALED, Knot
from weft.locations.location import Location
from weft.streams.log import (
    LOG_FOLDER,
    Commit,
    check_checkpoint,
    checkpoint_name,
    commits,
    sha256_of,
)
from weft.streams.rehash import Rehash


@dataclass
class Contents:
    """What a table's log says is in the table: its live files, the knots that are live, and whose rows are expired."""

    files: dict[str, DataFile] = field(default_factory=dict)
    knots: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    expired: int = 0
    """The rows of knots up to this one were let go of; nobody looks for them."""


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
    whole = {
        number: output
        for number, output in written.items()
        if number > max(line.start, contents.expired)
        and _check_files(stream, folder, number, output, number in line.live, report)
    }
    if rehash is not None:
        _check_rows(stream, folder, whole, rehash, report)


def _replay(
    stream: str, folder: Location, line: Line, fills: Mapping[int, Output], report: Verification
) -> Contents:
    contents = Contents()
    expected = 0
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
        if commit.knot is not None:
            contents.knots.add(commit.knot)
            contents.seen.add(commit.knot)
            if commit.weft.get("fill"):
                _check_fill(commit, fills.get(commit.knot), where, report)
            else:
                _check_commit(stream, commit, line, where, report)
        _cut(contents, commit)
        contents.expired = max(contents.expired, commit.expires)
        if checkpoint_name(commit.version) in kept:
            check_checkpoint(folder, commit.version, contents.files, report)
    return contents


def _cut(contents: Contents, commit: Commit) -> None:
    """Take the knots that a commit cuts off out of the contents, and those in that it brings back."""
    for number in commit.span("cut"):
        contents.knots.discard(number)
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


def _check_fill(commit: Commit, output: Output | None, where: str, report: Verification) -> None:
    """A commit that filled a new stream says what was recorded of it."""
    if output is None:
        report.add(
            "table.unrecorded-knot", where, f"nothing is known of its fill up to {commit.knot}"
        )
    else:
        _check_output(commit, output, where, report)


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
    files = {file.path: file for number in held for file in written[number].files}
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


def _check_files(
    stream: str, folder: Location, number: int, output: Output, is_live: bool, report: Verification
) -> bool:
    """The files of a knot lie there with the bytes that were written; says whether they all do."""
    whole = True
    for file in output.files:
        path = folder / file.path
        where = f"file {file.path} of {stream}"
        report.counts["files"] += 1
        report.counts["bytes"] += file.bytes
        try:
            size = path.size()
        except FileNotFoundError:
            whole = False
            # Files of knots that were rolled back may be cleaned up.
            report.expect(not is_live, "file.missing", where, f"knot {number} has rows in it")
            continue
        intact = report.expect(
            size == file.bytes and sha256_of(path) == file.sha256,
            "file.altered",
            where,
            f"it is not what knot {number} wrote",
        )
        whole = whole and intact
        report.counts["rows"] += file.rows if intact else 0
    return whole


def _check_rows(
    stream: str,
    folder: Location,
    written: Mapping[int, Output],
    rehash: Rehash,
    report: Verification,
) -> None:
    """The rows of each knot have the hash that was recorded."""
    paths = [(folder / file.path).address for output in written.values() for file in output.files]
    found = {one.path: one for one in rehash(paths)}
    for number, output in written.items():
        total = 0
        for file in output.files:
            one = found[(folder / file.path).address]
            where = f"file {file.path} of {stream}"
            report.expect(one.flaw is None, "file.unreadable", where, one.flaw or "")
            report.expect(
                one.flaw is not None or one.rows == file.rows,
                "file.rows",
                where,
                f"it has {one.rows} rows, not {file.rows}",
            )
            report.expect(
                None in (one.root, file.root) or one.root == file.root,
                "file.root",
                where,
                f"the tree over the hashes of its rows has not the root that knot {number} recorded",
            )
            total += one.total
        report.expect(
            f"{total % MODULUS:064x}" == output.hash,
            "file.hash",
            f"knot {number} of {stream}",
            "the hash of its rows is not the one recorded",
        )
