"""A server, and tables of it that are followed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stack.postgres.followed import (
    Follow,
    FollowedTable,
)
from weft.servers.postgres import Postgres


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    folder = tmp_path_factory.mktemp("postgres")
    settings = {"max_replication_slots": "60", "max_wal_senders": "60"}
    with Postgres(folder, **settings) as server:
        yield server


@pytest.fixture
def follow() -> Iterator[Follow]:
    """Makes tables that are followed, and lets go of them at the end."""
    made: list[FollowedTable] = []

    def make(*given: Any, **keys: Any) -> FollowedTable:
        made.append(FollowedTable(*given, **keys))
        return made[-1]

    yield make
    for table in made:
        table.close()


@pytest.fixture
def name() -> str:
    return f"t_{uuid.uuid4().hex[:10]}"
