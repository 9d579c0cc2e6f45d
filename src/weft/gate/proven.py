"""The calls that can never raise, and never make a value larger than their arguments.

Whatever is not named here is computed inside `weft_try`. `tests/spark/test_gate_proof.py` computes
all of them without it, over hostile records and in both of Spark's modes, and fails if one raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from weft.gate.term import Term

# What is looked for, or trimmed, is looked for at every place of a text.
SHORT = 64

_ANY = """
    coalesce ifnull nvl nvl2 if isnull isnotnull equal_null greatest least typeof nullifzero
    isnan nanvl positive
    acos acosh asin asinh atan atanh cos cosh cot csc sec sin sinh tan tanh cbrt degrees exp expm1 ln
    log10 log1p log2 radians rint sign signum sqrt atan2 hypot pow power log e pi
    bin bit_count shiftleft shiftright shiftrightunsigned factorial width_bucket
    crc32 hash xxhash64 md5 sha sha1 sha2
    day dayofmonth dayofweek dayofyear month quarter weekday weekofyear year dayname monthname last_day
    date_diff datediff trunc date_from_unix_date unix_date unix_micros unix_millis unix_seconds timestamp_micros
    array_compact array_contains array_max array_min array_position array_remove array_size size
    cardinality flatten get sort_array map_contains_key map_keys map_values
"""
"""Whatever their arguments are."""

_TEXT = """
    lower upper lcase ucase initcap make_valid_utf8 try_validate_utf8 soundex trim ltrim rtrim btrim ascii
    length len char_length character_length bit_length octet_length char chr find_in_set left right
    luhn_check is_valid_utf8 mask substr substring translate json_array_length get_json_object
"""
"""As long as none of their arguments is binary, which Spark reads as text without looking."""

_SEARCH = ("contains", "startswith", "endswith", "instr", "locate", "position")
"""With something short and written out to look for."""

_MOMENT = "hour minute second"
"""Of times; not every date is one."""

ANY, TEXT, MOMENT = (frozenset(names.split()) for names in (_ANY, _TEXT, _MOMENT))
PROVEN = frozenset([*ANY, *TEXT, *_SEARCH, *MOMENT, "nullif", "like", "ilike"])
# Patterns that are a text, the beginning or end of one, or a part of one.
_SIMPLE_LIKE = re.compile(r"%?[^%_\\]*%?")


def never_raises(name: str, terms: Sequence[Term]) -> bool:
    """Whether a call with these arguments is one of those that were proven."""
    if name not in PROVEN or not all(term.total for term in terms):
        return False
    kinds = {term.type.name for term in terms}
    if name in TEXT:
        trims = name.endswith("trim") and len(terms) == 2
        return "binary" not in kinds and not (trims and not _is_short(terms[1]))
    if name in _SEARCH:
        sought = terms[0] if name in ("locate", "position") else terms[1]
        return "binary" not in kinds and _is_short(sought)
    if name in MOMENT:
        return "date" not in kinds
    if name == "nullif":
        # Anything but a column is computed twice where the kernel does not keep it.
        return terms[0].plain
    if name in ("like", "ilike"):
        simple = len(terms) == 2 and _SIMPLE_LIKE.fullmatch(terms[1].value)
        return "binary" not in kinds and bool(simple)
    return True


def _is_short(term: Term) -> bool:
    return term.is_text and len(term.value.encode("utf-8", errors="replace")) <= SHORT


COPIES: Mapping[str, int] = {"right": 2, "nullifzero": 2}
"""How often Spark writes out each argument of a call, where that is more than once."""
