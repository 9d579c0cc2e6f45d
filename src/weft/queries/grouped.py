"""Groups of a changing stream: what is kept of each so that rows can be taken out again."""

from __future__ import annotations

from weft.products.reading import Reading, TableColumns
from weft.queries.form import Grouping
from weft.queries.query import (
    UpdatingQuery,
    at,
    by_key,
    check_order,
    grouping_columns,
    places,
    view,
)
from weft.schema.schema import Field, Schema, quoted
from weft.steps.compile import new_name, storable
from weft.windows.aggregate import Aggregate, AggregateError, checked_aggregate

SUMS = ("count", "sum", "avg")
RANKS = ("min", "max", "min_by", "max_by")
INSTEAD = {"first": "min_by(x, at)", "last": "max_by(x, at)"}


def grouped(said: Grouping, stream: str, table: TableColumns) -> UpdatingQuery:
    """The groups of a stream; their key is what they are grouped by."""
    reading = Reading(stream, table)
    by = grouping_columns(said.by, reading, "by")
    fields, aggregates = list(by), []
    for name, text in said.aggregate:
        with at("aggregate", name):
            aggregate, kind = checked_aggregate(name, text, table.columns)
            _check_kept(aggregate)
            for argument in aggregate.arguments:
                reading.checked(argument)
            fields.append(Field(new_name(name), storable(name, kind)))
        if aggregate.function in RANKS:
            ordering = reading.checked(aggregate.arguments[-1]).type
            check_order(ordering, f"Aggregate {name!r}", "aggregate", name)
        aggregates.append(aggregate)
    with at("aggregate"):
        columns = Schema(tuple(fields))
    # Between rows that are equal otherwise, the key decides which is the first.
    order = by_key(table) if any(len(one.arguments) > 1 for one in aggregates) else ()
    key = tuple(one.name for one in by)
    form = {
        "type": "group",
        "views": [
            view(
                link=[quoted(one.name) for one in by],
                order=order,
                aggregates=[one.to_kernel() for one in aggregates],
            )
        ],
        "columns": [{"name": name} for name in columns.names],
        "key": places(key, columns),
    }
    deciding = (tuple(reading.columns),)
    return UpdatingQuery(columns, key, "group", (reading.to_kernel(),), deciding, form)


def _check_kept(aggregate: Aggregate) -> None:
    """Refuse what cannot take a row out again, or goes by an order that rows which replace one another have not."""
    if aggregate.function in (*SUMS, *RANKS):
        return
    instead = INSTEAD.get(aggregate.function)
    known = f"Use one of {', '.join((*SUMS, *RANKS))}."
    raise AggregateError(
        f"Aggregate {aggregate.name!r}: {aggregate.function} is not kept for rows that replace one another.",
        code="aggregate.changing",
        hint=f"Write {instead}." if instead else known,
        aggregate=aggregate.name,
    )
