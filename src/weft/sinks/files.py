"""A sink that writes one file per knot into a folder, as JSON lines, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from weft.declared.key import Key
from weft.declared.limit import LOCAL_PATH, choice
from weft.sinks.document import documents, to_json, to_text
from weft.sinks.options import Options
from weft.sinks.rows import Rows
from weft.sinks.sink import Promise, Sink, SinkError, Target

Write = Callable[[BinaryIO, Rows, tuple[str, ...]], None]


@dataclass(frozen=True)
class FilesOptions(Options):
    """Writes a file per knot into a folder. Exactly once, for readers of whole files."""

    path: Annotated[str, Key(LOCAL_PATH, "The folder, from the project file on.", "out")]
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
        self._folder = Path(options.path)
        self._target = target
        self._write, self._ending = FORMATS[options.format]
        self._pattern = re.compile(rf"{re.escape(target.stream)}-(\d+)\.{self._ending}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for left in self._folder.glob(f".{target.stream}-*.{self._ending}.part"):
                left.unlink(missing_ok=True)
        except OSError as error:
            raise self._failed("be opened", error) from error

    def deliver(self, knot: int, rows: Rows) -> None:
        """Write the knot's file; a knot without rows has none."""
        if not rows.count:
            return
        path = self._path(knot)
        part = path.with_name(f".{path.name}.part")
        try:
            with part.open("wb") as handle:
                self._write(handle, rows, self._target.columns)
                handle.flush()
                os.fsync(handle.fileno())
            part.replace(path)
            self._sync_folder()
        except OSError as error:
            raise self._failed(f"take knot {knot}", error) from error

    def delivered(self) -> int | None:
        """The highest knot that has a file."""
        found = (self._pattern.fullmatch(path.name) for path in self._folder.iterdir())
        return max((int(match[1]) for match in found if match), default=None)

    def retract(self, knots: range, rows: Rows) -> None:
        """Remove the files of these knots."""
        try:
            for knot in knots:
                self._path(knot).unlink(missing_ok=True)
            self._sync_folder()
        except OSError as error:
            raise self._failed("be rolled back", error) from error

    def restore(self, knot: int, rows: Rows) -> None:
        """Write the knot's file again."""
        self.deliver(knot, rows)

    def close(self) -> None:
        """Nothing is held."""

    def _path(self, knot: int) -> Path:
        # Twelve digits: names sort as their knots do.
        return self._folder / f"{self._target.stream}-{knot:012d}.{self._ending}"

    def _sync_folder(self) -> None:
        """Make the folder's entries durable; a name may otherwise be lost with the power."""
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def _failed(self, what: str, error: OSError) -> SinkError:
        return SinkError(
            f"Files sink '{self._folder}' of stream '{self._target.stream}' could not {what}: "
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
