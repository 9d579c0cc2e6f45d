"""Looks at a directory or a pattern: which files are new, which have grown and how far that has settled, which
were replaced or changed. Called by the file source; what it finds is admitted by others."""

from __future__ import annotations

import glob
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from weft.sources.admission import Admitted, Entry, Remark
from weft.sources.content import Sight, find_inode, head_of, head_size, look, print_of

UNFINISHED = (".tmp", ".part", ".partial", ".crdownload", ".swp", "~")
SELDOM_S = 60.0
"""Files that nobody has written to for long are looked at this often: there may be very many."""


class Sightings:
    """What was seen of one file, look by look, to tell which of its bytes have been there for a while."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, Sight]] = []
        self._looks = 0

    def add(self, now: float, sight: Sight) -> None:
        """Note what a look saw."""
        self._looks += 1
        last = self._seen[-1][1] if self._seen else None
        if last == sight:
            return
        if last is not None and (sight.size < last.size or sight.inode != last.inode):
            self._seen.clear()  # it did not grow, it began anew
        self._seen.append((now, sight))
        self._looks = 1

    def is_still(self, now: float, settle_s: float) -> bool:
        """Whether the last two looks, and all for so long, saw the same."""
        return self._looks > 1 and now - self._seen[-1][0] >= settle_s

    def settled(self, now: float, settle_s: float) -> int:
        """How many bytes have been there for so long, in a file that only grew."""
        if self.is_still(now, settle_s):
            del self._seen[:-1]
            return self._seen[-1][1].size
        old = [sight.size for at, sight in self._seen[:-1] if now - at >= settle_s]
        if len(old) > 1:
            del self._seen[: len(old) - 1]
        return max(old, default=0)


@dataclass
class Followed:
    """An admitted file as it is followed: where it is now, and how much of it was taken."""

    number: int
    entry: Admitted
    path: str
    end: int
    print: str | None
    sight: Sight
    history: Sightings = field(default_factory=Sightings)
    due: float = 0.0
    is_changed: bool = False


@dataclass(frozen=True)
class Growth:
    """How far a file may be read: to the last record that ends before this byte, or all of it if it is still."""

    path: str
    end: int
    still: bool


@dataclass
class Looked:
    """What a look found: files to admit, those that changed where they had been read, and those that lie
    elsewhere on the disk, as copies with their times do."""

    fresh: list[Admitted] = field(default_factory=list)
    changed: list[Followed] = field(default_factory=list)
    copied: list[Followed] = field(default_factory=list)


class Watch:
    """Follows the files of a directory or a pattern."""

    def __init__(
        self, path: str, *, settle_ms: int, is_whole: Callable[[str], bool], head_lines: int = 1
    ) -> None:
        self._path = path
        self._head_lines = head_lines
        self._settle_s = settle_ms / 1000
        self._is_whole = is_whole
        self._often_s = min(max(self._settle_s / 4, 0.02), 1.0)
        self._known: dict[int, Followed] = {}
        self._here: dict[str, Followed] = {}
        self._by_inode: dict[int, Followed] = {}
        self._fresh: dict[str, Sightings] = {}
        self._count = 0
        self._taken: Callable[[int], int] = lambda number: 0
        self.growth: dict[int, Growth] = {}
        """Files with more in them than was taken, by number."""

    def update(self, entries: list[Entry], tails: Mapping[int, tuple[int, str]]) -> None:
        """Take note of what was admitted since, and of what files that grow held as far as they were taken."""
        for number, entry in enumerate(entries[self._count :], self._count):
            if isinstance(entry, Remark):
                known = self._known[entry.of]
                known.end, known.print, known.is_changed = entry.byte, entry.print, False
                known.sight = replace(known.sight, inode=entry.inode or known.sight.inode)
                continue
            sight = Sight(entry.size, entry.mtime_ns, entry.inode or 0)
            known = Followed(number, entry, entry.path, entry.size, entry.print, sight)
            known.history = self._fresh.pop(entry.path, known.history)
            self._known[number] = self._here[entry.path] = known
            self._by_inode[sight.inode] = known
        is_start, self._count = not self._count, len(entries)
        for number, (end, printed) in tails.items():
            known = self._known[number]
            if end > known.end and not known.is_changed:
                known.end, known.print = end, printed
            if is_start and self._here.get(known.path) is not known:
                self._follow(known)  # another has its path, and it may still grow under a new name

    def idle_s(self, number: int, end: int) -> float:
        """How long a file that was taken up to a byte has not been written to; for ever if it is gone."""
        known = self._known[number]
        if self._here.get(known.path) is not known:
            return math.inf
        is_done = known.end == end == known.sight.size and not known.is_changed
        return (time.time_ns() - known.sight.mtime_ns) / 1e9 if is_done else 0.0

    def look(
        self, now: float, generation: Callable[[str], int], taken: Callable[[int], int]
    ) -> Looked:
        """Look at everything that is due.

        `generation` tells how many files were admitted under a path, and `taken` how many bytes of a file
        were read.
        """
        looked = Looked()
        self._taken = taken
        listed = dict.fromkeys(paths(self._path))
        for path in self._fresh.keys() - listed.keys():
            del self._fresh[path]
        # What was renamed to a name outside of the pattern is not listed, and followed all the same.
        for path in {**listed, **dict.fromkeys(self._here)}:
            known = self._here.get(path)
            if known is not None and known.due <= now:
                known = self._check(known, now, looked)
            if known is None and path in listed:
                self._consider(path, now, generation, looked)
        looked.fresh.sort(key=lambda file: (file.mtime_ns, file.path))
        return looked

    def _consider(
        self, path: str, now: float, generation: Callable[[str], int], looked: Looked
    ) -> None:
        """A file that is not known under its path: a renamed one, or a new one once it has settled."""
        sight = look(path)
        if sight is None or self._was_renamed(path, sight):
            return
        history = self._fresh.setdefault(path, Sightings())
        history.add(now, sight)
        still = history.is_still(now, self._settle_s)
        end = sight.size if still else history.settled(now, self._settle_s)
        whole = self._is_whole(path)
        if not still and (whole or not end):
            return
        try:
            seen = head_size(path, end, None if whole else self._head_lines)
            file = Admitted(
                path=path,
                size=end if still else 0,
                mtime_ns=sight.mtime_ns,
                generation=generation(path) + 1,
                inode=sight.inode,
                head=head_of(path, seen),
                print=print_of(path, end if still else 0),
                seen=seen,
                whole=whole,
            )
        except FileNotFoundError:
            return
        looked.fresh.append(file)

    def _was_renamed(self, path: str, sight: Sight) -> bool:
        known = self._by_inode.get(sight.inode)
        if known is None or known.path == path:
            return False
        there = look(known.path)
        if there is not None and there.inode == sight.inode:
            return False  # two names of one file
        if not self._is_it(known, path, sight):
            return False
        self._move(known, path)
        return True

    @staticmethod
    def _is_it(known: Followed, path: str, sight: Sight | None) -> bool:
        if sight is None or sight.size < known.end or known.entry.head is None:
            return False
        return head_of(path, known.entry.seen) == known.entry.head

    def _move(self, known: Followed, path: str) -> None:
        if self._here.get(known.path) is known:
            del self._here[known.path]
        known.path = path
        self._here[path] = known

    def _check(self, known: Followed, now: float, looked: Looked) -> Followed | None:
        """See what became of a known file; None when its path is free for another."""
        sight = look(known.path)
        if sight is None:
            self._leave(known)
            return None
        idle = (time.time_ns() - sight.mtime_ns) / 1e9
        known.due = now + min(max(idle / 10, self._often_s), SELDOM_S)
        if known.sight.is_unchanged(sight):
            if known.sight.inode != sight.inode and not self._is_whole(known.entry.path):
                looked.copied.append(known)
            known.sight = sight
        elif self._is_another(known, sight):
            self._leave(known)
            return None
        else:
            known.due = now
            known.sight = sight
        self._by_inode[sight.inode] = known
        known.history.add(now, sight)
        if known.is_changed:
            if known.history.is_still(now, self._settle_s):
                looked.changed.append(known)
        elif not self._is_whole(known.entry.path):
            done = self._taken(known.number)
            if sight.size > done:
                known.due = now
                still = known.history.is_still(now, self._settle_s)
                end = sight.size if still else known.history.settled(now, self._settle_s)
                if end > done:
                    self.growth[known.number] = Growth(known.path, end, still)
        return known

    def _is_another(self, known: Followed, sight: Sight) -> bool:
        """Whether a file that was written to is not the one that was admitted; notes a change of the same."""
        try:
            if self._is_whole(known.entry.path):
                printed = known.entry.print
                same = sight.size == known.entry.size
                return not same or printed not in (None, print_of(known.path, sight.size))
            if known.sight.inode not in (0, sight.inode) or sight.size < known.end:
                return True
            head = known.entry.head
            if head is not None and head_of(known.path, known.entry.seen) != head:
                return True
            printed = print_of(known.path, known.end)
        except FileNotFoundError:
            return True
        known.is_changed |= known.print is not None and printed != known.print
        known.print = known.print or printed
        return False

    def _leave(self, known: Followed) -> None:
        """A known file is not under its path any more: follow it to its new name, if it has one."""
        self._here.pop(known.path, None)
        self.growth.pop(known.number, None)
        self._follow(known)

    def _follow(self, known: Followed) -> None:
        inode = known.sight.inode
        found = find_inode(inode, os.path.dirname(known.path)) if inode else None
        if found is None or found == known.path or not self._is_it(known, found, look(found)):
            return
        other = self._here.get(found)
        if other is not None and other.sight.inode == inode:
            return
        if other is not None:
            self._leave(other)  # it was renamed in turn
        self._move(known, found)


def paths(path: str) -> list[str]:
    """The finished files of a directory or a pattern."""
    if os.path.isdir(path):
        with os.scandir(path) as entries:
            found: Iterable[str] = [entry.path for entry in entries if entry.is_file()]
    else:
        found = [one for one in glob.glob(path, recursive=True) if os.path.isfile(one)]
    return [os.path.abspath(one) for one in found if is_finished(one)]


def is_finished(path: str) -> bool:
    """Whether the name of a file does not say that it is hidden or still being written."""
    name = os.path.basename(path)
    return not name.startswith((".", "_")) and not name.lower().endswith(UNFINISHED)
