"""The Spark session of a worker: every setting that Weft needs, with its reason where it needs one.

In comes a master and what the caller wants otherwise, out comes a session with the kernel in it.
Called by the worker, the test kit and the benches; nothing else starts Spark.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from weft.errors import WeftError
from weft.gate.spark import register
from weft.locations.hadoop import settings_for
from weft.runtime import archive
from weft.runtime import jars as libraries
from weft.runtime.java import get_java
from weft.runtime.pools import POOLS
from weft.steps.environment import KERNEL_JAR

LOGGING = Path(__file__).with_name("log4j2.properties")

COMPILE_ALL = "-XX:-DontCompileHugeMethods"
"""Java's compiler leaves methods over 8,000 bytes alone, and a batch with many rules or columns is one such."""

DEEP = "-Xss16m"
"""The plan of a batch is as deep as its rules have steps, and Spark walks, copies and sends it by recursion."""

EXPLICIT = "-XX:-OmitStackTraceInFastThrow"
"""Java throws errors without their message when it has thrown many, and a repeated batch must give the same reasons."""

UNHURRIED = "-XX:CompileThresholdScaling=3"
"""Java compiles what ran a few hundred times, though most of that never runs often: over four million events compiling
was more than a quarter of a job's CPU, and small batches wait for it."""

JAVA = f"{COMPILE_ALL} {DEEP} {EXPLICIT} {UNHURRIED}"

THRIFTY = "-XX:+UseParallelGC"
"""Batches make garbage that dies young: collected all at once it costs half of what it does beside them."""

JAVA_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
"""Where whoever starts the process may choose another collector; Java does not start with two."""

DRIVER_MEMORY, EXECUTOR_MEMORY = "spark.driver.memory", "spark.executor.memory"

CODE_CACHE = "spark.sql.codegen.cache.maxEntries"
"""Compiled code is kept for all pipelines at once; those of the next batch find theirs."""
CODE_SHARE = 15
"""Megabytes of memory for each piece of compiled code that is kept: of hostile rules it takes up to six."""
LEAST_CODE = 100

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")

MEANING: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    # Otherwise Spark replaces ${…} in SQL, literals included, by settings and by the environment's variables.
    "spark.sql.variable.substitute": "false",
    # Rules are checked one by one and woven together: what each was resolved in, all of them must be.
    "spark.sql.analyzer.maxIterations": "10000",
    # Spark's search for equal parts of expressions takes twice as long for each condition inside another.
    "spark.sql.subexpressionElimination.enabled": "false",
}
"""What an expression means: its check rests on these, so nothing overrides them."""

SETTINGS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Tiny batches: a partition is a task of milliseconds; planning anew costs more than it saves.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    # A batch is one select over all outputs: compiled whole, however many columns they have together.
    "spark.sql.codegen.maxFields": "10000",
    "spark.locality.wait": "0s",
    "spark.scheduler.mode": "FAIR",
    "spark.scheduler.allocation.file": POOLS.as_uri(),
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "2000",
    "spark.sql.streaming.numRecentProgressUpdates": "20",
    "spark.sql.streaming.metricsEnabled": "false",
    # Watermarks are Weft's own, so Spark never needs a batch without data to move its watermark.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # Rollback cuts a checkpoint back to an earlier batch: this is how far it reaches.
    "spark.sql.streaming.minBatchesToRetain": "200",
    "spark.sql.streaming.checkpointFileManagerClass": "weft.kernel.spark.LocalCheckpoints",
    "spark.sql.streaming.checkpoint.renamedFileCheck.enabled": "false",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # What is read again and again, as the documents of a product are: with Spark's 8 it is unpacked each time.
    "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB": "64",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Python workers of functions answer within this or fail their batch; a busy machine may need more than 15 s.
    "spark.python.authenticate.socketTimeout": "120s",
    # Delta's readers are for people and tools; its writers are not used.
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}

