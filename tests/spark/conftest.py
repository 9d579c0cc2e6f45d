"""One Spark session for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from weft.runtime import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small local session with the kernel in it."""
    running = session.create("local[2]", app="weft-tests", conf={"spark.driver.memory": "1g"})
    yield running
    session.stop(running)
