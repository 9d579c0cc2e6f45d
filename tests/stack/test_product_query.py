"""What the database itself says a document is: the query that a product becomes, on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.products.document import normalised
from tests.products.plain import documents
from tests.products.world import World, make_world
from weft.products.assembly import assemble
from weft.products.compare import differences, keyed
from weft.products.postgres import document_query, table_of
from weft.products.reading import TableColumns
from weft.schema.schema import Schema
from weft.servers.postgres import Postgres

TYPES = {
    "string": "text",
    "double": "double precision",
    "decimal(10,2)": "numeric(10,2)",
    "timestamp": "timestamptz",
}
SEEDS = range(40)


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with Postgres(tmp_path_factory.mktemp("postgres")) as server:
        yield server


def test_the_database_gives_the_documents_that_the_model_gives(postgres: Postgres) -> None:
    worlds = [make_world(seed) for seed in SEEDS]
    # In the locale C, which the server has, no letter but those of ASCII has a capital.
    plain = [one for one in worlds if "É" not in str(documents(one.product, one.tables))]
    assert [one.seed for one in plain if not is_right(postgres, one)] == []
    assert len(plain) > len(worlds) // 2


def is_right(postgres: Postgres, world: World) -> bool:
    name = f"w{world.seed}"
    postgres.run(f"CREATE SCHEMA {name}")
    for table in world.tables.values():
        columns = ", ".join(
            f'"{one}" {TYPES.get(kind, kind)}' for one, kind in table.columns.items()
        )
        postgres.run(f"CREATE TABLE {name}.{table.name} ({columns})")
        marks = ", ".join(["%s"] * len(table.columns))
        for row in table.rows.values():
            postgres.run(f"INSERT INTO {name}.{table.name} VALUES ({marks})", *row.values())
    known = {
        table.name: table_of(f"app.{name}.{table.name}", table.columns, table.key)
        for table in world.tables.values()
    }
    forms = {
        table.name: TableColumns(Schema.of(table.columns), table.key)
        for table in world.tables.values()
    }
    found = assemble(world.product, forms)
    with postgres.connect() as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        rows = [row[0] for row in connection.execute(document_query(world.product, known))]
    theirs = keyed(rows, found.columns, found.key)
    model = normalised(documents(world.product, world.tables))
    return not list(differences(keyed(list(model.values()), found.columns, found.key), theirs))


def test_a_document_that_differs_is_told_with_its_fields(tmp_path: Path) -> None:
    schema = Schema.of({"id": "long", "name": "string"})
    ours = keyed([{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], schema, ["id"])
    theirs = keyed([{"id": 1, "name": "x"}, {"id": 3, "name": "c"}], schema, ["id"])
    found = {one.key: (one.kind, one.fields) for one in differences(ours, theirs)}
    assert found == {(1,): ("different", ("name",)), (3,): ("missing", ()), (2,): ("extra", ())}
