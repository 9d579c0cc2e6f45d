"""The rows of a stream as they lie in its table. Any tool that reads Delta tables sees the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

from weft.cli.output import Printer, moment
from weft.errors import WeftError
from weft.lineage.provenance import told_hashes
from weft.locations.location import Location
from weft.project.provenance import PROVENANCE
from weft.schema.change import KEY_PROPERTY
from weft.schema.weft import WEFT
from weft.sinks.document import finite, to_text
from weft.sinks.rows import to_records
from weft.streams.current import current
from weft.streams.delta import open_table
from weft.streams.log import LOG_FOLDER

if TYPE_CHECKING:
    from deltalake import DeltaTable


NO_NAMES = ("", ".", "..")


class TableMissingError(WeftError):
    """A stream that has no table here."""

    code = "stream.no-table"
    domain = "missing"


def newest_rows(
    table: Location, stream: str, *, limit: int, weft: bool = False
) -> list[dict[str, Any]]:
    """The last rows of a table in the order of their knots, values as text where JSON has no form for them."""
    opened = _open(table, stream)
    names = _names(opened, weft=weft)
    is_provenance = stream.endswith(PROVENANCE)
    found: list[dict[str, Any]] = []
    for path in reversed(_files(opened)):
        rows: list[dict[str, Any]] = _read(path)
        if is_provenance:
            rows = [told_hashes(row) for row in rows]
        found = [_shown(row, names) for row in rows] + found
        if len(found) >= limit:
            break
    return found[-limit:]


def current_rows(
    table: Location, stream: str, *, limit: int, weft: bool = False
) -> list[dict[str, Any]]:
    """The newest row of each key of a changing stream, as many as are wanted."""
    opened = _open(table, stream)
    names = _names(opened, weft=weft)
    return [_shown(row, names) for row in islice(_current(opened, stream), limit)]


def all_current(table: Location, stream: str) -> list[Mapping[str, Any]]:
    """The newest row of each key of a changing stream, with the values that it has."""
    return list(_current(_open(table, stream), stream))


def _current(opened: DeltaTable, stream: str) -> Iterator[Mapping[str, Any]]:
    key = opened.metadata().configuration.get(KEY_PROPERTY)
    if key is None:
        raise WeftError(
            f"The rows of stream '{stream}' do not replace one another: all of them are current.",
            code="stream.not-changing",
            domain="user",
            hint="Leave --current out.",
            stream=stream,
        )
    rows = (row for path in _files(opened) for row in _read(path))
    return current(rows, json.loads(key))


def _open(table: Location, stream: str) -> DeltaTable:
    # A name that is a way to somewhere else is no name, whatever lies there.
    if "/" in stream or stream in NO_NAMES or not (table / LOG_FOLDER).exists():
        raise TableMissingError(
            f"Stream '{stream}' has no table at {table.address}.",
            hint="It may have no knots yet: see `weft stream list`. If it lies elsewhere, name the project's "
            "storage with `--storage`.",
            stream=stream,
        )
    return open_table(table.address)


def _names(opened: DeltaTable, *, weft: bool) -> list[str]:
    return [field.name for field in opened.schema().fields if weft or field.name != WEFT]


def _files(opened: DeltaTable) -> list[str]:
    """The files of a table in the order of their knots, with whose numbers their names begin."""
    return sorted(opened.file_uris())


def _read(path: str) -> list[dict[str, Any]]:
    from weft.locations.parquet import open_parquet

    with open_parquet(path) as file:
        return [row for batch in file.iter_batches() for row in to_records(batch)]


def _shown(row: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: plain(row.get(name)) for name in names}


def render_rows(output: Printer, rows: list[dict[str, Any]]) -> None:
    """Rows as a table, one column a column."""
    columns = list(rows[0]) if rows else []
    output.table(
        columns,
        ([_data(row[name]) for name in columns] for row in rows),
        empty="The stream has no rows.",
    )


def _data(value: Any) -> Any:
    """A value of a row as a cell: with all its digits, and an empty text unlike none."""
    return '""' if value == "" else exact(text_of(value))


def exact(value: Any) -> Any:
    """A number with all its digits; tables round others."""
    return Decimal(repr(value)) if isinstance(value, float) else value


def plain(value: Any) -> Any:
    """A value with texts where JSON has no form for it."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float):
        return finite(value)
    return value if isinstance(value, bool | int | str | None) else to_text(value)


def text_of(value: Any) -> Any:
    """A value as a cell of a table; the window of a pane as its bounds and what kind of pane it is."""
    if isinstance(value, dict) and value.keys() >= {"start", "end", "kind", "revision"}:
        bounds = f"{moment(value['start'])} to {moment(value['end'])}"
        return f"{bounds} {value['kind']}" + (
            f" ({value['revision']})" if value["revision"] else ""
        )
    return to_text(value) if isinstance(value, dict | list) else value
