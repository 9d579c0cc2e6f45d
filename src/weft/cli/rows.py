"""The rows of a stream as they lie in its table. Any tool that reads Delta tables sees the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weft.cli.output import Printer, moment
from weft.errors import WeftError
from weft.schema.weft import WEFT
from weft.sinks.document import to_text
from weft.sinks.rows import to_records


class TableMissingError(WeftError):
    """A stream that has no table here."""

    code = "stream.no-table"
    domain = "missing"


def newest_rows(
    table: Path, stream: str, *, limit: int, weft: bool = False
) -> list[dict[str, Any]]:
    """The last rows of a table in the order of their knots, values as text where JSON has no form for them."""
    import pyarrow.parquet as pq
    from deltalake import DeltaTable

    if not (table / "_delta_log").exists():
        raise TableMissingError(
            f"Stream '{stream}' has no table in {table.parent}.",
            hint="It may have no knots yet: see `weft stream list`. If it lies elsewhere, name the project's "
            "storage with `--storage`.",
            stream=stream,
        )
    opened = DeltaTable(str(table))
    columns = [field.name for field in opened.schema().fields if weft or field.name != WEFT]
    found: list[dict[str, Any]] = []
    # The names of a stream's files begin with the number of their knot.
    for path in sorted(opened.file_uris(), reverse=True):
        batches = pq.read_table(path).to_batches()
        rows = [row for batch in batches for row in to_records(batch)]
        found = [{name: _plain(row.get(name)) for name in columns} for row in rows] + found
        if len(found) >= limit:
            break
    return found[-limit:]


def render_rows(output: Printer, rows: list[dict[str, Any]]) -> None:
    """Rows as a table, one column a column."""
    columns = list(rows[0]) if rows else []
    output.table(
        columns,
        ([text_of(row[name]) for name in columns] for row in rows),
        empty="The stream has no rows.",
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, bool | int | float | str | None) else to_text(value)


def text_of(value: Any) -> Any:
    """A value as a cell of a table; the window of a pane as its bounds and what kind of pane it is."""
    if isinstance(value, dict) and value.keys() >= {"start", "end", "kind", "revision"}:
        bounds = f"{moment(value['start'])} to {moment(value['end'])}"
        return f"{bounds} {value['kind']}" + (
            f" ({value['revision']})" if value["revision"] else ""
        )
    return to_text(value) if isinstance(value, dict | list) else value
