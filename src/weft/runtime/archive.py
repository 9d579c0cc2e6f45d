"""Java's classes as a JVM has them in memory, kept in a file: one that finds them there starts with a quarter less CPU.

In come the jars that a session has before Spark's own, out comes what its JVM is told. An archive is good for one Java
and one class path, down to the times of its files: `weft prepare` makes it by a JVM that writes down what it has loaded
as it ends, and a JVM with anything else does without.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from weft.errors import WeftError
from weft.runtime import jars
from weft.runtime.java import get_java

INTO = "WEFT_CLASSES_INTO"
"""Names the file that the JVM of a session writes as it ends; set for the one that is trained."""
QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""A JVM that cannot use an archive says so where others read what a command says."""
UNUSED_S = 30 * 86_400.0
KEPT = 4
"""So many are kept, those that were used last: each build of a kernel needs another."""
TRAINED_S, ENDED_S = 600.0, 120.0
"""For so long a JVM is trained, and writes down its classes, at most."""


class ArchiveError(WeftError):
    """Java's classes could not be kept."""

    code = "classes.not-kept"
    domain = "external"


def options(before: Sequence[Path], java: Path) -> str:
    """What a JVM is told that has these jars before Spark's own; nothing where no archive is for it."""
    if into := os.environ.get(INTO):
        return f"-XX:ArchiveClassesAtExit={into} {QUIET}"
    archive = place_of(before, java)
    if not archive.exists() or any(letter.isspace() for letter in str(archive)):
        return ""
    # Those that nobody uses are removed some day; where nothing can be written, none is.
    with contextlib.suppress(OSError):
        os.utime(archive)
    return f"-XX:SharedArchiveFile={archive} {QUIET}"


def place_of(before: Sequence[Path], java: Path) -> Path:
    """Where the archive of a class path is, whether it was made or not."""
    told = hashlib.sha256()
    for path in (java.resolve(), *before, *sorted(jars.spark_jars().iterdir())):
        known = path.stat()
        told.update(f"{path}\0{known.st_size}\0{known.st_mtime_ns}\0".encode())
    return jars.cache_folder() / "classes" / f"{told.hexdigest()[:32]}.jsa"


def make(before: Sequence[Path]) -> Path:
    """The archive of a class path, made if it is not there: whole, or not at all."""
    archive = place_of(before, get_java())
    archive.parent.mkdir(parents=True, exist_ok=True)
    with jars.locked(archive.parent):
        if not archive.exists():
            _remove_unused(archive.parent)
            with tempfile.TemporaryDirectory(prefix=".made-", dir=archive.parent) as scratch:
                os.replace(_trained(Path(scratch)), archive)
    return archive


def _trained(scratch: Path) -> Path:
    """What a JVM has written down as it ended, after it had run a small project."""
    made, log = scratch / "classes.jsa", scratch / "log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "weft.training"],
            env={**os.environ, INTO: str(made)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            cwd=scratch,
        )
        started = _until_it_ends(process)
    _, running = psutil.wait_procs(started, ENDED_S)
    for one in running:
        one.kill()
    if process.returncode != 0 or running or not made.exists():
        raise ArchiveError(
            f"Java's classes could not be kept: {log.read_text(errors='replace').strip()[-500:]}",
            hint="Weft runs without, and starts a little later.",
        )
    return made


def _until_it_ends(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """What a process has started by the time it ends: a JVM writes its classes after that."""
    deadline = time.monotonic() + TRAINED_S
    known: dict[int, psutil.Process] = {}
    while process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process(process.pid).children(recursive=True)
            known |= {one.pid: one for one in children}
        if time.monotonic() > deadline:
            process.kill()
        time.sleep(0.2)
    return list(known.values())


def _remove_unused(folder: Path) -> None:
    """Make room for one more; what a process that died had begun goes too."""
    for path in folder.glob(".made-*"):
        shutil.rmtree(path)
    used = sorted(folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True)
    oldest = time.time() - UNUSED_S
    for place, path in enumerate(used):
        if place >= KEPT - 1 or path.stat().st_mtime < oldest:
            path.unlink()
