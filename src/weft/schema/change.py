"""The column `_change` of a changing stream: what happened to the row, and where in the database's log."""

from __future__ import annotations

from weft.schema.schema import Field, Schema
from weft.schema.type import parse_type

CHANGE = "_change"
KEY_PROPERTY = "weft.key"
"""The property of a changing stream's table that says its key, for whoever reads the table alone."""
CHANGE_TYPE = parse_type(
    "struct<op:string,position:string,at:timestamp,transaction:string,snapshot:string,kept:array<string>>"
)


def with_change(schema: Schema) -> Schema:
    """The columns of a changing stream: the user's, then `_change`."""
    return Schema((*schema.fields, Field(CHANGE, CHANGE_TYPE)))
