"""Regular expressions: those that explode are told from those that only look alike."""

from __future__ import annotations

import pytest

from weft.weaving.pattern import refusal

EXPLODING = [
    r"(a+)+$",
    r"(.*)*",
    r"(a|a)*b",
    r"(a|ab|b)*c",
    r"(a|b|c|[a-c])+d",
    r"(\w+\s?)*$",
    r"([a-z]+)*\d",
    r"(a?){30}a{30}",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(\d+)*x",
    r"((a*)*)*",
    r"(x+x+)+y",
    r"(.*a){20}",
    r"(a{1,3}){1,30}b",
    r"(?=(a+)+b)",
    r"([^,]*,?)*$",
    r"(?i)(a|A)*$",
    r"(?:[a-z]|[aeiou])+!",
    r"a*a*a*a*a*a*a*$",
    r"(a)\1",
    r"a{1,100000}",
    r"[",
    r"(",
    r"*a",
    "a" * 2_000,
]
HARMLESS = [
    r"",
    r"^[\w.+-]+@[\w-]+\.[\w.]+$",
    r"\d+",
    r"(\d+,)*\d+",
    r"^(\w+\.)*\w+$",
    r"^.*foo.*bar.*$",
    r"(?i)hello|world",
    r"^\+?\d{1,3}[- ]?\d{3,14}$",
    r"(?<year>\d{4})-(?<month>\d\d)",
    r"\p{L}+",
    r"[A-Z]{2}\d{2}[A-Z0-9]{1,30}",
    r"(ab|cd)*",
    r"[a-z]+(-[a-z]+)*",
    r"\Qa.b\E+",
    r"(foo|bar)+baz",
    r"https?://[^/]+/(\w+)",
    r"(\d{1,3}\.){3}\d{1,3}",
    r".{0,200}x",
    r"^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$",
    r"[^@]+@(\w+\.)+com",
    r"\||[|]",
    r"a|",
]


@pytest.mark.parametrize("pattern", EXPLODING, ids=[one[:30] for one in EXPLODING])
def test_a_pattern_that_can_explode_is_refused(pattern: str) -> None:
    assert refusal(pattern)


@pytest.mark.parametrize("pattern", HARMLESS, ids=[one[:30] for one in HARMLESS])
def test_a_harmless_pattern_is_taken(pattern: str) -> None:
    assert refusal(pattern) is None
