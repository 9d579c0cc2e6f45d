"""The column that says what happened to a row."""

from __future__ import annotations

from weft.schema.change import CHANGE, CHANGE_TYPE, with_change
from weft.schema.schema import Schema


def test_the_change_stands_behind_the_columns_of_the_user() -> None:
    schema = with_change(Schema.of({"id": "long", "name": "string"}))
    assert schema.names == ("id", "name", CHANGE)
    assert schema.get(CHANGE).type == CHANGE_TYPE


def test_a_schema_that_has_the_change_stays_as_it_is() -> None:
    schema = with_change(Schema.of({"id": "long"}))
    assert with_change(schema) is schema
