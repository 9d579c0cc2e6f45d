"""Changes as Debezium's JSON tells them, and in batches as they arrive: late, mixed, out of order, and again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

from tests.products.history import Change
from tests.products.table import Row, Table

Envelope = dict[str, Any]
UNAVAILABLE = "__debezium_unavailable_value"
BEFORE_MS = 1_700_000_000_000
MADE_UP: Mapping[str, Any] = {
    "int": 0,
    "bigint": 0,
    "string": "",
    "double": 0.0,
    "decimal(10,2)": "0.00",
    "boolean": False,
    "timestamp": "1970-01-01T00:00:00.000000Z",
}
"""What a column that may not be null holds in a row of which the key alone is known."""


def encoded(value: Any) -> Any:
    """A value in JSON: decimals as texts (`decimal.handling.mode=string`), timestamps as ISO texts in UTC."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return value


def envelope(change: Change, table: Table, *, last: bool = False) -> Envelope:
    """A change as Debezium for Postgres tells it, without schema; `last` of the first rows of its table."""
    first = "last_in_data_collection" if last else "true"
    return {
        "before": _before(change, table),
        "after": _after(change),
        "source": {
            "version": "3.0.0.Final",
            "connector": "postgresql",
            "name": "model",
            "ts_ms": BEFORE_MS + change.transaction,
            "snapshot": first if change.op == "r" else "false",
            "db": "model",
            "schema": "public",
            "table": change.table,
            "txId": change.transaction,
            "lsn": change.position,
        },
        "op": change.op,
        "ts_ms": BEFORE_MS + change.position,
        "transaction": None,
    }


def _before(change: Change, table: Table) -> Row | None:
    if change.before is None or (change.op == "u" and not table.full):
        return None
    if table.full:
        return {name: encoded(value) for name, value in change.before.items()}
    keyed = dict(zip(table.key, change.key, strict=True))
    return {
        # Columns that may be null are null, others have a value that was never in the row.
        name: keyed.get(name, MADE_UP[kind] if len(name) % 2 else None)
        for name, kind in table.columns.items()
    }


def _after(change: Change) -> Row | None:
    if change.after is None:
        return None
    told = {name: encoded(value) for name, value in change.after.items()}
    return {**told, **dict.fromkeys(change.unsaid, UNAVAILABLE)}


def envelopes(changes: list[Change], tables: Mapping[str, Table]) -> dict[str, list[Envelope]]:
    """All changes by table, each in the order of the log."""
    last = {change.table: change for change in changes if change.op == "r"}
    found: dict[str, list[Envelope]] = {name: [] for name in tables}
    for change in changes:
        is_last = change is last.get(change.table)
        found[change.table].append(envelope(change, tables[change.table], last=is_last))
    return found


def deliveries(
    events: Mapping[str, list[Envelope]],
    keys: Mapping[str, tuple[str, ...]],
    rng: Random,
    *,
    disorder: bool,
) -> list[dict[str, list[Envelope]]]:
    """The events cut into batches, each table at its own pace.

    Now and then a table goes back and tells its last events again, as a connector does that was started again. With
    `disorder`, neighbours of one table change places, but a value that stayed unsaid never comes before the event that
    says it.
    """
    batches: list[dict[str, list[Envelope]]] = [{} for _ in range(rng.randint(1, 12))]
    for table, told in events.items():
        arriving = _repeated(_swapped(told, keys[table], rng) if disorder else told, rng)
        cuts = sorted(rng.choices(range(len(arriving) + 1), k=len(batches) - 1))
        for batch, start, end in zip(batches, [0, *cuts], [*cuts, len(arriving)], strict=True):
            if start < end:
                batch[table] = arriving[start:end]
    return [batch for batch in batches if batch]


def _repeated(events: list[Envelope], rng: Random) -> list[Envelope]:
    found = list(events)
    for _ in range(rng.choice((0, 0, 1, 2))):
        if found:
            at = rng.randint(1, len(found))
            back = rng.randint(1, min(at, 8))
            found[at:at] = found[at - back : at]
    return found


def _swapped(events: list[Envelope], key: tuple[str, ...], rng: Random) -> list[Envelope]:
    found, place = list(events), 1
    while place < len(found):
        earlier, later = found[place - 1], found[place]
        if rng.random() < 0.3 and not _needs(later, earlier, key):
            found[place - 1 : place + 1] = [later, earlier]
            place += 1
        place += 1
    return found


def _needs(later: Envelope, earlier: Envelope, key: tuple[str, ...]) -> bool:
    """Whether an event leaves a value unsaid that the one before it may say."""
    after, said = later["after"], earlier["after"]
    if after is None or said is None or UNAVAILABLE not in after.values():
        return False
    return all(after[name] == said[name] for name in key)
