"""Files on local disks: there whole or not at all, whenever the process is killed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.spark.streams import NUMBERS, note, schema_of
from weft.runtime.java import get_java
from weft.runtime.session import KERNEL_JAR
from weft.streams.table import Table, TableConflictError

PROGRAM = Path(__file__).with_name("CheckpointLoop.java")


def command(*arguments: str) -> list[str]:
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    jars = Path(spec.origin).parent / "jars"
    names = ["hadoop-client-*", "spark-sql_*", "spark-c*", "scala-l*", "slf4j-api-*", "log4j*"]
    found = [str(KERNEL_JAR), *(str(jar) for name in names for jar in jars.glob(f"{name}.jar"))]
    return [str(get_java()), "-Xmx256m", "-cp", os.pathsep.join(found), str(PROGRAM), *arguments]


@pytest.mark.timeout(120)
def test_a_killed_writer_leaves_whole_files_only(tmp_path: Path) -> None:
    for life in range(3):
        writer = subprocess.Popen(
            command("write", str(tmp_path), str(life)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"writing\n"
            time.sleep(0.05 + 0.03 * life)
            writer.kill()
    listed = subprocess.run(
        command("list", str(tmp_path)), capture_output=True, text=True, check=True
    ).stdout.split()
    assert "latest" in listed
    assert len(listed) > 3
    for name in listed:
        content = (tmp_path / name).read_bytes()
        assert len(content) == 200_000, name
        assert content == content[:1] * len(content), name


def manager_at(spark: SparkSession, folder: str, conf: Any = None) -> Any:
    jvm: Any = spark._jvm
    conf = conf or spark.sparkContext._jsc.hadoopConfiguration()
    return jvm.weft.kernel.spark.LocalCheckpoints(jvm.org.apache.hadoop.fs.Path(folder), conf)


def path(spark: SparkSession, text: str) -> Any:
    jvm: Any = spark._jvm
    return jvm.org.apache.hadoop.fs.Path(text)


def put(spark: SparkSession, manager: Any, name: str, data: bytes, *, replace: bool) -> None:
    out = manager.createAtomic(path(spark, name), replace)
    out.write(bytearray(data))
    out.close()


def test_a_name_is_taken_once_unless_it_may_be_replaced(
    spark: SparkSession, tmp_path: Path
) -> None:
    manager, name = manager_at(spark, str(tmp_path)), str(tmp_path / "deep" / "5")
    put(spark, manager, name, b"one", replace=False)
    with pytest.raises(Py4JJavaError, match="FileAlreadyExistsException"):
        put(spark, manager, name, b"two", replace=False)
    assert Path(name).read_bytes() == b"one"
    put(spark, manager, name, b"three", replace=True)
    assert Path(name).read_bytes() == b"three"
    assert os.listdir(tmp_path / "deep") == ["5"]


def test_a_cancelled_file_never_was(spark: SparkSession, tmp_path: Path) -> None:
    manager = manager_at(spark, str(tmp_path))
    out = manager.createAtomic(path(spark, str(tmp_path / "5")), False)
    out.write(bytearray(b"half"))
    out.cancel()
    out.close()
    assert os.listdir(tmp_path) == []


def test_what_is_missing_is_said(spark: SparkSession, tmp_path: Path) -> None:
    manager = manager_at(spark, str(tmp_path))
    assert not manager.exists(path(spark, str(tmp_path / "none")))
    manager.delete(path(spark, str(tmp_path / "none")))
    for call in (manager.open, manager.list):
        with pytest.raises(Py4JJavaError, match="FileNotFoundException"):
            call(path(spark, str(tmp_path / "none")))


@pytest.fixture
def elsewhere(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """The address of storage that is not a local path as far as Hadoop knows."""
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    host = tmp_path.name.replace("_", "-")
    link = f"fs.viewfs.mounttable.{host}.link./data"
    conf.set(link, tmp_path.as_uri())
    yield f"viewfs://{host}/data"
    conf.unset(link)


def test_other_storage_is_left_to_sparks_own_manager(
    spark: SparkSession, tmp_path: Path, elsewhere: str
) -> None:
    manager = manager_at(spark, elsewhere)
    assert not manager.isLocal()
    put(spark, manager, f"{elsewhere}/5", b"one", replace=False)
    with pytest.raises(Py4JJavaError, match="FileAlreadyExistsException"):
        put(spark, manager, f"{elsewhere}/5", b"two", replace=False)
    assert (tmp_path / "5").read_bytes() == b"one"


def test_tables_on_other_storage_conflict_too(spark: SparkSession, elsewhere: str) -> None:
    one, other = (Table(spark, f"{elsewhere}/t") for _ in range(2))
    schema = schema_of(NUMBERS).jsonValue()
    one.create(schema)
    other.create(schema)
    assert one.commit(0, note(1), []) == 1
    with pytest.raises(TableConflictError):
        other.commit(0, note(1), [])
    head = other.head()
    assert head is not None and (head.note.knot, head.version) == (1, 1)


def test_spark_writes_local_files_without_checksums(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).coalesce(1).write.parquet(str(tmp_path / "p"))
    names = os.listdir(tmp_path / "p")
    assert [name for name in names if name.endswith(".crc")] == []
    data = next(tmp_path.glob("p/part-*"))
    assert data.stat().st_mode & 0o777 == 0o644
    assert spark.read.parquet(str(tmp_path / "p")).count() == 3
