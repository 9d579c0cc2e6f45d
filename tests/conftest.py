"""What every test may use: markers by folder, and a real Kafka, started when first asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.stack.servers import Kafka

TESTS = Path(__file__).parent
MARKERS = {
    "spark": "spark",
    "faults": "spark",
    "golden": "spark",
    "stack": "stack",
    "web": "browser",
}


# Every JVM that a test starts, whoever starts it: what they run is short, and Java's second compiler takes longer
# over it than it saves.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the cost of the folder they are in."""
    for item in items:
        for folder, marker in MARKERS.items():
            if item.path.is_relative_to(TESTS / folder):
                item.add_marker(marker)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """One real broker for the whole run; tests use topics of their own."""
    from tests.stack.servers import Kafka

    with Kafka(tmp_path_factory.mktemp("kafka")) as server:
        yield server


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """One session for the whole run, the same that `play` uses."""
    from weft.testing import shared_session

    return shared_session()
