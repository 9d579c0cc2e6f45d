"""Regular expressions that cannot explode: a pattern's parse in, a reason to refuse it out.
Called by the expression checker.

A backtracking matcher takes exponential time when the same text can go round a loop of the
pattern in two ways. That is decided here on the pattern's position automaton: its states are the
places of characters, and a pattern explodes if two different paths lead from a place back to
itself over the same text.
"""

from __future__ import annotations

import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as sre  # type: ignore[import-not-found]
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from weft.weaving.component import components

MAX_LENGTH = 1_000
MAX_PLACES = 400
MAX_COUNT = 1_000
# Each loop over the same characters multiplies the time by the length of the text.
MAX_LOOPS = 5
# Each optional part over the same characters doubles it.
MAX_OPTIONS = 12
# Repetitions up to this count are written out one by one.
WRITTEN_OUT = 8

# Characters are judged as Latin-1 plus one bit that stands for all others.
_ALL = (1 << 257) - 1
_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
# What Java writes in another way than Python, as far as the shape of the pattern is concerned.
_JAVA = (
    (re.compile(r"\(\?<(?=[a-zA-Z])"), "(?P<"),
    (re.compile(r"\\[pP](\{[^}]*\}|[A-Z])"), r"\\w"),
    (re.compile(r"\\[hvRXG]"), r"\\s"),
    (re.compile(r"\\z"), r"\\Z"),
    (re.compile(r"\\Q(.*?)\\E", re.DOTALL), lambda found: re.escape(found[1])),
)


def refusal(pattern: str) -> str | None:
    """Why a pattern must not be run, or None when it is harmless."""
    if len(pattern) > MAX_LENGTH:
        return f"it has more than {MAX_LENGTH} characters"
    shaped = pattern
    for java, python in _JAVA:
        shaped = java.sub(python, shaped)
    try:
        with warnings.catch_warnings(action="error"):
            tree = sre.parse(_kept_apart(shaped))
    except (re.error, OverflowError, FutureWarning, DeprecationWarning) as failure:
        return f"it cannot be read: {failure}"
    except RecursionError:
        return "it is nested too deep"
    try:
        return _Builder(fold=bool(tree.state.flags & re.IGNORECASE)).refusal(tree)
    except _RefusedError as refused:
        return str(refused)
    except RecursionError:
        return "it is nested too deep"


def _kept_apart(pattern: str) -> str:
    """The pattern with its alternatives marked; the parser would merge those that are alike."""
    marked = ""
    inside = escaped = False
    for character in pattern:
        marked += character
        if escaped or character == "\\":
            escaped = not escaped
        elif inside or character == "[":
            inside = character != "]" or marked.endswith(("[]", "[^]"))
        elif character == "|":
            marked += "(?=)"
    return marked


class _RefusedError(Exception):
    """A construct whose cost cannot be bounded."""


@dataclass
class _Part:
    """A piece of the pattern: where it begins and ends, in how many ways it matches nothing."""

    first: Counter[int] = field(default_factory=Counter)
    last: Counter[int] = field(default_factory=Counter)
    empty: int = 1


