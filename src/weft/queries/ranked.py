"""The first rows of a changing stream, by an order, for each value of some columns."""

from __future__ import annotations

from weft.products.reading import Reading, TableColumns
from weft.queries.form import Ranking
from weft.queries.query import (
    UpdatingQuery,
    at,
    by_key,
    check_order,
    grouping_columns,
    places,
    view,
)
from weft.schema.schema import quoted


def ranked(said: Ranking, stream: str, table: TableColumns) -> UpdatingQuery:
    """The first rows of a stream, under the stream's own key."""
    reading = Reading(stream, table)
    by = grouping_columns(said.by, reading, "by")
    order = []
    for text, falls in said.order:
        with at("order"):
            checked = reading.checked(text)
        check_order(checked.type, "The order", "order")
        order.append((checked.sql, falls))
    deciding = (tuple(reading.columns),)
    columns = table.columns
    form = {
        "type": "top",
        "views": [
            view(
                link=[quoted(one.name) for one in by],
                order=[*order, *by_key(table)],
                fields=[quoted(reading.column(name).name) for name in columns.names],
            )
        ],
        "columns": [{"name": name, "left": place} for place, name in enumerate(columns.names)],
        "key": places(table.key, columns),
        "limit": said.limit,
    }
    return UpdatingQuery(columns, table.key, "top", (reading.to_kernel(),), deciding, form)
