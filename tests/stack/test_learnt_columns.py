"""The columns of a table that declares none: from the schema in its events, as a project is checked."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from tests.stack.servers import Kafka
from weft.loading.load import load
from weft.loading.problem import ProjectError
from weft.project.definition import Project

COLUMNS = [
    {"field": "id", "type": "int64", "optional": False},
    {"field": "name", "type": "string", "optional": True},
]


@pytest.fixture
def topic() -> str:
    return f"users-{uuid.uuid4()}"


def event(*columns: dict[str, Any], **row: Any) -> str:
    parts = [
        {"field": side, "type": "struct", "fields": list(columns)} for side in ("before", "after")
    ]
    payload = {"op": "c", "before": None, "after": row, "source": {"lsn": 1}}
    return json.dumps({"schema": {"type": "struct", "fields": parts}, "payload": payload})


def check(kafka: Kafka, topic: str) -> Project:
    table = {"topic": topic, "servers": kafka.servers, "key": ["id"]}
    return load({"app_name": "shop", "tables": {"users": table}})


def test_the_newest_event_that_has_a_schema_tells_the_columns(kafka: Kafka, topic: str) -> None:
    kafka.produce(topic, [event(COLUMNS[0], id=1), event(*COLUMNS, id=2, name="b"), None])
    assert check(kafka, topic).stream("users").schema.names == ("id", "name", "_change")


@pytest.mark.parametrize("told", [[], ['{"op": "c", "after": {"id": 1}}'], ["no JSON"]])
def test_a_topic_that_tells_no_columns_is_refused(
    kafka: Kafka, topic: str, told: list[str]
) -> None:
    if told:
        kafka.produce(topic, told)
    with pytest.raises(ProjectError) as refused:
        check(kafka, topic)
    assert [one.code for one in refused.value.problems] == ["project.schema-missing"]
