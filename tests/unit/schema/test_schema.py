"""Schemas: types as people write them, as Spark writes them, and back."""

from __future__ import annotations

import pytest

from weft.schema.schema import (
    Field,
    Schema,
    SchemaError,
    Type,
    parse_type,
    quote,
)

TYPES = [
    ("long", "bigint"),
    ("BIGINT", "bigint"),
    ("int", "int"),
    ("integer", "int"),
    ("short", "smallint"),
    ("byte", "tinyint"),
    ("bool", "boolean"),
    ("decimal", "decimal(10,0)"),
    ("decimal(10, 2)", "decimal(10,2)"),
    ("numeric(5)", "decimal(5,0)"),
    ("timestamp", "timestamp"),
    ("timestamp_ntz", "timestamp_ntz"),
    ("array<string>", "array<string>"),
    ("map<string, array<long>>", "map<string,array<bigint>>"),
    ("struct<a: int, `b c`: string>", "struct<a:int,`b c`:string>"),
    ("struct<a int, b string>", "struct<a:int,b:string>"),
    ("struct<>", "struct<>"),
    ("varchar(10)", "string"),
    ("VARCHAR(65535)", "string"),
    ("char(3)", "string"),
    ("text", "string"),
    ("struct<a:varchar(3),b:array<char(1)>>", "struct<a:string,b:array<string>>"),
]


@pytest.mark.parametrize(("written", "kept"), TYPES)
def test_a_type_is_read_whatever_its_spelling(written: str, kept: str) -> None:
    assert str(parse_type(written)) == kept
    assert parse_type(kept) == parse_type(written)


@pytest.mark.parametrize(
    ("written", "code", "hint"),
    [
        ("sting", "schema.unknown-type", "string"),
        ("", "schema.unknown-type", "Types"),
        ("array", "schema.invalid", "array<string>"),
        ("array<int", "schema.invalid", "array<string>"),
        ("decimal(50,2)", "schema.invalid", "38"),
        ("decimal(5,6)", "schema.invalid", "scale"),
        ("decimal(a)", "schema.invalid", "decimal(10,2)"),
        ("int int", "schema.invalid", "decimal"),
        ("varchar(0)", "schema.invalid", "varchar(20)"),
        ("varchar(x)", "schema.invalid", "varchar(20)"),
        ("char(", "schema.invalid", "varchar(20)"),
        ("varchar(" + "9" * 5000 + ")", "schema.invalid", "varchar(20)"),
        ("string(5)", "schema.invalid", "decimal"),
        ("struct<a:int,A:int>", "schema.duplicate-column", "case"),
        ("struct<`a:int>", "schema.invalid", "Close"),
        ("array<" * 100 + "int" + ">" * 100, "schema.invalid", "Flatten"),
    ],
)
def test_a_wrong_type_is_refused_with_the_right_word(written: str, code: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_type(written)
    assert caught.value.code == code
    assert hint in (caught.value.hint or "")


COLUMNS = {
    "id": "long",
    "total": "decimal(10,2)",
    "tags": "array<string>",
    "address": "struct<city:string,geo:map<string,double>>",
    "odd name": "date",
}


def test_a_schema_survives_sparks_json_and_the_project_file() -> None:
    schema = Schema.of(COLUMNS)
    assert Schema.from_json(schema.to_json()) == schema
    assert Schema.of(schema.to_dict()) == schema


def test_a_schema_is_what_spark_reads_as_ddl() -> None:
    assert str(Schema.of({"id": "long", "odd name": "date"})) == "id bigint, `odd name` date"


def test_the_json_form_uses_sparks_own_names() -> None:
    fields = Schema.of({"id": "long", "n": "int", "total": "decimal(10,2)"}).to_json()["fields"]
    assert [field["type"] for field in fields] == ["long", "integer", "decimal(10,2)"]


def test_the_fingerprint_sees_names_types_and_order() -> None:
    first = Schema.of({"a": "int", "b": "int"}).fingerprint
    assert first == Schema.of({"a": "integer", "b": "int"}).fingerprint
    assert first != Schema.of({"b": "int", "a": "int"}).fingerprint
    assert first != Schema.of({"a": "long", "b": "int"}).fingerprint
    assert len(first) == 64


def test_columns_are_found_whatever_their_case() -> None:
    schema = Schema.of({"Email": "string"})
    assert schema.get("email").name == "Email"
    assert schema.find("other") is None


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema((Field("a", Type("int")), Field("A", Type("int"))))
    assert caught.value.code == "schema.duplicate-column"


def test_an_unknown_column_is_told_with_the_nearest() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.of({"email": "string"}).get("emial")
    assert caught.value.code == "schema.unknown-column"
    assert "email" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("name", "quoted"), [("a", "a"), ("a b", "`a b`"), ("a`b", "`a``b`"), ("date", "`date`")]
)
def test_names_are_quoted_where_they_must_be(name: str, quoted: str) -> None:
    assert quote(name) == quoted
