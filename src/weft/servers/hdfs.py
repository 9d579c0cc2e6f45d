"""An HDFS on loopback, all of it in one process: a folder comes in, out comes the address of its name node."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import pyspark
from hdfs_native import Client, WriteOptions

from weft.runtime import jars
from weft.servers.process import LOOPBACK, JavaServer, free_port

MAIN = "org.apache.hadoop.test.MiniDFSClusterManager"


class Hdfs:
    """A name node and a data node."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        spark = Path(pyspark.__file__).parent / "jars" / "*"
        paths = [*jars.find("hdfs-server"), *jars.find("junit"), spark]
        self.java = JavaServer("hdfs", folder, classpath=paths, heap="400m")

    def address(self, folder: str) -> str:
        """The address of a folder in it."""
        return f"hdfs://{LOOPBACK}:{self._port}/{folder}"

    def __enter__(self) -> Self:
        self.java.start_main(MAIN, "-datanodes", "1", "-nnport", str(self._port), "-format")
        self.java.wait_for(self._answers)
        return self

    def __exit__(self, *_: object) -> None:
        self.java.stop()

    def _answers(self) -> bool:
        try:
            client = Client(self.address(""))
            with client.create("/ready", WriteOptions(overwrite=True)) as file:
                file.write(b"yes")
        except (OSError, RuntimeError):
            return False
        return True
