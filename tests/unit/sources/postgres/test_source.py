"""What a project file may say of a table that is read from PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from weft.declared.read import made
from weft.loading.deployed import checked
from weft.loading.load import load
from weft.loading.problem import ProjectError
from weft.project.definition import Project
from weft.sources.postgres.name import TableName, literal, lsn, slot_of, to_lsn
from weft.sources.postgres.source import PostgresSource

URL = {"url": "postgresql://app@db.example.com/shop"}
TABLE = {"key": "email", "columns": {"email": "string", "joined": "timestamp"}}


def project(folder: Path | None = None, *, source: Any, **keys: Any) -> Project:
    table = {**TABLE, "source": source, **keys}
    return load({"app_name": "shop", "tables": {"users": table}}, folder=folder)


def codes(**keys: Any) -> list[str]:
    with pytest.raises(ProjectError) as refused:
        project(**keys)
    return [one.code for one in refused.value.problems]


def test_a_table_of_a_database_is_a_changing_stream_as_one_of_a_topic_is() -> None:
    stream = project(source={"postgres": URL}).stream("users")
    assert stream.changing and stream.key == ("email",)
    assert stream.schema.names == ("email", "joined", "_change")
    assert checked(project(source={"postgres": URL}).to_dict()).stream("users") == stream


def test_a_file_with_a_password_is_looked_for_from_the_projects_folder_on(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    given = {"postgres": {**URL, "password_file": "password"}}
    source = project(tmp_path, source=given).stream("users").source
    assert source is not None and source.options["password_file"] == str(tmp_path / "password")


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"source": {"postgres": {**URL, "host": "a"}}}, "project.unknown-value"),
        ({"source": {"postgres": {"url": "postgresql://a:b@c/d"}}}, "project.unknown-value"),
        ({"source": {"postgres": {"url": "mysql://a@c/d"}}}, "project.unknown-value"),
        ({"source": {"postgres": {**URL, "slot": "Users"}}}, "project.unknown-value"),
        ({"source": {"postgres": {**URL, "table": "a.b.c"}}}, "project.unknown-value"),
        ({"source": {"postgres": {**URL, "table": 'a."b'}}}, "project.unknown-value"),
        ({"source": {"postgres": {**URL, "port": 0}}}, "project.out-of-range"),
        ({"source": {"postgres": {**URL, "tabel": "a"}}}, "project.unknown-key"),
        ({"source": {"postgres": {**URL, "client": {"password": "x"}}}}, "project.unknown-value"),
        (
            {"source": {"postgres": {**URL, "password_env": "A", "password_file": "b"}}},
            "project.unknown-value",
        ),
        ({"source": {"postgres": URL}, "topic": "users"}, "project.unknown-value"),
        ({"source": {"postgres": URL}, "servers": "a:1"}, "project.unknown-value"),
        ({"source": {"mock": {}}}, "project.not-changing"),
        ({"source": {"postgers": URL}}, "project.unknown-source"),
    ],
)
def test_what_cannot_be_meant_is_refused(keys: dict[str, Any], code: str) -> None:
    assert codes(**keys) == [code]


def test_a_table_needs_a_topic_or_a_source() -> None:
    with pytest.raises(ProjectError) as refused:
        load({"app_name": "shop", "tables": {"users": TABLE}})
    assert [one.code for one in refused.value.problems] == ["project.missing-key"]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("users", TableName("public", "users")),
        ("app.Users", TableName("app", "Users")),
        ('"a.b"."c""d"', TableName("a.b", 'c"d')),
        ("été.naïve table", TableName("été", "naïve table")),
        ("", None),
        (".", None),
        ("a.b.c", None),
        ('"', None),
        ("a" * 64, None),
        ("a\0b", None),
    ],
)
def test_the_name_of_a_table_is_taken_as_it_is_written(text: str, table: TableName | None) -> None:
    assert TableName.parse(text) == table
    assert table is None or TableName.parse(str(table)) == table


def test_names_are_quoted_for_sql() -> None:
    assert TableName("a.b", 'c"d').sql == '"a.b"."c""d"'
    assert (literal("it's"), literal("a\\'b")) == ("'it''s'", " E'a\\\\''b'")


def test_a_place_in_the_log_is_a_number() -> None:
    assert to_lsn("16/B374D848") == 0x16_B374_D848
    assert lsn(to_lsn("16/B374D848")) == "16/B374D848"


def test_a_slot_is_called_after_its_stream() -> None:
    assert slot_of("user-profiles") == "weft_user_profiles"
    assert len(slot_of("x" * 100)) == 63


def test_what_errors_say_of_a_database_is_not_secret() -> None:
    named = made(PostgresSource, {"host": "db", "database": "shop", "user": "app"}).address("users")
    by_url = made(PostgresSource, URL).address("users")
    assert (named.place, by_url.place) == ("shop at db:5432", "shop at db.example.com:5432")


def test_an_address_that_only_the_client_can_judge_is_refused_in_words() -> None:
    table = {"key": "email", "source": {"postgres": {"url": "postgresql://app@db:port/shop"}}}
    with pytest.raises(ProjectError) as refused:
        load({"app_name": "shop", "tables": {"users": table}})
    assert [one.code for one in refused.value.problems] == ["project.schema-missing"]
