"""The Java kernel as Python sees it: plain values in and out, and what fails is a WeftError.

Called by the batch, the worker, verify and replay. Whatever touches a row is on the other side.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from weft import codec
from weft.errors import Domain, WeftError
from weft.lineage.facts import DataFile, Output
from weft.lineage.note import Note, TableKnot
from weft.runtime import table_checkpoint

SOURCE_FORMAT = "weft-stream"


class TableError(WeftError):
    """A stream's table cannot be read or written."""

    code = "table.failed"
    domain: Domain = "external"


class TableConflictError(TableError):
    """Someone else wrote to a stream's table first; whoever looks again sees what."""

    code = "table.conflict"
    domain = "conflict"
    retryable = True


@dataclass(frozen=True)
class Span:
    """The event times of one source partition: how far they reached, and how many lay too far ahead."""

    ahead: int = 0
    max_event_time_us: int | None = None


@dataclass(frozen=True)
class Written:
    """What one pass over a woven frame wrote and counted; outputs are by column of the frame."""

    outputs: Mapping[str, Output]
    verdicts: Mapping[str, int]
    partitions: Mapping[str, Span]
    control: tuple[str, ...]


def register(spark: SparkSession) -> None:
    """Make the kernel's SQL functions known to a session."""
    _package(spark).Kernel.register(spark._jsparkSession)


class ExpressionRefusedError(WeftError):
    """An expression that the kernel does not let run, whoever checked it before."""

    code = "expression.refused"
    domain: Domain = "user"


Columns = Sequence[tuple[str, str]]


def select(frame: DataFrame, layers: Sequence[Columns]) -> DataFrame:
    """The frame with SELECT layers around it, the first innermost: each column its name and its SQL.

    Every expression is parsed by itself and by the kernel, not by the session: no setting and no variable
    of a session changes what it says.
    """
    session = frame.sparkSession
    try:
        chosen = _package(session).spark.gate.Layers.select(frame._jdf, json.dumps(layers))
    except Py4JJavaError as error:
        cause = error.java_exception
        if not _is(cause, "weft.kernel.gate.RefusedException"):
            raise
        raise ExpressionRefusedError(str(cause.getMessage())) from error
    return DataFrame(chosen, session)


def write(
    frame: DataFrame,
    *,
    prefix: str,
    outputs: Mapping[str, str],
    verdict: str | None = "verdict",
    control: str | None = None,
    latest_ms: int | None = None,
    stamp: Mapping[str, int | None] | None = None,
) -> Written:
    """Write a woven frame in one pass: each output's non-null structs into its table's folder.

    `outputs` maps column to folder. The files are durable and belong to no table until a commit names them.
    With `latest_ms` the frame says `partition` and `event_time` of every row, and the answer has per partition
    the highest event time up to that one, and how many were `ahead` of it. `stamp` sets `knot`, `at_ms` and, if
    it is in it, `watermark_ms` in `_weft` of every row on the way.
    """
    times = {"partition": "partition", "event_time": "event_time", "latest_ms": latest_ms}
    spec = {
        "prefix": prefix,
        "outputs": [{"column": column, "path": path} for column, path in outputs.items()],
        "verdict": verdict,
        "control": control,
        "times": None if latest_ms is None else times,
        "stamp": stamp,
    }
    spine = _package(frame.sparkSession).spine.Spine
    return codec.from_form(Written, json.loads(spine.write(frame._jdf, json.dumps(spec))))


def fingerprint(rows: DataFrame) -> dict[str, Any]:
    """How many rows there are and the sum of their record hashes, in any order and partitioning."""
    result: dict[str, Any] = json.loads(_package(rows.sparkSession).hash.Fingerprints.of(rows._jdf))
    return result


def fingerprints(rows: DataFrame) -> dict[str, dict[str, Any]]:
    """The rows and the sum of record hashes of each file; the last column of `rows` is the file's name."""
    found: dict[str, dict[str, Any]] = json.loads(
        _package(rows.sparkSession).hash.Fingerprints.ofFiles(rows._jdf)
    )
    return found


def source(
    spark: SparkSession,
    path: str,
    schema: StructType,
    *,
    name: str,
    max_rows: int = 0,
    max_knots: int = 0,
    start_knot: int = 0,
    buckets: int = 0,
) -> DataFrame:
    """The stream in a table's folder as a frame: whole knots after `start_knot`, without those cut.

    A batch admits knots until `max_rows` rows or `max_knots` knots (0: all). With `buckets` there is a column
    `_control` and one row per bucket and batch in it, which names the batch's knots and their watermarks.
    """
    reader = spark.readStream.format(SOURCE_FORMAT).schema(schema)
    limits = {
        "maxRows": max_rows,
        "maxKnots": max_knots,
        "startKnot": start_knot,
        "buckets": buckets,
    }
    return reader.option("name", name).options(**limits).load(path)


