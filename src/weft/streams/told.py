"""What tables tell of the knots that wrote them, read from their logs alone: a store that was lost is made of this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from weft import codec
from weft.errors import WeftError
from weft.lineage.facts import FilledPart
from weft.lineage.knot import Knot, Status
from weft.locations.location import Location
from weft.streams.floor import LogFloor, find_floor
from weft.streams.log import LOG_FOLDER, Commit, commits
from weft.streams.note import Note


class TableUntrustedError(WeftError):
    """The log of a table is not what was written."""

    code = "table.untrusted"
    domain = "user"


@dataclass
class Told:
    """What one table tells: its notes by knot with their commits, which knots are live, the highest number it names."""

    stream: str
    notes: dict[int, tuple[Note, Commit]] = field(default_factory=dict)
    live: set[int] = field(default_factory=set)
    last: int = 0
    expired: int = 0
    """The last knot whose rows were let go of."""
    floor: LogFloor | None = None
    """Where its log begins, if older knots are forgotten."""

    @property
    def origin(self) -> str | None:
        """The stream whose knots these are."""
        return next((note.origin for note, _ in self.notes.values()), None)

    @property
    def is_own(self) -> bool:
        """Whether this is the table of the stream that ties the knots, which tells all of them."""
        return any(note.facts is not None for note, _ in self.notes.values())

    def own(self) -> Iterator[tuple[Note, Commit]]:
        """The notes that tell all of their knots, oldest first."""
        for number in sorted(self.notes):
            note, commit = self.notes[number]
            if note.facts is not None:
                yield note, commit

    def knots(self) -> dict[int, Knot]:
        """The knots that the table tells of, sealed as they were: the same facts give the same hash."""
        return {note.knot: self._knot(note, commit) for note, commit in self.own()}

    def _knot(self, note: Note, commit: Commit) -> Knot:
        tied = Knot.told(commit.weft["pinned"], commit.weft["facts"], own=commit.version)
        return tied if note.knot in self.live else tied.becoming(Status.ROLLED_BACK)

    def fills(self) -> Iterator[FilledPart]:
        """What the table was filled with from recorded rows, and still holds."""
        for number, (note, commit) in self.notes.items():
            if note.fill is not None and number in self.live:
                yield FilledPart(
                    stream=self.stream,
                    rule=note.fill,
                    first=note.first or number,
                    knot=number,
                    rows=note.rows,
                    bytes=sum(file.bytes for file in commit.adds),
                    hash=note.hash,
                    version=commit.version,
                    files=commit.adds,
                    schema="",
                    columns={},
                )


def read_tables(folder: Location) -> dict[str, Told]:
    """What every table in a folder tells; refuses one whose log cannot be trusted."""
    tables = [folder / name for name in folder.names() if (folder / name / LOG_FOLDER).exists()]
    return {table.name: _read(table) for table in tables}


def _read(folder: Location) -> Told:
    floor = find_floor(folder)
    if floor is not None and not floor.is_intact:
        raise TableUntrustedError(
            f"What the table of stream '{folder.name}' says of its first knot cannot be trusted: it was changed.",
            hint="Restore the table's folder from a backup first; `weft verify` says more.",
            stream=folder.name,
        )
    told = Told(folder.name, expired=floor.expired if floor else 0, floor=floor)
    for expected, commit in enumerate(commits(folder), start=floor.version + 1 if floor else 0):
        if commit.flaw is not None or commit.version != expected:
            reason = commit.flaw or f"version {expected} is gone"
            raise TableUntrustedError(
                f"Version {commit.version} of the table of stream '{folder.name}' cannot be trusted: "
                f"{reason}.",
                hint="Restore the table's folder from a backup first; `weft verify` says more.",
                stream=folder.name,
            )
        if commit.knot is not None:
            told.notes[commit.knot] = (codec.unpack(Note, commit.weft), commit)
            told.live.add(commit.knot)
            told.last = max(told.last, commit.knot)
        told.expired = max(told.expired, commit.expires)
        for number in commit.span("cut"):
            told.live.discard(number)
            told.last = max(told.last, number)
        told.live.update(number for number in commit.span("restore") if number in told.notes)
    return told
