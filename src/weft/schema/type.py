"""Column types: Spark DDL names in, frozen values out, and Spark's own JSON form."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from weft.errors import WeftError

# Every spelling that the project file may use, and the one word we keep (Spark's DDL name).
SPELLINGS: Mapping[str, str] = {
    "boolean": "boolean",
    "bool": "boolean",
    "tinyint": "tinyint",
    "byte": "tinyint",
    "smallint": "smallint",
    "short": "smallint",
    "int": "int",
    "integer": "int",
    "bigint": "bigint",
    "long": "bigint",
    "float": "float",
    "real": "float",
    "double": "double",
    "decimal": "decimal",
    "numeric": "decimal",
    "dec": "decimal",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "array": "array",
    "map": "map",
    "struct": "struct",
}
TEXTS = ("varchar", "char", "text")
"""What other databases call a string. Columns may have these names without quotes."""
_TO_JSON = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}
_MAX_DEPTH = 32
_MAX_PARTS = 5_000
# The signs that a literal holds as escapes of their own; other invisible ones are written by number.
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class SchemaError(WeftError):
    """A type or a schema that cannot be read."""

    code = "schema.invalid"
    domain = "user"


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The word that was most likely meant, or None when nothing is close."""
    lowered = {candidate.lower(): candidate for candidate in words}
    found = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


@dataclass(frozen=True)
class Type:
    """One column type: `items` of an array (element) or map (key, value), `fields` of a struct.

    Some names never come from a project file: `unknown`, where only Spark can say, and `null` and
    the intervals, which expressions have but columns cannot keep.
    """

    name: str
    precision: int = 0
    scale: int = 0
    items: tuple[Type, ...] = ()
    fields: tuple[Field, ...] = ()
    parts: int = dataclass_field(init=False, repr=False, compare=False, default=1)
    """How many types it is made of, itself included."""
    depth: int = dataclass_field(init=False, repr=False, compare=False, default=1)
    """How many types are inside of each other at most."""

    def __post_init__(self) -> None:
        """Refuse a type that no table keeps; a struct of two of a struct of two doubles with each step."""
        inner = (*self.items, *(field.type for field in self.fields))
        parts, depth = 1 + sum(kind.parts for kind in inner), 1
        if inner:
            depth += max(kind.depth for kind in inner)
        if parts > _MAX_PARTS or depth > _MAX_DEPTH:
            raise SchemaError(
                f"A type has more than {_MAX_PARTS} parts, or more than {_MAX_DEPTH} levels.",
                code="schema.type-too-large",
                hint="Flatten the structure, or keep less of it.",
            )
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "depth", depth)

    @property
    def varies(self) -> bool:
        """Whether its values differ in size."""
        return self.name in ("string", "binary", "array", "map", "struct", "unknown")

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.items:
            return f"{self.name}<{','.join(map(str, self.items))}>"
        if self.name == "struct":
            inner = ",".join(f"{quote(field.name)}:{field.type}" for field in self.fields)
            return f"struct<{inner}>"
        return self.name

    def to_json(self) -> Any:
        """The form that Spark's `StructType.fromJson` reads."""
        if self.name == "array":
            return {"type": "array", "elementType": self.items[0].to_json(), "containsNull": True}
        if self.name == "map":
            key, value = (item.to_json() for item in self.items)
            return {
                "type": "map",
                "keyType": key,
                "valueType": value,
                "valueContainsNull": True,
            }
        if self.name == "struct":
            return {"type": "struct", "fields": [field.to_json() for field in self.fields]}
        return _TO_JSON.get(self.name, str(self))

    @staticmethod
    def from_json(form: Any) -> Type:
        """The type that Spark wrote as JSON."""
        if isinstance(form, str):
            return Type(form) if form == "unknown" else parse_type(form)
        kind = form["type"]
        if kind == "array":
            return Type("array", items=(Type.from_json(form["elementType"]),))
        if kind == "map":
            items = (Type.from_json(form["keyType"]), Type.from_json(form["valueType"]))
            return Type("map", items=items)
        if kind == "struct":
            return Type("struct", fields=tuple(Field.from_json(field) for field in form["fields"]))
        raise SchemaError(
            f"Type {kind!r} cannot be a column of a stream.", hint="Cast it to a plain type first."
        )


@dataclass(frozen=True)
class Field:
    """A named column, or a named part of a struct."""

    name: str
    type: Type
    nullable: bool = True

    def to_json(self) -> dict[str, Any]:
        """The form of Spark's `StructField`."""
        return {
            "name": self.name,
            "type": self.type.to_json(),
            "nullable": self.nullable,
            "metadata": {},
        }

    @staticmethod
    def from_json(form: Mapping[str, Any]) -> Field:
        """The field that Spark wrote as JSON."""
        nullable = bool(form.get("nullable", True))
        return Field(form["name"], Type.from_json(form["type"]), nullable)


def refuse_twice(fields: Iterable[Field]) -> None:
    """Refuse two columns, or parts of a struct, of one name."""
    seen: dict[str, str] = {}
    for field in fields:
        if field.name.lower() in seen:
            raise SchemaError(
                f"Column {field.name!r} is there twice (beside {seen[field.name.lower()]!r}).",
                code="schema.duplicate-column",
                hint="Column names must differ by more than their case.",
            )
        seen[field.name.lower()] = field.name


