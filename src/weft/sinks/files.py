"""A sink that writes one file per knot into a folder, as JSON lines, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from weft.declared.key import Key
from weft.declared.limit import choice, stored_at
from weft.locations.local import LocalLocation, sync_folder
from weft.locations.location import Location, locate
from weft.sinks.document import documents, to_json, to_text
from weft.sinks.options import Options
from weft.sinks.rows import Rows
from weft.sinks.sink import Promise, Sink, SinkError, Target

Write = Callable[[BinaryIO, Rows, tuple[str, ...]], None]


@dataclass(frozen=True)
class FilesOptions(Options):
    """Writes a file per knot into a folder. Exactly once, for readers of whole files."""

    path: Annotated[
        str,
        Key(
            stored_at("s3a", "hdfs"), "The folder, from the project file on; or a bucket's.", "out"
        ),
    ]
    format: Annotated[
        Literal["json", "csv", "parquet"],
        Key(choice("json", "csv", "parquet"), "What the files hold.", "parquet"),
    ] = "json"

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"the files in {self.path}"

    def open(self, target: Target) -> Sink:
        """The sink."""
        return FilesSink(self, target)


class FilesSink:
    """Exactly once for readers of whole files: the knot is the name of its file, which appears
    complete and durable or not at all, so that a knot delivered again only replaces itself."""

    promise: Promise = "exactly once"

    def __init__(self, options: FilesOptions, target: Target) -> None:
        self._folder = locate(options.path)
        self._target = target
        self._write, self._ending = FORMATS[options.format]
        self._pattern = re.compile(rf"{re.escape(target.stream)}-(\d+)\.{self._ending}")
        unfinished = re.compile(rf"\.{self._pattern.pattern}\..*\.building")
        with self._trying("be opened"):
            if isinstance(self._folder, LocalLocation):
                self._folder.path.mkdir(parents=True, exist_ok=True)
            for name in filter(unfinished.fullmatch, self._folder.names()):
                (self._folder / name).delete()

    def deliver(self, knot: int, rows: Rows) -> None:
        """Write the knot's file; a knot without rows has none."""
        if not rows.count:
            return
        with self._trying(f"take knot {knot}"), self._file(knot).writing() as handle:
            self._write(handle, rows, self._target.columns)

    def delivered(self) -> int | None:
        """The highest knot that has a file."""
        found = map(self._pattern.fullmatch, self._folder.names())
        return max((int(match[1]) for match in found if match), default=None)

    def retract(self, knots: range, rows: Rows) -> None:
        """Remove the files of these knots."""
        with self._trying("be rolled back"):
            for knot in knots:
                self._file(knot).delete()
            if isinstance(self._folder, LocalLocation):
                sync_folder(self._folder.path)

    def restore(self, knot: int, rows: Rows) -> None:
        """Write the knot's file again."""
        self.deliver(knot, rows)

    def close(self) -> None:
        """Nothing is held."""

    def _file(self, knot: int) -> Location:
        # Twelve digits: names sort as their knots do.
        return self._folder / f"{self._target.stream}-{knot:012d}.{self._ending}"

    @contextmanager
    def _trying(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._failed(what, error) from error

    def _failed(self, what: str, error: OSError) -> SinkError:
        return SinkError(
            f"Files sink '{self._folder.address}' of stream '{self._target.stream}' could not {what}: "
            f"{error.strerror or error}.",
            code="sinks.files",
            hint="Check that the folder can be written and the disk has room.",
            stream=self._target.stream,
        )


def _write_json(handle: BinaryIO, rows: Rows, columns: tuple[str, ...]) -> None:
    for batch in rows.batches():
        handle.writelines(to_json(one) + b"\n" for one in documents(batch.select(columns)))


def _write_csv(handle: BinaryIO, rows: Rows, columns: tuple[str, ...]) -> None:
    """A header, then a line per row; nested values are JSON, null is an empty cell."""
    text = io.TextIOWrapper(handle, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(columns)
    for batch in rows.batches():
        for one in documents(batch.select(columns)):
            writer.writerow([to_text(value) for value in one.values()])
    text.detach()


def _write_parquet(handle: BinaryIO, rows: Rows, columns: tuple[str, ...]) -> None:
    writer = None
    for batch in rows.batches():
        chosen: pa.RecordBatch = batch.select(columns)
        writer = writer or pq.ParquetWriter(handle, chosen.schema, compression="zstd")
        writer.write_batch(chosen)
    if writer is not None:
        writer.close()


FORMATS: Mapping[str, tuple[Write, str]] = {
    "json": (_write_json, "jsonl"),
    "csv": (_write_csv, "csv"),
    "parquet": (_write_parquet, "parquet"),
}
