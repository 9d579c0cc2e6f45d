"""The header of a CSV file against the columns that are declared: rows full of nulls are worse than none."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from weft.reason import one_line

SHOWN = 200


def misfit(header: str, columns: Sequence[str], separator: str) -> str | None:
    """Why a file with this first line cannot be read by these columns, or None when it can.

    Columns may stand in any order and case, more of them may be there, and some may be missing. A line that
    lacks columns and has names that are none is no header of theirs.
    """
    try:
        found = next(csv.reader([header], delimiter=separator), [])
    except csv.Error:
        found = [header]
    names = {name.strip().lower() for name in found}
    wanted = {column.lower() for column in columns}
    if not wanted - names or not names - wanted:
        return None
    return (
        f"the file begins with {one_line(header, SHOWN)!r}, which is no header for the columns "
        f"{one_line(', '.join(columns), SHOWN)}; give it one, correct `separator`, or set `header: false`"
    )
