"""Flink SQL's side of the end-to-end bench, in an environment of its own that has PyFlink.

Says `done` when the last result is in the sink, and ends when its standard input does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

WINDOWED = """INSERT INTO panes
  SELECT window_start, `key`, COUNT(*), SUM(`value`) FROM TABLE({shape})
  GROUP BY window_start, window_end, `key`"""


def environment(asked: dict[str, Any]) -> Any:
    """A local cluster with the state backend that is asked for, checkpoints, and memory for RocksDB."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    table = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    settings = {
        "parallelism.default": "2",
        "state.backend.type": asked["backend"],
        "execution.checkpointing.interval": asked["checkpoints"],
        "execution.checkpointing.dir": Path(asked["root"], "checkpoints").as_uri(),
        "execution.checkpointing.incremental": str(asked["backend"] == "rocksdb").lower(),
        "taskmanager.memory.managed.size": "1g",
        "table.local-time-zone": "UTC",
        **asked.get("settings", {}),
    }
    for name, setting in settings.items():
        table.get_config().set(name, setting)
    return table


def create(table: Any, asked: dict[str, Any]) -> None:
    """The events and the panes as tables, over whatever connector is asked for."""
    table.execute_sql(
        f"""CREATE TABLE events (
              `key` BIGINT, `value` BIGINT, `at` TIMESTAMP_LTZ(3),
              WATERMARK FOR `at` AS `at` - {seconds(asked["delay_ms"])}
            ) WITH ({options(asked["events"])})"""
    )
    table.execute_sql(
        f"""CREATE TABLE panes (
              `start` TIMESTAMP(3), `key` BIGINT, n BIGINT, s BIGINT
            ) WITH ({options(asked["panes"])})"""
    )


def options(wanted: dict[str, str]) -> str:
    """Options of a connector as SQL."""
    return ", ".join(f"'{name}' = '{value}'" for name, value in wanted.items())


def windows(size_ms: int, slide_ms: int) -> str:
    """The windows of a case as Flink's SQL has them."""
    if size_ms == slide_ms:
        return f"TUMBLE(TABLE events, DESCRIPTOR(`at`), {seconds(size_ms)})"
    return f"HOP(TABLE events, DESCRIPTOR(`at`), {seconds(slide_ms)}, {seconds(size_ms)})"


def seconds(length_ms: int) -> str:
    """A length in whole seconds as SQL."""
    return f"INTERVAL '{length_ms // 1000}' SECOND"


def main() -> None:
    """Run the job that the first argument describes."""
    asked = json.loads(sys.argv[1])
    table = environment(asked)
    create(table, asked)
    table.execute_sql(WINDOWED.format(shape=windows(asked["size_ms"], asked["slide_ms"]))).wait()
    print("done", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
