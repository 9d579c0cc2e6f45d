"""A stream's table: a Delta log in which each knot is one commit, read and written by the kernel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from weft import codec, kernel
from weft.errors import Domain, WeftError
from weft.lineage.facts import DataFile
from weft.locations.location import locate
from weft.streams import delta_checkpoint
from weft.streams.compacted import CompactedFile
from weft.streams.note import Note, TableKnot

EVERYTHING = 2**62
"""No knot has a higher number."""


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
class Deleted:
    """How many files were deleted, and the bytes that they took."""

    files: int
    bytes: int


class Table:
    """A stream's table: its knots in order, each one commit of its Delta log."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.path = path
        self._log = kernel.call(spark, "table.TableLog.of", spark, path)

    def exists(self) -> bool:
        """Whether the table was created."""
        with table_errors(path=self.path):
            return bool(self._log.exists())

    def version(self) -> int:
        """The newest version, -1 when there is no table; cheap when nothing was added."""
        with table_errors(path=self.path):
            return int(self._log.version())

    def schema(self) -> dict[str, Any]:
        """The schema of the stream's rows now, as Spark writes schemas in JSON."""
        with table_errors(path=self.path):
            schema: dict[str, Any] = json.loads(self._log.schema())
            return schema

    def create(
        self, schema: Mapping[str, Any], properties: Mapping[str, str] | None = None
    ) -> None:
        """Create the table; one that is there with the same schema stays as it is."""
        with table_errors(path=self.path):
            self._log.create(json.dumps(schema), json.dumps(properties or {}))

    def head(self) -> TableKnot | None:
        """The newest knot that is not cut."""
        with table_errors(path=self.path):
            return _knot(self._log.head())

    def last(self) -> TableKnot | None:
        """The newest knot that there ever was, cut or not."""
        with table_errors(path=self.path):
            return _knot(self._log.last())

    def find(self, knot: int) -> TableKnot | None:
        """The knot with this number; None when it is absent or cut."""
        with table_errors(path=self.path):
            return _knot(self._log.find(knot))

    def knots(self, after: int = 0, to: int = EVERYTHING) -> list[TableKnot]:
        """The knots in (after, to] that are not cut, oldest first; without both, all of them."""
        with table_errors(path=self.path):
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
        with table_errors(path=self.path):
            version = int(
                self._log.commit(
                    expected,
                    json.dumps(codec.pack(note)),
                    json.dumps([codec.to_form(file) for file in files]),
                    None if schema is None else json.dumps(schema),
                )
            )
        if version % delta_checkpoint.EVERY_COMMITS == 0:
            delta_checkpoint.request(self.path)
        return version

    def cut(self, keep: int, head: int, weft: Mapping[str, Any]) -> int:
        """Take the knots in (keep, head] out of the table; the same cut again changes nothing."""
        with table_errors(path=self.path):
            return int(self._log.cut(keep, head, json.dumps(weft)))

    def restore(self, keep: int, head: int, weft: Mapping[str, Any]) -> int:
        """Bring knots in (keep, head] that were cut back into the table; again changes nothing."""
        with table_errors(path=self.path):
            return int(self._log.restore(keep, head, json.dumps(weft)))

    def cuts(self) -> list[tuple[int, int]]:
        """What was cut, as pairs of the knot that was kept and the last one cut."""
        with table_errors(path=self.path):
            return [(keep, head) for keep, head in json.loads(self._log.cuts())]

    def compact(
        self, made: Sequence[CompactedFile], replaces: Sequence[str], weft: Mapping[str, Any]
    ) -> int:
        """Put files in the place of those that knots have now; refused when these are others meanwhile."""
        with table_errors(path=self.path):
            files = json.dumps([codec.to_form(file) for file in made])
            return int(self._log.compact(files, json.dumps(list(replaces)), json.dumps(weft)))

    def compacted(self, *, cut: bool) -> list[CompactedFile]:
        """The files that knots share, oldest first: of knots that were cut, or of those that were not."""
        with table_errors(path=self.path):
            found = json.loads(self._log.compacted())
        return [codec.from_form(CompactedFile, one) for one in found if one.pop("cut") == cut]

    def straddling(self, knot: int) -> CompactedFile | None:
        """The file that has rows of a knot and of later ones."""
        with table_errors(path=self.path):
            text = self._log.straddling(knot)
        return None if text is None else codec.from_form(CompactedFile, json.loads(text))

    def replaced(self, after: int, *, before_ms: int) -> tuple[int, list[str]]:
        """The files that compactions after a version and before a moment replaced, and the newest of these versions."""
        with table_errors(path=self.path):
            found = json.loads(self._log.replaced(after, before_ms))
        return found["version"], found["paths"]

    def expired(self) -> int:
        """The last knot whose rows were let go of, 0 when none were."""
        with table_errors(path=self.path):
            return int(self._log.expired())

    def expire(self, upto: int, weft: Mapping[str, Any]) -> int:
        """Take the rows of all knots up to one out of the table, whose knots stay; again changes nothing."""
        with table_errors(path=self.path):
            return int(self._log.expire(upto, json.dumps(weft)))

    def delete_expired(self, after: int, upto: int) -> Deleted:
        """Delete what lies there of the files of knots in (after, upto] whose rows are expired; may be repeated."""
        with table_errors(path=self.path):
            names = json.loads(self._log.written(after, min(upto, self.expired())))
        return self.delete(names)

    def delete(self, names: Iterable[str]) -> Deleted:
        """Delete what lies there of some files, of which the table needs none; may be repeated."""
        files = size = 0
        for name in names:
            file = locate(self.path) / name
            try:
                held = file.size()
                file.delete()
            except FileNotFoundError:  # an earlier try, or another worker, has deleted it
                continue
            files, size = files + 1, size + held
        return Deleted(files, size)


def _knot(text: str | None) -> TableKnot | None:
    return None if text is None else _table_knot(json.loads(text))


def _table_knot(entry: Mapping[str, Any]) -> TableKnot:
    return TableKnot(
        entry["version"],
        codec.unpack(Note, entry["weft"]),
        tuple(codec.from_form(DataFile, file) for file in entry["files"]),
        shared=tuple(entry["shared"]) if "shared" in entry else None,
    )


@contextmanager
def table_errors(**ids: Any) -> Iterator[None]:
    """Say what the kernel could not do to a table as an error of Weft."""
    try:
        yield
    except PySparkException as error:  # what PySpark translates itself, such as a wrong argument
        raise TableError(str(error), **ids) from error
    except Py4JJavaError as error:
        kind = TableConflictError if kernel.is_raised(error, "table.CommitConflict") else TableError
        raise kind(kernel.message_of(error), **ids) from error
