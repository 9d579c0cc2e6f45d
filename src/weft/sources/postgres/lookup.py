"""Large values that the log left out of a row whose key was changed: no event of the new key has them, so they are
asked of the table. Called by `changes`.

What the table holds now may be newer than the change. Then the change that made it so is still to come, with a higher
position, and has the value itself; where the row is gone by now, its deletion is still to come.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.sources.postgres.address import Address
from weft.sources.postgres.event import TableEvents
from weft.sources.postgres.message import UNCHANGED, Row
from weft.sources.postgres.name import TableName, literal, quoted


def completed(
    row: Row, columns: Sequence[str], events: TableEvents, table: TableName, address: Address
) -> Row:
    """The row with what the table has for the values that the log left out; as it was where the row is gone."""
    from psycopg import ProgrammingError

    wanted = [place for place in events.places if row[place] is UNCHANGED]
    values = [row[place] for place in events.key_places]
    known = [value.decode() for value in values if isinstance(value, bytes)]
    if not wanted or len(known) < len(values):
        return row
    key = zip((columns[place] for place in events.key_places), known, strict=True)
    where = [f"{quoted(name)} = {literal(value)}" for name, value in key]
    names = ", ".join(quoted(columns[place]) for place in wanted)
    asked = f"SELECT {names} FROM {table.sql} WHERE {' AND '.join(where)}"
    with address.connect() as connection:
        try:
            found = connection.execute(asked.encode()).pgresult
        except ProgrammingError:  # the table is another one by now
            return row
        if found is None or found.ntuples != 1:
            return row
        now = {place: found.get_value(0, at) for at, place in enumerate(wanted)}
    return tuple(now.get(place, value) for place, value in enumerate(row))
