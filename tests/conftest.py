"""What every test may use: markers by folder, and real servers, started when first asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.stack.servers import Kafka
    from weft.servers.cassandra import Cassandra
    from weft.servers.hdfs import Hdfs
    from weft.servers.s3 import S3

TESTS = Path(__file__).parent
MARKERS = {
    "spark": "spark",
    "faults": "spark",
    "golden": "spark",
    "stack": "stack",
    "web": "browser",
}
ORDER = ("stack", "faults", "golden", "spark", "web")


# Every JVM that a test starts, whoever starts it: what they run is short, and Java's second compiler takes longer
# over it than it saves.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the cost of the folder they are in, and put the costly ones first.

    Of two processes that share a run, one has all tests with servers, and none has half of a file with Spark. What is
    left at the end is small, so that both end together.
    """
    order = {folder: place for place, folder in enumerate(ORDER)}
    items.sort(key=lambda item: order.get(_folder(item), len(order)))
    for item in items:
        folder = _folder(item)
        if folder in MARKERS:
            item.add_marker(MARKERS[folder])
            group = folder if folder == "stack" else item.path.name
            item.add_marker(pytest.mark.xdist_group(group))


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(TESTS).parts[0]


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """One real broker for the whole run; tests use topics of their own."""
    from tests.stack.servers import Kafka

    with Kafka(tmp_path_factory.mktemp("kafka")) as server:
        yield server


@pytest.fixture(scope="session")
def cassandra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cassandra]:
    """One real node for the whole run; tests use keyspaces of their own."""
    from weft.servers.cassandra import Cassandra

    with Cassandra(tmp_path_factory.mktemp("cassandra")) as server:
        yield server


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    """One server of buckets for the whole run; tests use folders of their own in it."""
    from weft.servers.s3 import S3

    with S3(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """One HDFS for the whole run; tests use folders of their own in it."""
    from weft.servers.hdfs import Hdfs

    with Hdfs(tmp_path_factory.mktemp("hdfs")) as server:
        yield server


@pytest.fixture
def s3(s3_server: S3, monkeypatch: pytest.MonkeyPatch) -> S3:
    """The server, with what its clients look for in the environment of this process and those it starts."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """One session for the whole run, the same that `play` uses."""
    from weft.testing import shared_session

    return shared_session()
