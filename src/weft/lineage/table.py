"""The checks of one stream's table against the knots that wrote it: commits, files, and the rows in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from weft.lineage.chain import Line
from weft.lineage.delta import Commit, commits, sha256_of
from weft.lineage.finding import Verification, listed
from weft.lineage.fingerprint import MODULUS, record_hash
from weft.lineage.knot import Knot, Output

SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
NAMED = ("path", "rows", "bytes", "sha256")


@dataclass
class Contents:
    """What a table's log says is in the table: its live files, and the knots whose rows are live."""

    files: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    knots: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)


def check_table(
    stream: str, folder: Path, line: Line, report: Verification, *, deep: bool = False
) -> None:
    """The table holds the rows of every live knot of the stream, those of no other, and unchanged."""
    written = {
        number: knot.outputs[stream]
        for number, knot in line.knots.items()
        if knot.hash is not None and stream in knot.outputs
    }
    contents = _replay(stream, folder, line, report)
    _compare(stream, contents, line, written, report)
    for number, output in written.items():
        _check_files(stream, folder, number, output, number in line.live, report, deep=deep)


def _replay(stream: str, folder: Path, line: Line, report: Verification) -> Contents:
    contents = Contents()
    expected = 0
    for version, commit in commits(folder):
        where = f"version {version} of the table of {stream}"
        report.counts["commits"] += 1
        report.expect(
            version == expected, "table.gap", where, f"versions {expected} to {version - 1} are gone"
        )
        expected = version + 1
        if isinstance(commit, Exception):
            report.add("table.altered", where, str(commit))
            continue
        for file in commit.adds:
            contents.files[file["path"]] = file
        for path in commit.removes:
            contents.files.pop(path, None)
        if commit.knot is not None:
            contents.knots.add(commit.knot)
            contents.seen.add(commit.knot)
            _check_commit(stream, commit, line, where, report)
        _cut(contents, commit)
    return contents


def _cut(contents: Contents, commit: Commit) -> None:
    """Take the knots that a commit cuts off out of the contents, and those in that it brings back."""
    for number in _span(commit, "cut"):
        contents.knots.discard(number)
    contents.knots.update(number for number in _span(commit, "restore") if number in contents.seen)


def _span(commit: Commit, turn: str) -> range:
    keep, head = commit.weft.get(turn, (0, 0))
    return range(keep + 1, head + 1)


def _check_commit(
    stream: str, commit: Commit, line: Line, where: str, report: Verification
) -> None:
    """A knot's commit says what the knot says."""
    assert commit.knot is not None
    knot = line.knots.get(commit.knot)
    if knot is None:
        report.add("table.unrecorded-knot", where, f"nothing is known of knot {commit.knot}")
        return
    names = {"id": knot.id, "stream": stream, "origin": knot.stream}
    output = knot.outputs.get(stream)
    if knot.hash is not None and output is not None:
        names |= {"rows": output.rows, "hash": output.hash, "watermark": knot.watermark}
        report.expect(
            [_named(file) for file in commit.adds] == [_named(file) for file in output.files],
            "table.altered",
            where,
            f"its files are not those of knot {knot.number}",
        )
        report.expect(
            output.version == commit.version,
            "table.altered",
            where,
            f"knot {knot.number} says that it is in version {output.version}",
        )
        if "facts" in commit.weft:
            names["facts"] = _facts(knot, commit.weft["facts"])
    for name, expected in names.items():
        report.expect(
            commit.weft.get(name) == expected,
            "table.altered",
            where,
            f"its {name} is not that of knot {knot.number}",
        )


def _facts(knot: Knot, told: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a commit as the knot has them; schemas are in a table of their own."""
    form = knot.to_dict()
    outputs = {name: dict(output) for name, output in form["outputs"].items()}
    outputs[knot.stream]["version"] = None
    known = {
        name: form[name]
        for name in ("schema", "ledger", "watermark", "watermarks", "state", "duration_ms", "steps")
    }
    return {**told, **known, "outputs": outputs}


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
    missing, more = sorted(wanted - found), sorted(found - wanted)
    report.expect(not missing, "table.missing-knot", where, f"it lacks knots {listed(missing)}")
    report.expect(
        not more, "table.unknown-knot", where, f"it has knots that are not live: {listed(more)}"
    )
    files = {file["path"]: file for number in wanted for file in written[number].files}
    live = set(contents.files)
    report.expect(
        set(files) <= live,
        "table.missing-file",
        where,
        f"it lacks files: {listed(sorted(set(files) - live))}",
    )
    own = f"{pending.number:010d}-" if pending else None
    unknown = sorted(
        path for path in live - set(files) if own is None or not path.startswith(own)
    )
    report.expect(
        not unknown, "table.unknown-file", where, f"no knot has its files: {listed(unknown)}"
    )
    for path in sorted(live & set(files)):
        report.expect(
            _named(contents.files[path]) == _named(files[path]),
            "table.altered",
            where,
            f"it describes file {path} otherwise than its knot",
        )


def _check_files(
    stream: str,
    folder: Path,
    number: int,
    output: Output,
    is_live: bool,
    report: Verification,
    *,
    deep: bool,
) -> None:
    """The files of a knot lie there with the bytes and rows that were written."""
    total = 0
    whole = True
    for file in output.files:
        path = folder / file["path"]
        where = f"file {file['path']} of {stream}"
        report.counts["files"] += 1
        report.counts["bytes"] += file["bytes"]
        if not path.exists():
            whole = False
            # Files of knots that were rolled back may be cleaned up.
            report.expect(not is_live, "file.missing", where, f"knot {number} has rows in it")
            continue
        intact = report.expect(
            path.stat().st_size == file["bytes"] and sha256_of(path) == file["sha256"],
            "file.altered",
            where,
            f"it is not what knot {number} wrote",
        )
        whole = whole and intact
        if intact:
            report.counts["rows"] += file["rows"]
            total += _hash_rows(path, file, where, report) if deep else 0
    if deep and whole:
        report.expect(
            f"{total % MODULUS:064x}" == output.hash,
            "file.hash",
            f"knot {number} of {stream}",
            "the hash of its rows is not the one recorded",
        )


def _hash_rows(path: Path, file: Mapping[str, Any], where: str, report: Verification) -> int:
    total = rows = 0
    with pq.ParquetFile(path) as parquet:
        schema = orjson.loads(parquet.schema_arrow.metadata[SPARK_SCHEMA])
        for record in _records(parquet):
            total += int.from_bytes(record_hash(record, schema), "big")
            rows += 1
    report.expect(rows == file["rows"], "file.rows", where, f"it has {rows} rows, not {file['rows']}")
    return total


def _records(parquet: pq.ParquetFile) -> Iterator[dict[str, Any]]:
    for batch in parquet.iter_batches():
        assert isinstance(batch, pa.RecordBatch)
        yield from batch.to_pylist(maps_as_pydicts="strict")


def _named(file: Mapping[str, Any]) -> dict[str, Any]:
    return {name: file[name] for name in NAMED}


