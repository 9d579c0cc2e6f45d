"""What a document was put together from: rows of tables, each as one change left it. Made in a worker, shown by the
API and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cause:
    """A row that a document has values of, the change that left it so, and the rows that were found by it.

    `part` names the place in the document, empty for its root. `kept` has columns whose values that change did not
    bring because they stayed as they were, each with the id of the change that brought it.
    """

    part: str
    table: str
    key: Mapping[str, Any]
    id: str
    knot: int
    op: str
    position: str | None
    at: str | None
    transaction: str | None
    kept: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Cause, ...] = ()
