"""Names of PostgreSQL: a table as a project file writes it, identifiers as SQL does, and places in the log."""

from __future__ import annotations

import re
from dataclasses import dataclass

SCHEMA = "public"
MOST_BYTES = 63
"""PostgreSQL cuts longer names off."""

_PART = r'"(?:[^"\0]|"")+"|[^".\0]+'
_TABLE = re.compile(rf"(?:(?P<schema>{_PART})\.)?(?P<name>{_PART})")
_SLOT = re.compile(r"[a-z0-9_]{1,63}")


@dataclass(frozen=True)
class TableName:
    """A table with its schema."""

    schema: str
    name: str

    @staticmethod
    def parse(text: str) -> TableName | None:
        """The table that a text names, `users` or `app.users`, or None. What has dots or quotes in it is quoted."""
        found = _TABLE.fullmatch(text)
        if found is None:
            return None
        parts = [_bare(part) for part in (found["schema"] or SCHEMA, found["name"])]
        if any(len(part.encode()) > MOST_BYTES or not part.strip() for part in parts):
            return None
        return TableName(*parts)

    @property
    def sql(self) -> str:
        """The table as SQL names it."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"

    def __str__(self) -> str:
        return ".".join(
            part if re.fullmatch(r"\w+", part) else quoted(part)
            for part in (self.schema, self.name)
        )


def _bare(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


def quoted(name: str) -> str:
    """An identifier as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it, whatever the server takes a backslash for."""
    if "\\" in text:
        return " E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    return "'" + text.replace("'", "''") + "'"


def is_slot(name: str) -> bool:
    """Whether a replication slot can have this name."""
    return _SLOT.fullmatch(name) is not None


def slot_of(stream: str) -> str:
    """The name of a stream's slot and publication where none is said."""
    return f"weft_{re.sub(r'[^a-z0-9_]', '_', stream.lower())}"[:MOST_BYTES]


def to_lsn(text: str) -> int:
    """A place in the log, such as 16/B374D848, as a number."""
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def lsn(place: int) -> str:
    """A place in the log as PostgreSQL writes it."""
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"
