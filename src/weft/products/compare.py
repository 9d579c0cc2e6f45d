"""Documents of two origins side by side: values that are equal whatever text each side writes them as, and what
differs. Called by `weft product check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from weft.schema.schema import Schema, Type

Key = tuple[Any, ...]
Document = Mapping[str, Any]


@dataclass(frozen=True)
class DocumentDifference:
    """A document that the two sides do not have alike: `missing` here, `extra` here, or `different` in some fields."""

    key: Key
    kind: str
    fields: tuple[str, ...] = ()
    ours: Document | None = None
    theirs: Document | None = None


def keyed(rows: Sequence[Document], schema: Schema, key: Sequence[str]) -> dict[Key, Document]:
    """Documents by key, with every value in one form."""
    found: dict[Key, Document] = {}
    for row in rows:
        document = {one.name: normal(row.get(one.name), one.type) for one in schema}
        found[tuple(document[name] for name in key)] = document
    return found


def differences(
    ours: Mapping[Key, Document], theirs: Mapping[Key, Document]
) -> Iterator[DocumentDifference]:
    """What differs, in the order of the keys of the other side."""
    for key, wanted in theirs.items():
        found = ours.get(key)
        if found is None:
            yield DocumentDifference(key, "missing", theirs=wanted)
        elif found != wanted:
            fields = tuple(name for name in wanted if wanted[name] != found.get(name))
            yield DocumentDifference(key, "different", fields, found, wanted)
    for key, found in ours.items():
        if key not in theirs:
            yield DocumentDifference(key, "extra", ours=found)


def normal(value: Any, kind: Type) -> Any:
    """A value in the one form of its type, from JSON of PostgreSQL's or from a row of ours."""
    if value is None:
        return None
    if kind.name == "struct":
        return {one.name: normal(value.get(one.name), one.type) for one in kind.fields}
    if kind.name == "array":
        return [normal(one, kind.items[0]) for one in value]
    if kind.name in ("timestamp", "timestamp_ntz"):
        read = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    if kind.name == "date":
        return value if isinstance(value, date) else date.fromisoformat(str(value))
    if kind.name == "decimal":
        return Decimal(str(value)).quantize(Decimal(1).scaleb(-(kind.scale or 0)))
    if kind.name in ("float", "double"):
        return float(value)
    return value
