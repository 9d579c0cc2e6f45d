"""What the processes of `weft up` say: a file for each in the storage, kept from growing for ever."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

LARGEST = 16 << 20
LOOK_S = 0.3
PARTS = ("weaver", "worker")


def journal_of(storage: Path, part: str) -> Path:
    """The file that a process says things in."""
    return storage / "logs" / f"{part}.log"


def open_journal(storage: Path, part: str) -> IO[bytes]:
    """The file of a process, to be written on; one that has grown large is put aside first."""
    from weft.streams.storage import Storage

    path = journal_of(storage, part)
    Storage(str(storage)).make()
    path.parent.mkdir(exist_ok=True)
    if path.exists() and path.stat().st_size > LARGEST:
        path.replace(path.with_suffix(".log.1"))
    return path.open("ab")


def last_lines(path: Path, count: int) -> list[str]:
    """The last lines of a file, which may not be there yet."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        size = min(file.tell(), count * 1000 + 10_000)
        file.seek(-size, os.SEEK_END)
        return file.read().decode(errors="replace").splitlines()[-count:]


def follow(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    """What is written to files from now on, line by line."""
    return _follow({path: path.stat().st_size if path.exists() else 0 for path in paths})


def _follow(places: dict[Path, int]) -> Iterator[tuple[Path, str]]:
    while True:
        for path, place in places.items():
            size = path.stat().st_size if path.exists() else 0
            if size < place:
                place = 0  # it was put aside
            if size > place:
                with path.open("rb") as file:
                    file.seek(place)
                    text = file.read(size - place)
                whole = text[: text.rfind(b"\n") + 1]
                places[path] = place + len(whole)
                for line in whole.decode(errors="replace").splitlines():
                    yield path, line
        time.sleep(LOOK_S)