LOCAL_SETTINGS: Mapping[str, str] = {
    # Only where driver and executors are one process: the class is needed before jars are fetched.
    "spark.hadoop.fs.file.impl": "weft.kernel.file.LocalFiles",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


class SessionError(WeftError):
    """Spark cannot be started here."""

    code = "session.failed"
    domain = "external"


def create(
    master: str,
    *,
    app: str,
    conf: Mapping[str, str] | None = None,
    jars: Sequence[Path] | None = None,
    storage: str = "",
) -> SparkSession:
    """Start Spark with Weft's settings and the kernel, or take the session that runs already.

    `conf` overrides single settings, but none of `MEANING`; `jars` are the libraries beside the kernel,
    if not given Delta's, Kafka's and what the address of the `storage` needs.
    """
    java = get_java()
    if not KERNEL_JAR.exists():
        raise SessionError(
            f"The kernel's jar is not at {KERNEL_JAR}.",
            code="session.no-kernel",
            domain="user",
            hint="Run `python kernel/build.py`, or install Weft from its wheel.",
        )
    local = master.startswith("local")
    # Sources and functions in Python run in processes of their own, which need what this one has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    paths = [KERNEL_JAR, *(libraries.find_for(storage) if jars is None else jars)]
    logging = f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"
    settings = {
        **SETTINGS,
        **(LOCAL_SETTINGS if local else {}),
        **_sizes(conf or {}, local=local),
        **_class_path(paths, local),
        **settings_for(storage),
        "spark.driver.extraJavaOptions": f"{logging} {_java()} {archive.options(paths, java)}",
        "spark.executor.extraJavaOptions": _java(),
        **(conf or {}),
        **MEANING,
    }
    builder = SparkSession.builder.master(master).appName(app)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return _prepared(builder.getOrCreate())


def _java() -> str:
    chosen = " ".join(os.environ.get(name, "") for name in JAVA_VARIABLES)
    return JAVA if "GC" in chosen else f"{JAVA} {THRIFTY}"


def _heap_mb() -> int:
    """A quarter of the memory that this process may have, as Java itself would take, and a gigabyte at least."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.exists() else "max"
    allowed = memory if limit == "max" else min(memory, int(limit))
    return max(1024, allowed // 4 // 2**20)


def _sizes(conf: Mapping[str, str], *, local: bool) -> dict[str, str]:
    """Settings that go by the memory there is: by what is asked for, where somebody does."""
    # Code is compiled where tasks run: in one process by the driver, else by executors.
    name, usual = (DRIVER_MEMORY, f"{_heap_mb()}m") if local else (EXECUTOR_MEMORY, "1g")
    kept = max(LEAST_CODE, _megabytes(conf.get(name, usual)) // CODE_SHARE)
    return {CODE_CACHE: str(kept), **({DRIVER_MEMORY: usual} if local else {})}


def _megabytes(size: str) -> int:
    """A size of memory as Spark reads it: a number with its unit, megabytes without."""
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", size.strip().lower())
    if found is None:
        raise SessionError(
            f"Spark's memory cannot be '{size}'.",
            code="session.memory",
            domain="user",
            hint="Write a whole number and its unit, as in 4g or 900m.",
        )
    return (int(found[1]) << 10 * "kmgt".index(found[2] or "m")) >> 10


def _class_path(paths: Sequence[Path], local: bool) -> dict[str, str]:
    """How the jars reach the JVMs: in one process by its class path, else they are sent on."""
    if local:
        return {"spark.driver.extraClassPath": os.pathsep.join(map(str, paths))}
    names = ",".join(map(str, paths))
    # The driver has them too: what it loads from its own class path does not see jars that are sent on.
    own = os.pathsep.join(map(str, paths))
    return {"spark.jars": names, "spark.driver.extraClassPath": own}


def fork(spark: SparkSession) -> SparkSession:
    """A session of its own on the same Spark, with the same settings: its views and settings meet no other's."""
    return _prepared(spark.newSession())


def _prepared(spark: SparkSession) -> SparkSession:
    """A session in which checked expressions mean what they meant when they were checked."""
    for name, value in MEANING.items():
        spark.conf.set(name, value)
    register(spark)
    return spark


def stop(spark: SparkSession) -> None:
    """Stop Spark."""
    spark.stop()