def quote(name: str) -> str:
    """A name as SQL takes it: as it is where that is plain, in backticks otherwise."""
    plain = name.isascii() and name.isidentifier() and name.lower() not in SPELLINGS
    return name if plain else quoted(name)


def quoted(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text in quotes, as Spark reads it back character by character."""
    return "'" + "".join(_escaped(sign) for sign in text) + "'"


def _escaped(sign: str) -> str:
    code = ord(sign)
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    hidden = code < 32 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000
    return f"\\u{code:04X}" if hidden or sign in "\u2028\u2029\ufeff" else sign


def parse_type(text: str) -> Type:
    """The type that a DDL name such as `array<struct<id:long>>` says."""
    reader = _TypeReader(text)
    found = reader.type(0)
    reader.end()
    return found


class _TypeReader:
    """Reads one type from its text, character by character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def type(self, depth: int) -> Type:
        if depth > _MAX_DEPTH:
            raise SchemaError(
                f"A type is nested deeper than {_MAX_DEPTH} levels.",
                hint="Flatten the structure.",
            )
        word = self.word()
        name = "string" if word.lower() in TEXTS else SPELLINGS.get(word.lower())
        if name is None:
            near = nearest(word, SPELLINGS)
            known = "boolean, int, long, double, decimal(p,s), string, timestamp, date, array<...>"
            raise SchemaError(
                f"{word!r} is not a type (in {self.text[:80]!r})."
                if word
                else f"A type is missing in {self.text[:80]!r}.",
                code="schema.unknown-type",
                hint=f"Did you mean {near!r}?" if near else f"Types are {known} and so on.",
            )
        if name == "decimal":
            return self.decimal()
        if name == "string":
            return self.string(word.lower())
        if name == "array":
            return Type("array", items=self.items(1, depth))
        if name == "map":
            return Type("map", items=self.items(2, depth))
        if name == "struct":
            return Type("struct", fields=self.fields(depth))
        return Type(name)

    def string(self, word: str) -> Type:
        """A text; the length of `varchar(n)` and `char(n)` is read and not kept, as in Spark's own casts."""
        if word in ("varchar", "char") and self.take("("):
            length = self.word()
            if not length.isdecimal() or len(length) > 10 or not int(length):
                raise SchemaError(
                    f"Type {self.text[:80]!r} has {length!r} where a length should be.",
                    hint="Write it as varchar(20), or as string.",
                )
            self.expect(")")
        return Type("string")

    def decimal(self) -> Type:
        if not self.take("("):
            return Type("decimal", precision=10, scale=0)
        precision = self.number()
        scale = self.number() if self.take(",") else 0
        self.expect(")")
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise SchemaError(
                f"decimal({precision},{scale}) is not possible.",
                hint="Precision is 1 to 38, and scale is at most the precision.",
            )
        return Type("decimal", precision=precision, scale=scale)

    def items(self, count: int, depth: int) -> tuple[Type, ...]:
        self.expect("<")
        items = [self.type(depth + 1)]
        while len(items) < count:
            self.expect(",")
            items.append(self.type(depth + 1))
        self.expect(">")
        return tuple(items)

    def fields(self, depth: int) -> tuple[Field, ...]:
        self.expect("<")
        fields: list[Field] = []
        while not self.take(">"):
            if fields:
                self.expect(",")
            name = self.quoted_word() if self.peek() == "`" else self.word()
            self.take(":")
            fields.append(Field(name, self.type(depth + 1)))
        refuse_twice(fields)
        return tuple(fields)

    def peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1
        return self.text[self.at : self.at + 1]

    def take(self, symbol: str) -> bool:
        if self.peek() != symbol:
            return False
        self.at += 1
        return True

    def expect(self, symbol: str) -> None:
        if not self.take(symbol):
            found = repr(self.peek()) if self.peek() else "the end"
            raise SchemaError(
                f"Type {self.text[:80]!r} has {found} where {symbol!r} should be.",
                hint="Types look like decimal(10,2), array<string>, map<string,long>.",
            )

    def word(self) -> str:
        self.peek()
        start = self.at
        while self.at < len(self.text) and (
            self.text[self.at].isalnum() or self.text[self.at] in "_-$"
        ):
            self.at += 1
        return self.text[start : self.at]

    def quoted_word(self) -> str:
        self.at += 1
        name = ""
        while self.at < len(self.text):
            symbol = self.text[self.at]
            self.at += 1
            if symbol != "`":
                name += symbol
            elif self.text[self.at : self.at + 1] == "`":
                name += "`"
                self.at += 1
            else:
                return name
        raise SchemaError(
            f"Type {self.text[:80]!r} has a backtick that is not closed.", hint="Close it."
        )

    def number(self) -> int:
        word = self.word()
        if not word.isdecimal() or len(word) > 3:
            raise SchemaError(
                f"Type {self.text[:80]!r} has {word!r} where a number should be.",
                hint="Write it as decimal(10,2).",
            )
        return int(word)

    def end(self) -> None:
        if self.peek():
            raise SchemaError(
                f"Type {self.text[:80]!r} goes on after its end: {self.text[self.at :][:20]!r}.",
                hint="Types look like decimal(10,2), array<string>, map<string,long>.",
            )
