"""Sources as a user would write them, for the tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition


class Once:
    """Hands out the lines of a file and forgets them: what it gave it cannot give again."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def read_batch(self, max_events: int) -> list[str]:
        lines = self._path.read_text().splitlines()
        self._path.write_text("".join(f"{line}\n" for line in lines[max_events:]))
        return lines[:max_events]

    def close(self) -> None:
        self._path.with_suffix(".closed").touch()


class Log:
    """Hands out the lines of a file from a position on, as mappings."""

    def __init__(self, path: str) -> None:
        self._lines = Path(path).read_text().splitlines()
        self._at = 0

    def read_batch(self, max_events: int) -> list[dict[str, Any]]:
        lines = self._lines[self._at : self._at + max_events]
        self._at += len(lines)
        return [json.loads(line) for line in lines]

    def position(self) -> int:
        return self._at

    def seek(self, position: int) -> None:
        self._at = position

    def close(self) -> None:
        pass


class Numbers(DataSource):
    """A data source written for Spark: counts to `to`, ten at a time."""

    @classmethod
    def name(cls) -> str:
        return "numbers"

    def schema(self) -> str:
        return "id bigint, name string, at string, _position bigint"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        return NumbersReader(int(self.options["to"]))


class NumbersReader(DataSourceStreamReader):
    """Reads a range of numbers."""

    def __init__(self, to: int) -> None:
        self._to = to

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"n": 0}

    def latestOffset(self, start: dict[str, int], limit: Any) -> dict[str, int]:  # noqa: N802
        return {"n": min(start["n"] + 10, self._to)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [InputPartition((start["n"], end["n"]))] if start != end else []

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        for n in range(*partition.value):
            yield n, f"name-{n}", f"2026-01-01T00:00:{n % 60:02d}Z", n


class Nothing:
    """Not a source."""