class _Builder:
    """Builds the position automaton. Edges are counted: two ways to the next place are two."""

    def __init__(self, *, fold: bool) -> None:
        self.fold = fold
        self.sets: list[int] = []
        self.follow: list[Counter[int]] = []
        self.loops: list[int] = []
        self.options: list[int] = []

    def refusal(self, tree: Any) -> str | None:
        self.part(tree)
        if self.explodes():
            return "its time grows exponentially, because a loop can take the same text in two ways"
        if _alike(self.loops) > MAX_LOOPS or _alike(self.options) > MAX_OPTIONS:
            return "it has too many variable parts that take the same characters"
        return None

    def part(self, items: Any) -> _Part:
        whole = _Part()
        for code, argument in items:
            whole = self.join(whole, self.item(code, argument))
        return whole

    def item(self, code: Any, argument: Any) -> _Part:
        if code is op.LITERAL:
            return self.place(self.bit(argument))
        if code is op.NOT_LITERAL:
            return self.place(_ALL & ~self.bit(argument))
        if code is op.ANY:
            return self.place(_ALL)
        if code is op.IN:
            return self.place(self.members(argument))
        if code is op.SUBPATTERN:
            return self.part(argument[3])
        if code is op.ATOMIC_GROUP:
            return self.part(argument)
        if code is op.BRANCH:
            return self.branch(argument[1])
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            return self.repeat(*argument)
        if code in (op.ASSERT, op.ASSERT_NOT):
            self.part(argument[1])
            return _Part()
        if code is op.AT:
            return _Part()
        raise _RefusedError("it refers back to what it matched, which cannot be bounded")

    def place(self, characters: int) -> _Part:
        if len(self.sets) >= MAX_PLACES:
            raise _RefusedError(
                f"it has more than {MAX_PLACES} places when its counts are written out"
            )
        self.sets.append(characters)
        self.follow.append(Counter())
        here = len(self.sets) - 1
        return _Part(Counter({here: 1}), Counter({here: 1}), empty=0)

    def join(self, left: _Part, right: _Part) -> _Part:
        self.connect(left.last, right.first)
        return _Part(
            left.first + _times(right.first, left.empty),
            right.last + _times(left.last, right.empty),
            left.empty * right.empty,
        )

    def connect(self, sources: Counter[int], targets: Counter[int]) -> None:
        for source, ways in sources.items():
            for target, more in targets.items():
                self.follow[source][target] += ways * more

    def branch(self, choices: Any) -> _Part:
        whole = _Part(empty=0)
        for choice in choices:
            part = self.part(choice)
            whole.first += part.first
            whole.last += part.last
            whole.empty += part.empty
        return whole

    def repeat(self, least: Any, most: Any, body: Any) -> _Part:
        endless = most is op.MAXREPEAT
        if int(least) > MAX_COUNT or (not endless and int(most) > MAX_COUNT):
            raise _RefusedError(f"it repeats something more than {MAX_COUNT} times")
        begin = len(self.sets)
        # A counted repetition of something that varies is a loop in all but name: (a|a){1,30}.
        if endless or (int(most) > WRITTEN_OUT and self.varies(body)):
            loop = self.part(body)
            if loop.empty and not endless:
                raise _RefusedError("it repeats many times what may match nothing")
            self.connect(loop.last, loop.first)
            self.loops.append(_union(self.sets[begin:]))
            return _Part(loop.first, loop.last, 1 if loop.empty or int(least) == 0 else 0)
        whole = _Part()
        for number in reversed(range(int(most))):
            whole = self.join(self.part(body), whole)
            whole.empty += number >= int(least)
        if int(most) - int(least) > WRITTEN_OUT:
            self.loops.append(_union(self.sets[begin:]))
        elif int(most) > int(least):
            self.options.append(_union(self.sets[begin:]))
        return whole

    def varies(self, body: Any) -> bool:
        """Whether a body matches texts of different length or by different ways."""
        return any(
            code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT, op.BRANCH)
            or (code is op.SUBPATTERN and self.varies(argument[3]))
            for code, argument in body
        )

    def bit(self, code: int) -> int:
        if self.fold:
            both = {chr(code).lower(), chr(code).upper()}
            return _union([_bit(ord(one)) for one in both if len(one) == 1])
        return _bit(code)

    def members(self, items: Any) -> int:
        found = 0
        negate = False
        for code, argument in items:
            if code is op.NEGATE:
                negate = True
            elif code is op.LITERAL:
                found |= self.bit(argument)
            elif code is op.RANGE:
                low, high = argument
                found |= _union([self.bit(one) for one in range(low, min(high, 255) + 1)])
                found |= 1 << 256 if high > 255 else 0
            elif code is op.CATEGORY:
                found |= _category(argument)
        return _ALL & ~found if negate else found

    def explodes(self) -> bool:
        """Whether some place leads back to itself by two different paths over the same text."""
        looping = components({source: set(targets) for source, targets in enumerate(self.follow)})
        for source, targets in enumerate(self.follow):
            for target, ways in targets.items():
                if ways > 1 and source in looping and looping[source] == looping.get(target):
                    return True
        component = components(self.pairs(looping))
        twins = {number for (one, two), number in component.items() if one == two}
        return any(one != two and number in twins for (one, two), number in component.items())

    def pairs(self, looping: dict[int, int]) -> dict[tuple[int, int], set[tuple[int, int]]]:
        """The pairs of places that the same text can reach from one place of a loop."""
        waiting = [(place, place) for place in looping]
        edges: dict[tuple[int, int], set[tuple[int, int]]] = {}
        while waiting:
            pair = waiting.pop()
            if pair in edges:
                continue
            if len(edges) > MAX_PLACES * 50:
                raise _RefusedError("it is too complicated to be judged")
            loop = looping[pair[0]]
            edges[pair] = {
                (one, two)
                for one in self.follow[pair[0]]
                for two in self.follow[pair[1]]
                if self.sets[one] & self.sets[two]
                and looping.get(one) == loop
                and looping.get(two) == loop
            }
            waiting += edges[pair]
        return edges


def _alike(sets: list[int]) -> int:
    """How many of these sets, at most, share a character with one of them."""
    return max((sum(bool(one & two) for two in sets) for one in sets), default=0)


def _times(counts: Counter[int], ways: int) -> Counter[int]:
    # Two ways are enough to be ambiguous, and more would grow without limit.
    return (
        Counter({place: min(count * ways, 2) for place, count in counts.items()})
        if ways
        else Counter()
    )


def _bit(code: int) -> int:
    return 1 << min(code, 256)


def _union(sets: list[int]) -> int:
    found = 0
    for one in sets:
        found |= one
    return found


def _category(category: Any) -> int:
    matcher = re.compile(_CATEGORIES[category])
    found = _union([_bit(code) for code in range(256) if matcher.match(chr(code))])
    return found | (1 << 256)
