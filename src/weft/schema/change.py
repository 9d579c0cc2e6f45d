"""The column `_change`, which every row of a changing stream has behind the user's own: what happened to the row that
its key names, and where in the database's log that stands."""

from __future__ import annotations

from weft.schema.schema import Field, Schema
from weft.schema.type import parse_type

CHANGE = "_change"
KEY_PROPERTY = "weft.key"
"""The property of a changing stream's table that says its key, for whoever reads the table alone."""
CHANGE_TYPE = parse_type(
    "struct<op:string,position:string,at:timestamp,transaction:string,snapshot:string,kept:array<string>>"
)
"""What a change says of itself.

- `op`: `c` the row was created, `u` updated, `r` read by a snapshot, `d` deleted, `t` every row of the table is gone.
- `position`: a text whose byte order is the order of the changes of one row in the database's log; null when unknown,
  and then they count in the order in which they arrive.
- `at`: when the database made the change, else when the connector saw it.
- `transaction`: the name of the transaction that made it, or null.
- `snapshot`: which part of a snapshot the row is of (`first`, `true`, `last`, `incremental`, …); null for a change.
- `kept`: the columns whose values did not change and were left out of the log, so that they are null here and stay what
  they were; null when there are none.
"""

GONE = "d"
EMPTIED = "t"
"""The ops of rows that take rows away: the one of their key, or all of the table."""


def with_change(schema: Schema) -> Schema:
    """The user's columns, then `_change`; what has it stays as it is."""
    if schema.names[-1:] == (CHANGE,):
        return schema
    return Schema((*schema.fields, Field(CHANGE, CHANGE_TYPE)))
