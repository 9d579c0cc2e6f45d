"""What the values of a product's keys may be: SQL, fields, links, order, aggregates. Used by `form`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from weft.declared.limit import TEXT, Fault, Limit, names
from weft.errors import WeftError
from weft.gate.grammar import parse
from weft.products.tree import Pairs, column
from weft.schema.schema import nearest
from weft.steps.compile import new_name
from weft.windows.aggregate import OTHER_NAMES, parse_aggregate

AGGREGATES = ("count", "sum", "min", "max", "avg")
_DIRECTION = re.compile(r"(?P<sql>.*\S)\s+(?P<word>asc|desc)", re.IGNORECASE | re.DOTALL)
_NULLS = re.compile(r".*\snulls\s+(first|last)\s*", re.IGNORECASE | re.DOTALL)
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_LIST = {"type": "array", "items": {"type": "string"}}


class Expression(Limit):
    """SQL over the columns of one table; whether they are there is asked where columns are known."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """Why it is no SQL."""
        if TEXT.judge(value) is not None:
            yield Fault("wrong-type", self.expected)
        else:
            yield from _refused(parse, value, self.expected)


class Fields(Limit):
    """Columns by name, or names with the SQL that gives their values."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """What is wrong with any of the fields."""
        if isinstance(value, Mapping):
            yield from named(value, SQL)
        elif isinstance(value, list | tuple):
            for place, one in enumerate(value):
                if TEXT.judge(one) is not None:
                    yield Fault("wrong-type", "a column", (place,))
                elif one in value[:place]:
                    yield Fault("unknown-value", "in the list once", (place,))
                else:
                    yield from _refused(new_name, one, "a column", place)
        else:
            yield Fault("wrong-type", self.expected)

    def take(self, value: Any) -> Pairs:
        """Names with their SQL."""
        if isinstance(value, Mapping):
            return tuple(value.items())
        return tuple((name, column(name)) for name in value)


class Links(Limit):
    """Columns of a part and of its parent that must be equal."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """What is wrong with any of the pairs."""
        texts: dict[tuple[str | int, ...], Any] = {(): value}
        if isinstance(value, Mapping):
            texts = {(key,): one for key, one in value.items()}
            if any(TEXT.judge(key) is not None for key in value):
                yield Fault("wrong-type", self.expected)
                return
        elif isinstance(value, list | tuple):
            texts = {(place,): one for place, one in enumerate(value)}
        if not texts:
            yield Fault("unknown-value", f"{self.expected}, and at least one column")
        for path, one in texts.items():
            if TEXT.judge(one) is not None:
                yield Fault("wrong-type", "a column" if path else self.expected, path)

    def take(self, value: Any) -> Pairs:
        """Pairs of columns, each once."""
        if isinstance(value, Mapping):
            return tuple(value.items())
        columns = [value] if isinstance(value, str) else value
        return tuple((name, name) for name in dict.fromkeys(columns))


class Order(Limit):
    """Expressions by which rows are ordered, each rising unless it ends in `desc`."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """What is wrong with any of the expressions."""
        if not isinstance(value, str | list | tuple):
            yield Fault("wrong-type", self.expected)
            return
        for place, one in enumerate([value] if isinstance(value, str) else value):
            path = () if isinstance(value, str) else (place,)
            if TEXT.judge(one) is not None:
                yield Fault("wrong-type", "a column or an SQL expression", path)
            elif _NULLS.fullmatch(one):
                hint = "Nulls are first where the order rises, and last where it falls."
                yield Fault(
                    "unknown-value", "without `nulls first` and `nulls last`", path, hint=hint
                )
            else:
                yield from _refused(parse, directed(one)[0], SQL.expected, *path)

    def take(self, value: Any) -> tuple[tuple[str, bool], ...]:
        """Each expression, and whether it falls."""
        return tuple(directed(one) for one in ([value] if isinstance(value, str) else value))


class Aggregates(Limit):
    """Names with the aggregates that give their values."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """What is wrong with any of the aggregates."""
        if not isinstance(value, Mapping) or not value:
            yield Fault("wrong-type", self.expected)
            return
        yield from named(value, AGGREGATE)

    def take(self, value: Any) -> Pairs:
        """Names with their aggregates."""
        return tuple(value.items())


class Aggregated(Limit):
    """One aggregate over the rows of a part."""

    def faults(self, value: Any) -> Iterator[Fault]:
        """Why it is no aggregate."""
        if TEXT.judge(value) is not None:
            yield Fault("wrong-type", self.expected)
            return
        yield from _refused(_aggregate, value, self.expected)


def named(value: Mapping[Any, Any], limit: Limit) -> Iterator[Fault]:
    """What is wrong with a mapping of names in a document to values that a limit keeps."""
    for name, one in value.items():
        if TEXT.judge(name) is not None:
            yield Fault("wrong-type", "a mapping whose names are texts")
            continue
        yield from _refused(new_name, name, "under another name", name)
        for fault in limit.faults(one):
            yield Fault(fault.mistake, fault.expected, (name, *fault.path), fault.words, fault.hint)


def directed(text: str) -> tuple[str, bool]:
    """An expression of an order without its direction, and whether it falls."""
    found = _DIRECTION.fullmatch(text.strip())
    return (found["sql"], found["word"].lower() == "desc") if found else (text.strip(), False)


def _aggregate(text: str) -> None:
    word = text.partition("(")[0].strip().lower()
    if "(" in text and OTHER_NAMES.get(word, word) not in AGGREGATES:
        near = nearest(word, AGGREGATES)
        hint = f"Did you mean {near}?" if near else f"Use one of {', '.join(AGGREGATES)}."
        raise WeftError(f"A product has no aggregate {word!r}.", hint=hint)
    for argument in parse_aggregate("value", text).arguments:
        parse(argument)


def _refused(
    judge: Callable[[str], Any], text: str, expected: str, *path: str | int
) -> Iterator[Fault]:
    """The fault of a text that something else refuses."""
    try:
        judge(text)
    except WeftError as error:
        told = f"{expected} ({error.message.rstrip('.')})"
        yield Fault("unknown-value", told, path, hint=error.hint or "")


SQL = Expression("an SQL expression", lambda value: None, TEXT.schema)
FIELDS = Fields(
    "a list of columns, or a mapping of name to SQL",
    lambda value: None,
    {"anyOf": [_LIST, _TEXTS]},
)
ON = Links(
    "a column that both have, a list of them, or a mapping of the part's columns to its parent's",
    lambda value: None,
    {"anyOf": [names().schema, _TEXTS]},
)
ORDER = Order(
    "a column or an SQL expression, with `desc` where it falls, or a list of them",
    lambda value: None,
    names().schema,
)
AGGREGATE = Aggregated("an aggregate such as count(*)", lambda value: None, TEXT.schema)
AGGREGATE_ALL = Aggregates("a mapping of name to aggregate", lambda value: None, _TEXTS)
