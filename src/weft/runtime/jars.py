"""The Java libraries that Weft adds to Spark: listed in `jars.lock`, fetched once, always checked.

In comes the name of a group of the lock file, out come the paths of its jars in a cache that all
projects of a user share. Called by the session before Spark starts, by `make setup`, and by tests
for the servers they start.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weft.errors import WeftError
from weft.locations.hadoop import is_bucket
from weft.runtime import ivy
from weft.runtime.java import get_java

LOCK = Path(__file__).with_name("jars.lock")
PAUSES_S = (1.0, 4.0, 10.0)
"""How long to wait before a repository is asked again for what it did not give."""


class JarError(WeftError):
    """A jar is not to be had, or is not the one that the lock file names."""

    code = "jars.unreachable"
    domain = "external"


@dataclass(frozen=True)
class Jar:
    """One artifact of the lock file; `organisation:name:version[:classifier][@extension]`."""

    coordinate: str
    sha256: str
    size: int

    @property
    def file(self) -> str:
        """The name of the artifact's file in the cache."""
        return ivy.file_name(self.coordinate)


@cache
def read_lock() -> dict[str, tuple[Jar, ...]]:
    """The groups of the lock file, each with its jars in the order of the class path."""
    tables = tomllib.loads(LOCK.read_text())
    return {
        group: tuple(Jar(coordinate, **facts) for coordinate, facts in table.items())
        for group, table in tables.items()
    }


def cache_folder() -> Path:
    """Where fetched jars are kept: $WEFT_JARS, or `weft/jars` in the user's cache."""
    if chosen := os.environ.get("WEFT_JARS"):
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "weft" / "jars"


def find(group: str) -> list[Path]:
    """The jars of a group, checked against the lock file; what the cache lacks is fetched first."""
    groups = read_lock()
    if group not in groups:
        raise JarError(
            f"There is no group of jars called '{group}'.",
            code="jars.unknown-group",
            domain="user",
            hint=f"The groups are {', '.join(groups)}.",
            group=group,
        )
    jars, folder = groups[group], cache_folder()
    if _missing(jars, folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            _fetch(group, _missing(jars, folder), folder)
    for jar in jars:
        _check(jar, folder / jar.file)
    return [folder / jar.file for jar in jars]


def find_for(storage: str = "") -> list[Path]:
    """The jars beside the kernel of a session that uses the storage at this address, a folder if not said."""
    groups = ("core", "kafka", *(("s3",) if is_bucket(storage) else ()))
    return [jar for group in groups for jar in find(group)]


def _missing(jars: Sequence[Jar], folder: Path) -> list[Jar]:
    return [jar for jar in jars if not (folder / jar.file).exists()]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time fetch into the folder; the system lets go when it dies."""
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _fetch(group: str, jars: Sequence[Jar], folder: Path) -> None:
    """Bring the jars into the folder; each appears there whole and checked, or not at all.

    A repository that gives a part of many files is asked again for the others, a few times.
    """
    for pause_s in (*PAUSES_S, None):
        if not (missing := _missing(jars, folder)):
            return
        try:
            _fetch_once(group, missing, folder)
        except (subprocess.SubprocessError, OSError) as error:
            raise _unreachable(group, missing, folder) from error
        if pause_s is not None and _missing(jars, folder):
            time.sleep(pause_s)
    if missing := _missing(jars, folder):
        raise _unreachable(group, missing, folder)


def _fetch_once(group: str, jars: Sequence[Jar], folder: Path) -> None:
    """Ask for the jars once, and keep those that came."""
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
        arrived = ivy.retrieve(
            [jar.coordinate for jar in jars],
            title=f"Fetching {len(jars)} jars for {group}",
            size=sum(jar.size for jar in jars),
            scratch=Path(scratch),
            java=get_java(),
            classpath=spark_jars(),
        )
        for jar in jars:
            if (arrived / jar.file).exists():
                _check(jar, arrived / jar.file)
                os.replace(arrived / jar.file, folder / jar.file)


def _unreachable(group: str, missing: Sequence[Jar], folder: Path) -> JarError:
    names = ", ".join(jar.coordinate for jar in missing)
    return JarError(
        f"The jars of group '{group}' could not be fetched: {names}.",
        retryable=True,
        hint=f"Run `python -m weft.runtime.jars {group}` once with a connection, or put the files "
        f"into {folder}; for a mirror, set {ivy.SETTINGS} to an Ivy settings file of your own.",
        group=group,
    )


def _check(jar: Jar, path: Path) -> None:
    """Raise, and remove the file, when it is not the one that the lock file names."""
    with path.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found == jar.sha256:
        return
    path.unlink(missing_ok=True)
    raise JarError(
        f"The file of {jar.coordinate} has the wrong checksum and was removed: "
        f"expected {jar.sha256}, found {found}.",
        code="jars.checksum",
        hint="Run it again to fetch it anew. If it stays wrong, do not trust where it comes from.",
        jar=jar.coordinate,
    )


def spark_jars() -> Path:
    """The folder of PySpark's own jars, Ivy among them, found without importing PySpark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarError(
            "PySpark is not installed, and its Ivy fetches the jars.",
            code="jars.no-pyspark",
            domain="user",
            hint="Install Weft with its dependencies.",
        )
    return Path(spec.origin).parent / "jars"


def main(groups: Sequence[str]) -> int:
    """Fetch and check the named groups, or all of them; a failure is one line and exit status 1."""
    try:
        for group in groups or read_lock():
            find(group)
    except WeftError as error:
        sys.stderr.write(f"{error.message} {error.hint}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
