"""One hop, table to table, by one side in a process of its own: `python -m bench._hop '{"side": "weft", …}'`.

The sides: `weft`; `ruled`, the same with ten rules that touch no row; `stock`, the same job hand-written in PySpark
and Delta with the settings that they come with; and `tuned`, that job with Weft's settings and Delta's fastest. The
hand-written job does not guard against a repeated batch, which would cost it 300 ms a commit more.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812, as everyone writes it

from bench._input import STREAM, Release, commit_file, prepare, project
from tests.faults.cluster import Cluster
from weft.runtime import jars, session
from weft.runtime.worker import Worker
from weft.streams.storage import Storage

LIMIT_S = 3600.0
IDLE_RULES = 10
BY_HAND = ("stock", "tuned")
DELTA_SETTINGS = {
    "spark.databricks.delta.stats.collect": "false",
    "spark.databricks.delta.properties.defaults.checkpointInterval": "100",
    "spark.databricks.delta.history.metricsEnabled": "false",
    "spark.databricks.delta.commitMetrics.enabled": "false",
}
Stop = Callable[[], None]


def stock_session(*, memory: str = "2g", groups: Sequence[str] = ("core",)) -> SparkSession:
    """Spark with Delta, and what else is asked for, as their documentation starts it."""
    libraries = os.pathsep.join(str(jar) for group in groups for jar in jars.find(group))
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraClassPath", libraries)
        .config("spark.driver.memory", memory)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config(
            "spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        )
        .getOrCreate()
    )


def weft_session(**conf: str) -> SparkSession:
    """Spark as a worker starts it."""
    return session.create("local[2]", app="bench", conf={"spark.driver.memory": "2g", **conf})


def start_by_hand(spark: SparkSession, root: Path, *, files: int) -> tuple[Path, Stop]:
    """The hand-written job; returns its output table and what stops it."""
    output = root / "by-hand"

    def batch(frame: DataFrame, _: int) -> None:
        woven = (
            frame.filter("total > 0")
            .withColumn("email", F.lower("email"))
            .withColumn("net", F.expr("round(total / 1.19, 2)"))
            .withColumn("rated", F.col("rating") >= 2.5)
        )
        woven.write.format("delta").mode("append").save(str(output))

    query = (
        spark.readStream.format("delta")
        .option("maxFilesPerTrigger", files)
        .load(Storage(str(root)).table(STREAM))
        .writeStream.foreachBatch(batch)
        .option("checkpointLocation", str(root / "checkpoint"))
        .start()
    )
    return output, query.stop


def start_weft(
    spark: SparkSession, root: Path, *, queue_size: int, rules: int
) -> tuple[Path, Stop]:
    """The same as a pipeline: a weaver in a process of its own, the worker in this one."""
    cluster = Cluster(project(queue_size=queue_size), root, lease_s=10.0)
    cluster.api.post(f"/pipelines/{STREAM}/stop").raise_for_status()
    worker = Worker(spark, cluster.address, cluster.storage)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    for number in range(rules):
        rule = {"stream": "clean", "steps": [{"filter": f"country != 'x{number}'"}]}
        cluster.api.post("/rules", json=rule).raise_for_status()

    def stop() -> None:
        worker.stop()
        thread.join()
        cluster.__exit__()

    return Path(cluster.storage.table("clean")), stop


def start(side: str, root: Path, *, rows: int, files: int) -> tuple[SparkSession, Path, Stop]:
    """Start one side on the input below `root`."""
    if side not in BY_HAND:
        spark = weft_session()
        rules = IDLE_RULES if side == "ruled" else 0
        return spark, *start_weft(spark, root, queue_size=rows, rules=rules)
    spark = stock_session() if side == "stock" else weft_session(**DELTA_SETTINGS)
    return spark, *start_by_hand(spark, root, files=files)


def latencies(release: Release, output: Path, *, knots: int) -> list[float]:
    """Seconds from a commit of the input to the commit of the output, one after the other."""
    taken = []
    for number in range(1, knots + 1):
        began = time.perf_counter()
        release.upto(number)
        _await(output, number)
        taken.append(time.perf_counter() - began)
    return taken


def batches(output: Path, *, knots: int) -> list[float]:
    """Seconds between the commits of the output, when all input is there from the start."""
    _await(output, knots)
    first = 0 if output.name == "by-hand" else 1
    times = [commit_file(output, first + n).stat().st_mtime_ns / 1e9 for n in range(knots)]
    return [after - before for before, after in pairwise(times)]


def checksum(spark: SparkSession, output: Path) -> list[int]:
    """Rows of the output and the sum of their hashes, without what Weft stamps."""
    frame = spark.read.format("delta").load(str(output))
    columns = sorted(name for name in frame.columns if name != "_weft")
    hashed = F.expr(f"CAST(xxhash64({', '.join(columns)}) AS DECIMAL(38,0))")
    row = frame.agg(F.count("*").alias("rows"), F.sum(hashed).alias("sum")).first()
    assert row is not None
    return [int(row["rows"]), int(row["sum"] or 0)]


def _await(output: Path, version: int) -> None:
    # The first batch of the hand-written job makes the table: its versions are one lower.
    wanted = commit_file(output, version - 1 if output.name == "by-hand" else version)
    deadline = time.monotonic() + LIMIT_S
    while not wanted.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{output} has no commit {version} after {LIMIT_S:.0f} s")
        time.sleep(0.001)


def main() -> None:
    """Run what the argument asks for and print the result as JSON."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    prepared, root = Path(asked["input"]), Path(asked["root"])
    knots, rows, files = asked["knots"], asked["rows"], asked["files"]
    if asked["do"] == "prepare":
        prepare(weft_session(), prepared, knots=knots, rows=rows, files=files)
        print(json.dumps({"prepared": knots}))
        return
    release = Release(prepared, root)
    spark, output, stop = start(asked["side"], root, rows=rows, files=files)
    if asked["do"] == "batches":
        release.upto(knots)
        taken = batches(output, knots=knots)
    else:
        taken = latencies(release, output, knots=knots)
    found = checksum(spark, output)
    stop()
    session.stop(spark)
    print(json.dumps({"seconds": taken, "checksum": found}))


if __name__ == "__main__":
    main()
