"""The gate for SQL that people write: a text and the columns of a stream in, checked SQL with its
type out, or a refusal.

Called for the steps of project files and of rules, and by the windows for what they aggregate.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlglot.tokenizer_core import Token

from weft.gate.call import PINNED
from weft.gate.grammar import ExpressionError, parse, tokens_of, too_deep
from weft.gate.judge import Judge
from weft.gate.term import require_boolean
from weft.schema.schema import Schema, SchemaError, Type

__all__ = ["Checked", "ExpressionError", "check", "pin"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Checked:
    """An expression that may run.

    `sql` is what Spark gets; `columns` are the columns it reads (`_weft.id` for a field of
    `_weft`); `total` says that it can never raise, nor make a value larger than the record's own;
    `weight` is how many nodes Spark makes of it; `pinned` names the calls that `pin` must fix before it runs.
    """

    sql: str
    columns: tuple[str, ...]
    functions: tuple[str, ...]
    type: Type
    total: bool
    weight: int = 1
    pinned: tuple[str, ...] = ()


def check(text: str, schema: Schema, *, boolean: bool = False) -> Checked:
    """Check one expression against the columns of a stream; `boolean` asks for a condition."""
    root = parse(text)
    inference = Judge(schema)
    try:
        term = inference.term(root)
    except RecursionError as failure:
        raise too_deep() from failure
    except SchemaError as failure:
        raise ExpressionError(
            failure.message, code="expression.type", hint=failure.hint
        ) from failure
    if boolean:
        require_boolean(term, "A filter")
    return Checked(
        sql=term.sql,
        columns=tuple(inference.columns),
        functions=tuple(inference.functions),
        type=term.type,
        total=term.total,
        weight=term.weight,
        pinned=tuple(inference.pinned),
    )


def pin(sql: str, *, now: datetime, seed: int) -> str:
    """The same checked SQL with its moment and its chance fixed.

    The current time becomes the knot's own; random numbers become a hash of the record's id, the
    knot's seed and the place of the call, so each record draws the same ones again in a replay.
    """
    pinned = ""
    copied = drawn = 0
    tokens = tokens_of(sql)
    for place, token in enumerate(tokens):
        name = token.text.lower()
        if name not in PINNED or not _is_call(sql, tokens, place):
            continue
        end = next(other.end for other in tokens[place + 2 :] if other.text == ")") + 1
        drawn += 1
        salt = hashlib.sha256(f"{seed}:{drawn}:{sql}".encode()).digest()
        pinned += sql[copied : token.start] + _fixed(name, now, int.from_bytes(salt[:7], "big"))
        copied = end
    return pinned + sql[copied:]


def _is_call(sql: str, tokens: list[Token], place: int) -> bool:
    """Whether a name is that of a call and not a quoted column or text."""
    follows = place + 1 < len(tokens) and tokens[place + 1].text == "("
    return follows and sql[tokens[place].start] not in "`'\""


def _fixed(name: str, now: datetime, salt: int) -> str:
    if name in ("current_timestamp", "now"):
        return f"timestamp_micros({_micros(now)})"
    if name in ("current_date", "curdate"):
        return f"date_from_unix_date({_micros(now) // 86_400_000_000})"
    if name == "localtimestamp":
        return f"cast('{now.astimezone(UTC).isoformat(' ')[:26]}' as timestamp_ntz)"
    if name == "randn":
        # Box and Muller's transform of two even numbers, the first of them never zero.
        return f"(sqrt(-2e0 * ln(1e0 - {_even(salt)})) * cos(2e0 * pi() * {_even(salt + 1)}))"
    return _even(salt)


def _even(salt: int) -> str:
    """A number from 0 up to 1 with 53 random bits, drawn from the record's id."""
    return f"(shiftrightunsigned(xxhash64(`_weft`.`id`, {salt}), 11) * 1.1102230246251565e-16)"


def _micros(moment: datetime) -> int:
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
