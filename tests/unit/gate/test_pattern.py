"""Patterns: those with no linear time, or that cannot be read, are told from those that can be run."""

from __future__ import annotations

import pytest

from weft.gate.pattern import like_refusal, refusal

REFUSED = [
    r"(?=(a+)+b)",
    r"(?!a)b",
    r"(?<=a)b",
    r"(?<!a)b",
    r"(?>a+)b",
    r"a*+b",
    r"(a)\1",
    r"(?<n>a)\k<n>",
    r"(.*)*",
    r"((a*)*)*",
    r"(a?){30}a{30}",
    r"([^,]*,?)*$",
    r"(^)+",
    r"a{1,100000}",
    r"(a{1000}){1000}",
    r"((a{100}){100}){100}",
    r"a{3,2}",
    r"a{,3}",
    r"a**",
    r"a{2}{3}",
    r"[",
    r"[a",
    r"(",
    r")",
    r"*a",
    r"a|*",
    r"(?x)a",
    r"\y",
    "a\\",
    "a" * 2_000,
    "(" * 60 + "a" + ")" * 60,
    "(a)" * 51,
]
TAKEN = [
    r"",
    r"(a+)+$",
    r"(a|a)*b",
    r"(\w+\s?)*$",
    r"a*a*a*a*a*a*a*$",
    r"(x+x+)+y",
    r"(.*a){20}",
    r"(a{1,3}){1,30}b",
    r"^[\w.+-]+@[\w-]+\.[\w.]+$",
    r"\d+",
    r"(\d+,)*\d+",
    r"^.*foo.*bar.*$",
    r"(?i)hello|world",
    r"(?i:a)(?s-i:.)b",
    r"^\+?\d{1,3}[- ]?\d{3,14}$",
    r"(?<year>\d{4})-(?<month>\d\d)",
    r"\p{L}+\P{Lu}",
    r"[A-Z]{2}\d{2}[A-Z0-9]{1,30}",
    r"\Qa.b\E+",
    r"[\Q]\E]+",
    r"[]a]+",
    r"[^]a]",
    r"[a-z&&[^aeiou]]+",
    r"\x41\x{1F600}\u00e9\0101\cA",
    r"https?://[^/]+/(\w+)",
    r"(\d{1,3}\.){3}\d{1,3}",
    r".{0,200}x",
    r"\||[|]",
    r"a|",
    r"(a?)?",
    r"a{0}",
    r"(\bword\b)?",
]


@pytest.mark.parametrize("pattern", REFUSED, ids=[one[:30] for one in REFUSED])
def test_a_pattern_that_cannot_be_run_is_refused(pattern: str) -> None:
    assert refusal(pattern)


@pytest.mark.parametrize("pattern", TAKEN, ids=[one[:30] for one in TAKEN])
def test_a_pattern_of_linear_time_is_taken(pattern: str) -> None:
    assert refusal(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "escape", "taken"),
    [
        ("a%_", "\\", True),
        ("10\\%", "\\", True),
        ("a\\", "\\", False),
        ("a\\b", "\\", False),
        ("10/%//", "/", True),
        ("a/", "/", False),
    ],
)
def test_an_escape_of_like_stands_before_what_it_escapes(
    pattern: str, escape: str, taken: bool
) -> None:
    assert (like_refusal(pattern, escape) is None) is taken
