"""Patterns before they run: a text in, a reason to refuse it out. Called by the checker, which has no
Java at hand.

The kernel matches patterns of Java's dialect in linear time. What has none (looking around, referring
back, atomic groups) is refused here, and so is what cannot be read; where Java's dialect is finer than
this, the kernel has the last word when a rule is attached.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_LENGTH = 1_000
MAX_COUNT = 1_000
MAX_GROUPS = 50
MAX_DEPTH = 50
MAX_PLACES = 5_000

_COUNT = re.compile(r"\{(\d+)(,(\d*))?\}")
_GROUP = re.compile(r"\?(?:<[a-zA-Z][a-zA-Z0-9]*>|[imsu]*(?:-[imsu]*)?[:)])")
_ESCAPES = "dDsSwWhHvVtnrfaeAzZbBpPxu0cQ"


def refusal(pattern: str) -> str | None:
    """Why a pattern must not be run, or None when nothing speaks against it."""
    if len(pattern) > MAX_LENGTH:
        return f"it has more than {MAX_LENGTH} characters"
    try:
        _Reader(pattern).read()
    except _RefusedError as refused:
        return str(refused)
    return None


def like_refusal(pattern: str, escape: str = "\\") -> str | None:
    """Why a LIKE pattern cannot be read, or None: an escape stands before %, _ or itself only."""
    at = 0
    while at < len(pattern):
        if pattern[at] == escape:
            at += 1
            if at == len(pattern) or pattern[at] not in ("%", "_", escape):
                return f"it has the escape {escape} before what needs none"
        at += 1
    return None


class _RefusedError(Exception):
    """A pattern that is refused; the message is a clause that says why."""


@dataclass
class _Part:
    """A part of a pattern: whether it can match nothing, and how many places it has written out."""

    empty: bool = True
    places: int = 0


@dataclass
class _Group:
    """A group while it is read: the alternatives before, the one being read, and its last part."""

    before: _Part = field(default_factory=lambda: _Part(empty=False))
    current: _Part = field(default_factory=_Part)
    last: _Part | None = None

    def add(self, part: _Part | None) -> None:
        """Take the last part in, for good, and this one as the last."""
        if self.last is not None:
            self.current.empty &= self.last.empty
            self.current.places += self.last.places
        self.last = part

    def end_alternative(self) -> None:
        self.add(None)
        self.before.empty |= self.current.empty
        self.before.places += self.current.places + 2
        self.current = _Part()


class _Reader:
    """Reads a pattern from left to right and keeps no more of it than what can be wrong."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = 0
        self.open = [_Group()]

    def read(self) -> None:
        while self.at < len(self.pattern):
            sign = self.pattern[self.at]
            if sign in "*+?{":
                self.repetition(sign)
            elif sign == "\\":
                self.escape()
            elif sign == "[":
                self.bracketed()
            elif sign == "(":
                self.group()
            else:
                self.at += 1
                self.sign(sign)
            self.check_places()
        if len(self.open) > 1:
            raise _RefusedError("it cannot be read: a group is not closed")

    def check_places(self) -> None:
        group = self.open[-1]
        parts = (group.before, group.current, group.last or _Part())
        if sum(part.places for part in parts) > MAX_PLACES:
            raise _RefusedError(
                f"it has more than {MAX_PLACES} places when its repetitions are written out"
            )

    def sign(self, sign: str) -> None:
        if sign == "|":
            self.open[-1].end_alternative()
        elif sign == ")":
            if len(self.open) == 1:
                raise _RefusedError("it cannot be read: a bracket closes no group")
            closed = self.open.pop()
            closed.end_alternative()
            self.open[-1].add(closed.before)
        else:
            self.open[-1].add(_Part(empty=sign in "^$", places=1))

    def group(self) -> None:
        self.at += 1
        if self.pattern[self.at : self.at + 1] == "?":
            found = _GROUP.match(self.pattern, self.at)
            if found is None:
                rest = self.pattern[self.at + 1 :]
                if rest.startswith(("=", "!", "<=", "<!")):
                    raise _RefusedError("it looks ahead or behind, which has no linear time")
                if rest.startswith(">"):
                    raise _RefusedError("it has an atomic group, which has no linear time")
                raise _RefusedError("it cannot be read: a group is of an unknown kind")
            self.at = found.end()
            if found[0].endswith(")"):
                self.open[-1].add(None)
                return
            self.groups += found[0].startswith("?<")
        else:
            self.groups += 1
        self.open.append(_Group())
        if self.groups > MAX_GROUPS:
            raise _RefusedError(f"it has more than {MAX_GROUPS} groups")
        if len(self.open) > MAX_DEPTH:
            raise _RefusedError("it is nested too deep")

    def escape(self) -> None:
        sign = self.pattern[self.at + 1 : self.at + 2]
        if not sign:
            raise _RefusedError("it cannot be read: it ends in a backslash")
        if sign == "Q":
            end = self.pattern.find("\\E", self.at)
            end = len(self.pattern) if end < 0 else end
            for _ in self.pattern[self.at + 2 : end]:
                self.open[-1].add(_Part(empty=False, places=1))
            self.at = end + 2
            return
        if sign == "k" or sign in "123456789":
            raise _RefusedError("it refers back to what it matched, which has no linear time")
        if sign.isascii() and sign.isalnum() and sign not in _ESCAPES:
            raise _RefusedError(f"it has the escape \\{sign}, which is not taken")
        self.at += 2
        if sign in "pPx" and self.pattern[self.at : self.at + 1] == "{":
            end = self.pattern.find("}", self.at)
            if end < 0:
                raise _RefusedError("it cannot be read: a brace is not closed")
            self.at = end + 1
        else:
            self.at += {"p": 1, "P": 1, "x": 2, "u": 4, "c": 1}.get(sign, 0)
        self.open[-1].add(_Part(empty=sign in "AzZbB", places=1))

    def bracketed(self) -> None:
        """Skip a class in brackets, and classes in it; a bracket right after its beginning is a character."""
        depth = 0
        while self.at < len(self.pattern):
            sign = self.pattern[self.at]
            if self.pattern.startswith("\\Q", self.at):
                end = self.pattern.find("\\E", self.at)
                self.at = len(self.pattern) if end < 0 else end + 2
                continue
            if sign == "\\":
                self.at += 2
                continue
            self.at += 1
            if sign == "[":
                depth += 1
                self.at += self.pattern[self.at : self.at + 1] == "^"
                self.at += self.pattern[self.at : self.at + 1] == "]"
            elif sign == "]":
                depth -= 1
                if not depth:
                    self.open[-1].add(_Part(empty=False, places=1))
                    return
        raise _RefusedError("it cannot be read: a class is not closed")

    def repetition(self, sign: str) -> None:
        least, most = self.counts(sign)
        following = self.pattern[self.at : self.at + 1]
        if following == "+":
            raise _RefusedError("it repeats possessively, which has no linear time")
        self.at += following == "?"
        group = self.open[-1]
        part = group.last
        if part is None:
            raise _RefusedError("it cannot be read: it repeats what is not there")
        if part.empty and most != 1:
            raise _RefusedError("it repeats what may match nothing")
        group.last = None
        empty = part.empty or least == 0
        group.current.empty &= empty
        group.current.places += part.places * max(least, most or 1, 1) + max(most or 1, 1) - least

    def counts(self, sign: str) -> tuple[int, int | None]:
        """How often something is repeated at least and at most; None is without limit."""
        if sign != "{":
            self.at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        found = _COUNT.match(self.pattern, self.at)
        if found is None:
            raise _RefusedError("it cannot be read: a repetition has no count")
        self.at = found.end()
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else None
        if max(least, most or 0) > MAX_COUNT:
            raise _RefusedError(f"it repeats something more than {MAX_COUNT} times")
        if most is not None and most < least:
            raise _RefusedError("it cannot be read: a repetition ends before it begins")
        return least, most
