"""Changes as a test writes them one by one, and what came of them."""

from __future__ import annotations

from typing import Any

from weft.testing import Play


class Log:
    """Envelopes of changes, each at the next position of the database's log."""

    def __init__(self) -> None:
        self.position = 0

    def __call__(self, op: str, **row: Any) -> dict[str, Any]:
        self.position += 1
        gone = op == "d"
        return {
            "op": op,
            "before": row if gone else None,
            "after": None if gone or op == "t" else row,
            "source": {"lsn": self.position, "snapshot": "false"},
        }


def ops(run: Play, stream: str) -> list[str]:
    """What happened to the rows of a stream, in its order."""
    return [row["_change"]["op"] for row in run.rows(stream)]