def tick(spark: SparkSession, name: str) -> None:
    """Make the reader of this name run one more batch, also when nothing is new."""
    _package(spark).stream.StreamReader.tick(name)


class Table:
    """A stream's table: its knots in order, each one commit of its Delta log."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.path = path
        self._log = _package(spark).table.TableLog.of(spark._jsparkSession, path)

    def exists(self) -> bool:
        """Whether the table was created."""
        with _errors(self.path):
            return bool(self._log.exists())

    def version(self) -> int:
        """The newest version, -1 when there is no table; cheap when nothing was added."""
        with _errors(self.path):
            return int(self._log.version())

    def schema(self) -> dict[str, Any]:
        """The schema of the stream's rows now, as Spark writes schemas in JSON."""
        with _errors(self.path):
            schema: dict[str, Any] = json.loads(self._log.schema())
            return schema

    def create(
        self, schema: Mapping[str, Any], properties: Mapping[str, str] | None = None
    ) -> None:
        """Create the table; one that is there with the same schema stays as it is."""
        with _errors(self.path):
            self._log.create(json.dumps(schema), json.dumps(properties or {}))

    def head(self) -> TableKnot | None:
        """The newest knot that is not cut."""
        with _errors(self.path):
            return _knot(self._log.head())

    def last(self) -> TableKnot | None:
        """The newest knot that there ever was, cut or not."""
        with _errors(self.path):
            return _knot(self._log.last())

    def find(self, knot: int) -> TableKnot | None:
        """The knot with this number; None when it is absent or cut."""
        with _errors(self.path):
            return _knot(self._log.find(knot))

    def knots(self, after: int, to: int) -> list[TableKnot]:
        """The knots in (after, to] that are not cut, oldest first."""
        with _errors(self.path):
            return [_table_knot(entry) for entry in json.loads(self._log.knots(after, to))]

    def commit(
        self,
        expected: int,
        note: Note,
        files: Sequence[DataFile],
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> int:
        """Add a knot after version `expected`, which must be the newest, and return its version."""
        with _errors(self.path):
            version = int(
                self._log.commit(
                    expected,
                    json.dumps(codec.pack(note)),
                    json.dumps([codec.to_form(file) for file in files]),
                    None if schema is None else json.dumps(schema),
                )
            )
        if version % table_checkpoint.EVERY_COMMITS == 0:
            table_checkpoint.request(self.path)
        return version

    def cut(self, keep: int, head: int, weft: Mapping[str, Any]) -> int:
        """Take the knots in (keep, head] out of the table; the same cut again changes nothing."""
        with _errors(self.path):
            return int(self._log.cut(keep, head, json.dumps(weft)))

    def restore(self, keep: int, head: int, weft: Mapping[str, Any]) -> int:
        """Bring knots in (keep, head] that were cut back into the table; again changes nothing."""
        with _errors(self.path):
            return int(self._log.restore(keep, head, json.dumps(weft)))


def _package(spark: SparkSession) -> Any:
    """The kernel's Java package."""
    jvm = spark._jvm
    if jvm is None:
        raise WeftError("The Spark session was stopped.", code="session.stopped")
    return jvm.weft.kernel


def _knot(text: str | None) -> TableKnot | None:
    return None if text is None else _table_knot(json.loads(text))


def _table_knot(entry: Mapping[str, Any]) -> TableKnot:
    return TableKnot(
        entry["version"],
        codec.unpack(Note, entry["weft"]),
        tuple(codec.from_form(DataFile, file) for file in entry["files"]),
    )


@contextmanager
def _errors(path: str) -> Iterator[None]:
    """Say what the kernel could not do to a table as an error of Weft."""
    try:
        yield
    except PySparkException as error:  # what PySpark translates itself, such as a wrong argument
        raise TableError(str(error), path=path) from error
    except Py4JJavaError as error:
        cause = error.java_exception
        kind = TableConflictError if _is(cause, "weft.kernel.table.CommitConflict") else TableError
        raise kind(str(cause.getMessage()), path=path) from error


def _is(exception: Any, name: str) -> bool:
    return bool(exception.getClass().getName() == name)
