"""Ranges of files as the tasks of a batch: few small files make one task, and so one file of the stream; a
large one makes several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition

from weft.sources.admission import Admitted
from weft.sources.lines import Place

GONE = "the file was replaced before its records from here on were read; they are gone"
"""What stands for the records of a file that another has taken the place of."""


@dataclass(frozen=True)
class FileRange:
    """The records of one file between two places; an `end` of None is the end of the file.

    It was found at `path`. Records are called `name#line` and the suffix. `reason` says why none of them can be taken.
    A `lost` one stands for itself: there is nothing to read.
    """

    file: Admitted
    path: str | None
    name: str
    suffix: str
    first: Place
    end: int | None
    size: int
    header: str | None = None
    reason: str | None = None
    lost: bool = False


class Pack(InputPartition):
    """What one task reads."""

    def __init__(self, slices: Sequence[FileRange]) -> None:
        self.slices = tuple(slices)


def pack(slices: Sequence[FileRange], tasks: int) -> list[Pack]:
    """At most so many tasks, of about as many bytes each, with the slices in their order."""
    total = sum(one.size for one in slices)
    packed: list[list[FileRange]] = [[] for _ in range(tasks)]
    before = 0
    for one in slices:
        # By its middle: a slice goes where most of it belongs.
        middle = before + one.size / 2
        packed[min(int(middle * tasks / total), tasks - 1) if total else 0].append(one)
        before += one.size
    return [Pack(ones) for ones in packed if ones]
