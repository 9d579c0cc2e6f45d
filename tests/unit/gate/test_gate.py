"""The gate holds: whatever is written is either taken, and then stays as it is, or refused with a code."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.gate.test_expression import BAD, GOOD, ORDERS
from weft.gate.call import ALLOWED
from weft.gate.expression import ExpressionError, check
from weft.gate.pattern import refusal
from weft.gate.refusal import REFUSED

WORDS = sorted({word for case in [*GOOD, *BAD] for word in case[0].split()[:30] if len(word) < 40})
SIGNS = [
    "(",
    ")",
    "[",
    "]",
    ",",
    "'",
    '"',
    "`",
    "->",
    "::",
    ".",
    ";",
    "--",
    "/*",
    "*/",
    "$",
    "?",
    ":",
]


def refusal_of(text: str) -> ExpressionError | None:
    try:
        check(text, ORDERS)
    except ExpressionError as refused:
        return refused
    return None


def holds(text: str) -> None:
    refused = refusal_of(text)
    if refused is not None:
        assert refused.code.startswith("expression.")
        assert refused.hint
        return
    checked = check(text, ORDERS)
    assert check(checked.sql, ORDERS).sql == checked.sql
    assert set(checked.functions) <= ALLOWED


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*WORDS, *SIGNS]), max_size=12))
def test_any_mixture_of_words_is_taken_or_refused(words: list[str]) -> None:
    holds(" ".join(words))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_taken_or_refused(text: str) -> None:
    holds(text)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab|()*+?{}[]^$.\\,12-=<>!:", max_size=30))
def test_any_pattern_is_judged(pattern: str) -> None:
    refusal(pattern)


def test_no_function_is_both_allowed_and_refused() -> None:
    assert not ALLOWED & set(REFUSED)


def test_hundreds_of_functions_are_allowed() -> None:
    assert len(ALLOWED) > 250
