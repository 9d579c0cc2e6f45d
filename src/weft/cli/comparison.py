"""The documents of a product beside those that its database's own query gives. Called by `weft product check`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.cli.service import storage_of
from weft.cli.terminal import Terminal, path_to
from weft.errors import WeftError
from weft.locations.location import locate
from weft.products.compare import Document, DocumentDifference, differences, keyed
from weft.products.postgres import document_query, table_of
from weft.products.read import read_product
from weft.schema.schema import Schema

LOOK_S = 1.0


class DatabaseError(WeftError):
    """The database cannot be asked."""

    code = "product.database"
    domain = "external"


@dataclass(frozen=True)
class Comparison:
    """How many documents each side has, and what differs."""

    documents: int
    rows: int
    differences: tuple[DocumentDifference, ...]

    def shown(self, limit: int) -> dict[str, Any]:
        """As people and programs see it, with as many differences as are wanted."""
        from weft.cli.rows import plain

        return {
            "documents": self.documents,
            "rows": self.rows,
            "different": len(self.differences),
            "differences": [plain(vars(one)) for one in self.differences[:limit]],
        }


def compare(
    terminal: Terminal, name: str, address: str, storage: str, *, wait_s: float
) -> Comparison:
    """Compare all documents; what differs is looked at again until it stays so for a while."""
    view = terminal.get(path_to("products", name))
    tables = {one["name"]: one for one in terminal.get("/tables")}
    product = read_product(name, view["definition"])
    strange = [table for table in product.tables() if table not in tables]
    if strange:
        raise DatabaseError(
            f"Product {name!r} reads {strange[0]!r}, which is no table of the database.",
            hint="Only products that are made of tables alone can be compared with it.",
            product=name,
        )
    known = {
        table: table_of(one["topic"], one["columns"], one["key"], found=one["table"])
        for table, one in tables.items()
    }
    query = document_query(product, known)
    schema = Schema.of(view["columns"])
    deadline = time.monotonic() + wait_s
    while True:
        theirs = keyed(_asked(address, query), schema, view["key"])
        ours = keyed(_here(storage, name), schema, view["key"])
        found = tuple(differences(ours, theirs))
        if not found or time.monotonic() > deadline:
            return Comparison(len(ours), len(theirs), found)
        time.sleep(LOOK_S)


def _asked(address: str, query: str) -> list[Mapping[str, Any]]:
    try:
        import psycopg
    except ImportError as error:
        raise DatabaseError(
            "PostgreSQL cannot be asked: its client is not installed.",
            hint="Install it with `pip install 'weft[postgres]'`.",
        ) from error
    try:
        with psycopg.connect("" if address == "postgres" else address) as connection:
            connection.execute("SET TIME ZONE 'UTC'")
            return [row[0] for row in connection.execute(query).fetchall()]
    except psycopg.Error as error:
        raise DatabaseError(
            f"The database does not answer as it should: {str(error).strip()}",
            hint="Check the address, and that the topics of its tables are called prefix.schema.table.",
        ) from error


def _here(storage: str, name: str) -> list[Document]:
    from weft.cli.rows import all_current

    return all_current(locate(storage_of(storage).table(name)), name)
