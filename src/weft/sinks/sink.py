"""What a sink is: something outside that gets the rows of each tied knot, in order of the knots.

The spine calls it after the rows are in the stream's table. It may call again with the same knot
after a crash, so each sink states what a reader of it can rely on: its promise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from weft.errors import Domain, WeftError
from weft.sinks.rows import Rows
from weft.steps.function import FunctionVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Promise = Literal["exactly once", "at least once"]


class SinkError(WeftError):
    """Rows could not be delivered; they are in the stream's table and will be delivered again."""

    code = "sinks.failed"
    domain: Domain = "external"
    retryable = True


class SinkFencedError(SinkError):
    """Another worker has taken this sink over; this one must not write again."""

    code = "sinks.fenced"
    domain = "conflict"
    retryable = False


@dataclass(frozen=True)
class Target:
    """Whose rows a sink gets. `history` names one life of the stream's table: a new table starts
    its knots anew, and what was delivered of an older one does not count for it. `is_current` if of a key the row that
    comes last is the one that counts: so it is of products and queries, not of tables. `spark` is the session whose
    executors send, with `parallelism` tasks if a sink says no other number; `code` has the project's own classes.
    `standing` gives the rows that are there after a knot, of streams of which that can be said."""

    app: str
    pipeline: str
    stream: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    history: str = ""
    is_current: bool = False
    spark: SparkSession | None = None
    parallelism: int = 1
    code: Mapping[str, FunctionVersion] = field(default_factory=dict)
    standing: Callable[[int], Rows] | None = None


@runtime_checkable
class Sink(Protocol):
    """Delivers the rows of one stream."""

    promise: Promise

    def deliver(self, knot: int, rows: Rows) -> None:
        """Deliver the rows of a knot; when it returns, they will not be lost."""

    def delivered(self) -> int | None:
        """The last knot that is known to have arrived, or None when the sink cannot tell."""

    def retract(self, knots: range, rows: Rows) -> None:
        """Take back knots that were rolled back; `rows` are theirs. Safe to call twice."""

    def restore(self, knot: int, rows: Rows) -> None:
        """Deliver a knot again that was taken back, because its rollback was rolled back. Safe to call twice."""

    def close(self) -> None:
        """Let go of what the sink holds."""


class EventSink(ABC):
    """A sink of your own: subclass it and name it in the project as `python: module:Class`.

    The options beside the class are given to its constructor. Records are dictionaries of the
    stream's columns. After a crash the last knot may be written again: use its number, when `write`
    takes it as a second argument, to tell. Define `retract(records)` to hear of rollbacks.

    One that says `parallel = True` is written to on the executors, several files at once: `write` may take the number
    of the file in its knot as a third argument.
    """

    parallel: ClassVar[bool] = False

    @abstractmethod
    def write(self, records: list[dict[str, Any]]) -> None:
        """Write the records of one knot."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what the sink holds."""
