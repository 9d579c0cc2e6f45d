"""The kernel's own tests, in `kernel/test`: compiled against the kernel's jar and run by JUnit."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from weft.runtime import jars
from weft.runtime.java import get_java
from weft.runtime.session import KERNEL_JAR

TESTS = Path(__file__).parents[2] / "kernel" / "test"


def class_path(*first: Path) -> str:
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    spark = Path(spec.origin).parent / "jars" / "*"
    return os.pathsep.join(str(path) for path in (*first, KERNEL_JAR, *jars.find("junit"), spark))


def run(*command: str) -> None:
    """Run a command; one that fails says in its own words why."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(done.stdout + done.stderr, pytrace=False)


def test_the_kernels_own_tests_pass(tmp_path: Path) -> None:
    java = get_java()
    sources = sorted(str(path) for path in TESTS.rglob("*.java"))
    # Neither runs for long enough to gain by Java's second compiler.
    quick = "-XX:TieredStopAtLevel=1"
    compiler = [str(java.with_name("javac")), f"-J{quick}", "-proc:none", "-nowarn"]
    run(*compiler, "-encoding", "UTF-8", "-cp", class_path(), "-d", str(tmp_path), *sources)
    # Spark's memory asks for the opened package, as its own scripts do.
    machine = [str(java), quick, "-Xmx512m", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    launcher = ["org.junit.platform.console.ConsoleLauncher", "execute", "--scan-class-path"]
    shown = ["--details=summary", "--disable-banner", "--disable-ansi-colors", "--fail-if-no-tests"]
    run(*machine, "-cp", class_path(tmp_path), *launcher, str(tmp_path), *shown)
