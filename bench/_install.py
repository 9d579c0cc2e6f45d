"""Packages and jars that Weft does not need, in throw-away places. Called by benches of other engines."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from weft.runtime import ivy
from weft.runtime.jars import Jar, spark_jars
from weft.runtime.java import get_java

FLINK = "apache-flink==2.3.0"
FLINK_KAFKA = Jar(
    "org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2",
    "5605c691d11a501382c383fecba37a7a552467da5ab7ba904ef5d6f3d62c5616",
    10_666_527,
)


class InstallError(Exception):
    """A package cannot be had here."""


def install(place: Path, *packages: str) -> str:
    """The interpreter of a new environment with these packages, and with psutil by which CPU time is counted."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "uv"
    python = str(place / "bin" / "python")
    for command in (
        [uv, "venv", "-q", "--seed", "--python", sys.executable, str(place)],
        [uv, "pip", "install", "-q", "--python", python, "psutil", *packages],
    ):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise InstallError(f"{', '.join(packages)} cannot be installed: {made.stderr[-500:]}")
    return python


def fetch(place: Path, jar: Jar) -> Path:
    """A jar that is in no lock file, checked."""
    place.mkdir(parents=True)
    arrived = ivy.retrieve(
        [jar.coordinate],
        title=f"Fetching {jar.file}",
        size=jar.size,
        scratch=place,
        java=get_java(),
        classpath=spark_jars(),
    )
    path = arrived / jar.file
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != jar.sha256:
        raise InstallError(f"{jar.coordinate} cannot be had")
    return path
