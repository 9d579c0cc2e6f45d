"""The kinds of sources: which there are, and what is wrong with the options of one. One place for the project's check,
which tells all that is wrong, and for opening a source, which refuses the first. Knows no Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, cast

from weft.declared.key import Key
from weft.declared.limit import CHARACTER, Fault, whole
from weft.declared.read import faults, made, message
from weft.errors import WeftError
from weft.locations.location import Location
from weft.project.definition import StreamSpec
from weft.project.settings import Processing
from weft.schema.schema import nearest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Each kind with its declaration, loaded when it is first used. A new kind is a file and a line here.
KINDS: Mapping[str, str] = {
    "mock": "weft.sources.mock:MockSource",
    "files": "weft.sources.files:FilesSource",
    "kafka": "weft.sources.kafka:KafkaSource",
    "debezium": "weft.sources.debezium:DebeziumSource",
    "postgres": "weft.sources.postgres.source:PostgresSource",
    "python": "weft.sources.python:PythonSource",
    "rule": "weft.sources.rule:RuleSource",
    "feed": "weft.sources.feed:FeedSource",
}
LONGEST_MS = 10**12
"""The longest time that records of the mock source may be out of order, or a file be waited for: 31 years."""


KEEP = Key(
    whole(1, 10**9),
    "How many batches stay in the journal; a rollback reaches no further back.",
    1000,
    unsaid="all",
)
"""Of sources that have a journal."""

SEPARATOR = Key(
    CHARACTER, "What stands between two values; of CSV alone.", ";", beside={"format": "csv"}
)


@dataclass(frozen=True)
class Opening:
    """What a source is opened with: where it keeps what it must remember, and what a batch may admit."""

    checkpoint: Location
    processing: Processing


@dataclass(frozen=True)
class Again(Opening):
    """Records that a source has given before: between two of its offsets, None being its beginning.

    Where only one of them is wanted, a source that can go to it need not give the others.
    """

    start: Any
    end: Any
    only: RecordAt | None = None


@dataclass(frozen=True)
class RecordAt:
    """Where in its source a record is."""

    partition: int
    position: str


class SourceError(WeftError):
    """A source that cannot be opened as it is declared."""

    code = "source.options"
    domain = "user"


@dataclass(frozen=True)
class Source:
    """A kind of source: its fields are its options."""

    takes_others: ClassVar[bool] = False
    changes: ClassVar[bool] = False
    """Whether its records are change events, each of which replaces the row before with its key."""

    @property
    def gives_bytes(self) -> bool:
        """Whether its records come as bytes, which are parsed; else they have the types of their columns already."""
        return True

    def open(self, spark: SparkSession, stream: StreamSpec, opening: Opening) -> DataFrame:
        """The records of the source in raw form; what a frame of them holds is said in `stream`."""
        raise SourceError(
            f"The source of stream {stream.name!r} has no records of its own to read.",
            hint="Rules write it, or the test kit does.",
            stream=stream.name,
        )

    def again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The records between two of its offsets once more, in raw form; nothing is changed by that anywhere."""
        raise SourceError(
            f"What the source of stream {stream.name!r} has given cannot be asked for again.",
            code="source.not-again",
            hint="Replay what is made of the stream: its rows are kept.",
            stream=stream.name,
        )


def declaration(kind: str) -> type[Source]:
    """The declaration of a kind of source."""
    module, _, name = KINDS[kind].partition(":")
    return cast(type[Source], getattr(import_module(module), name))


def tells_changes(kind: str) -> bool:
    """Whether the records of a kind of source are change events of a table."""
    return kind in KINDS and declaration(kind).changes


def csv_alone(options: Mapping[str, Any]) -> Fault | None:
    """What belongs to CSV alone is not taken and ignored elsewhere."""
    for name in ("separator", "header"):
        if name in options and options.get("format", "json") != "csv":
            expected = "left out, or `format` csv: only CSV has one"
            return Fault("unknown-value", expected, (name,))
    return None


def check_source(stream: str, kind: str, options: Mapping[str, Any]) -> Source:
    """What the options of a stream's source say; refuses the first thing that is wrong with them."""
    if kind not in KINDS:
        near = nearest(kind, KINDS)
        raise SourceError(
            f"Stream {stream!r} has a source of kind {kind!r}, which there is not. "
            f"There is {', '.join(KINDS)}.",
            code="source.unknown-kind",
            hint=f"Did you mean {near!r}?" if near else "Use one of the kinds listed.",
            stream=stream,
        )
    for fault in faults(declaration(kind), options):
        told, hint = message(fault, options, f"source {kind!r} of stream {stream!r}")
        option = str(fault.path[0]) if fault.path else None
        raise SourceError(told, hint=hint, stream=stream, option=option)
    return made(declaration(kind), options)
