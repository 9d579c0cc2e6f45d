"""The offset of the file source: so many entries of the log of admitted files whole, so many lines and bytes of the
next, and of the files that grew after they were admitted how far each was taken (`grown`: line, byte, print)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.sources.lines import Place

BEGINNING = {"file": 0, "line": 0, "byte": 0}
"""The offset before the first record."""


@dataclass(frozen=True)
class Tail:
    """How far a file that grew was taken."""

    place: Place
    print: str


@dataclass
class Offset:
    """Entries of the log whole, a place in the next, and the tails of files that grew."""

    number: int
    place: Place
    grown: dict[int, Tail] = field(default_factory=dict)

    @staticmethod
    def from_json(form: Mapping[str, Any]) -> Offset:
        """The offset that `to_json` wrote; those without tails are of files that could not grow."""
        grown = {
            int(number): Tail(Place(line, byte), printed)
            for number, (line, byte, printed) in form.get("grown", {}).items()
        }
        return Offset(form["file"], Place(form["line"], form["byte"]), grown)

    def to_json(self) -> dict[str, Any]:
        """Its form in Spark's log."""
        form: dict[str, Any] = {
            "file": self.number,
            "line": self.place.line,
            "byte": self.place.byte,
        }
        if self.grown:
            form["grown"] = {
                str(number): [tail.place.line, tail.place.byte, tail.print]
                for number, tail in sorted(self.grown.items())
            }
        return form
