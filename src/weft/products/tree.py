"""A product as frozen values: a tree of parts, each of which reads one stream of changes. Made by `read` from a project
file and by `sql` from a query; read by whatever assembles documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot.tokenizer_core import TokenType

from weft.errors import WeftError
from weft.gate.grammar import ExpressionError, tokens_of

Path = tuple[str | int, ...]
Pairs = tuple[tuple[str, str], ...]


class ProductError(WeftError):
    """A product cannot be made as it is written; `path` in its ids says which part of its form is wrong."""

    code = "product.invalid"
    domain = "user"


@dataclass(frozen=True)
class Part:
    """A node of a product's tree; the root is one too.

    A part whose row is missing is null; where it is inline, so is everything that it would bring into its parent. Rows
    are taken in the order of `order`, nulls first where it rises and last where it falls, then by the key of the
    table; a part that is not `many` is the first of them.
    """

    table: str
    """The stream that it reads."""
    name: str = ""
    """Its field in the document of its parent; empty for the root."""
    many: bool = False
    on: Pairs = ()
    """Column of the part and column of its parent; all pairs must be equal, and null equals nothing."""
    fields: Pairs | None = None
    """Name and SQL over the columns of the table; None: all columns of the table. The root's key is there always."""
    filter: str | None = None
    """SQL over the columns of the table; rows for which it is not true are not there."""
    required: bool = False
    """Whether a parent without a row of it is left out."""
    order: tuple[tuple[str, bool], ...] = ()
    """SQL over the columns of the table, and whether it falls."""
    limit: int | None = None
    """How many rows are kept of those that it is `many` of."""
    inline: bool = False
    """Whether its fields stand in its parent itself: only of one that is not `many`, or has `aggregate`."""
    aggregate: Pairs = ()
    """Name and aggregate, in place of fields: the part is one struct over all its rows. Of no rows, a count is 0 and
    all else null."""
    parts: tuple[Part, ...] = ()

    @property
    def is_list(self) -> bool:
        """Whether its place in the document is a list."""
        return self.many and not self.aggregate

    @property
    def depth(self) -> int:
        """How many parts are on the longest way down from here, this one counted."""
        return 1 + max((part.depth for part in self.parts), default=0)

    def walk(self, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Part]]:
        """This part and all below it, each behind its parent and with the names on the way to it."""
        yield path, self
        for part in self.parts:
            yield from part.walk((*path, part.name))


@dataclass(frozen=True)
class Product:
    """A named document for each row of the root's table."""

    name: str
    root: Part
    parallelism: int = 1
    """How many tasks put its documents together; with one, a change goes all the way in a single step."""
    transactions: str | None = None
    """The table of transactions whose changes become visible together, or None: each as it comes."""

    @property
    def depth(self) -> int:
        """How many parts are on the longest way down from the root, the root counted."""
        return self.root.depth

    def walk(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """All parts, each behind its parent and with the names on the way to it."""
        return self.root.walk()

    def tables(self) -> tuple[str, ...]:
        """The streams that its rows are of, each once, in the order of the tree."""
        return tuple(dict.fromkeys(part.table for _, part in self.walk()))

    def inputs(self) -> tuple[str, ...]:
        """All streams that it reads: its tables, then that of transactions."""
        return (*self.tables(), *([self.transactions] if self.transactions else []))


def column(name: str) -> str:
    """The SQL that reads a column, in backticks where its name alone would say something else."""
    try:
        words = tokens_of(name)
    except ExpressionError:
        words = []
    is_plain = len(words) == 1 and words[0].token_type is TokenType.VAR and words[0].text == name
    return name if is_plain else "`" + name.replace("`", "``") + "`"
