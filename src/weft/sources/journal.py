"""What a Python source delivered, kept before Spark hears of it: a batch that is run again reads
the journal, so records come exactly once out of a source that cannot be read twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from weft.locations.location import Addressed
from weft.reason import shown
from weft.sources.segment import Record, Segments, encode

MOST_TEXT = 10_000


class EventSource(Protocol):
    """A source of records that a user writes. Create it without arguments, or with the options as
    keywords.

    With `position` and `seek` it is told at each start from where to go on; without them it should
    deliver each record once, and what it delivered is safe.
    """

    def read_batch(self, max_events: int) -> Sequence[Record]:
        """At most so many records that there are now; none when there are none. Does not wait."""
        ...

    def close(self) -> None:
        """Let go of what the source holds."""
        ...


@runtime_checkable
class Seekable(Protocol):
    """An event source that can say where it stands and go back there."""

    def position(self) -> Any:
        """Where the source stands, as a value that JSON can hold."""
        ...

    def seek(self, position: Any) -> None:
        """Go on from where `position` said."""
        ...


class Journal:
    """The segments of one source; each is one batch of it."""

    def __init__(self, folder: Addressed, source: EventSource, *, keep: int | None = None) -> None:
        self._segments = Segments(folder)
        self._source = source
        self._keep = keep
        self._last = 0
        self._seek(max(self._segments.numbers(), default=0))

    def next(self, after: int, *, max_events: int) -> int:
        """The number of the segment behind `after`, read from the source if it is not there yet.

        It is `after` itself when the source has nothing. A segment that was journaled and then lost
        sight of by a crash is handed out before the source is asked again.
        """
        if self._segments.find(after + 1) is not None:
            return after + 1
        self._seek(after)
        events = list(self._source.read_batch(max_events) or ())
        if not events:
            return after
        stated = {"position": self._source.position()} if isinstance(self._source, Seekable) else {}
        records = [(0, _encoded(event)) for event in events]
        self._segments.append(records, number=after + 1, stated=stated, only=True)
        self._last = after + 1
        return after + 1

    def _seek(self, number: int) -> None:
        """Have the source go on behind a segment that it was not asked for here: an earlier life wrote it, or another
        worker that had the pipeline meanwhile."""
        if number > self._last and isinstance(self._source, Seekable):
            self._source.seek(self._segments.get(number).stated["position"])
        self._last = number

    def committed(self, number: int) -> None:
        """Drop the segments that are so old that no rollback reaches them."""
        if self._keep is not None:
            self._segments.prune(before=number - self._keep + 1)

    def close(self) -> None:
        """Close the source."""
        self._source.close()


def _encoded(event: Any) -> bytes:
    """The bytes of a record; one that has none is its text, and so a dead letter, as the others must not be
    lost with it: the source may not deliver them again."""
    try:
        return encode(event)
    except (TypeError, ValueError, RecursionError):
        return shown(event, MOST_TEXT).encode()


def records(folder: Addressed, number: int) -> Iterator[tuple[str, bytes]]:
    """The position and bytes of each record of a segment."""
    for index, (_, value) in enumerate(Segments(folder).get(number).records()):
        yield f"{number}:{index}", value
