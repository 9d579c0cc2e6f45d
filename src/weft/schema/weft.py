"""The column `_weft`, which every row of every stream has beside the user's own: who the row is, and its time."""

from __future__ import annotations

from typing import Any

from weft.schema.schema import Schema
from weft.schema.type import parse_type

WEFT = "_weft"
WEFT_TYPE = parse_type(
    "struct<id:string,knot:bigint,at:timestamp,source:string,partition:int,event_time:timestamp,"
    "watermark:timestamp>"
)


def stored_form(schema: Schema) -> dict[str, Any]:
    """The columns of a stream as its table holds them, in Spark's JSON: the user's, then `_weft`."""
    form = schema.to_json()
    weft = {"name": WEFT, "type": WEFT_TYPE.to_json(), "nullable": True, "metadata": {}}
    return {**form, "fields": [*form["fields"], weft]}
