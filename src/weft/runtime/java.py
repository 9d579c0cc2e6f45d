"""The Java that Spark, the jar fetcher and test servers run on. Asked for before a JVM is started,
so that a missing or old one is said in a sentence instead of a stack trace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from weft.errors import WeftError

OLDEST = 17
INSTALL = "sudo apt-get install openjdk-17-jdk-headless"


class JavaError(WeftError):
    """There is no Java that Weft can run on."""

    code = "java.missing"
    domain = "user"


def get_java() -> Path:
    """The `java` to run: JAVA_HOME's, else the PATH's; raises when there is none from 17 on."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    place = f"JAVA_HOME ({home})" if home else "the PATH"
    version = _find_version(found) if found else None
    if found is None or version is None:
        raise JavaError(
            f"Weft needs Java {OLDEST} or newer, and there is none in {place}.",
            hint=f"Install it, for instance with `{INSTALL}`.",
        )
    if version < OLDEST:
        raise JavaError(
            f"Weft needs Java {OLDEST} or newer, and the one in {place} is version {version}.",
            code="java.too-old",
            hint=f"Install a newer one, for instance with `{INSTALL}`, or set JAVA_HOME to it.",
        )
    return Path(found)


def _find_version(java: str) -> int | None:
    """The major version that this `java` reports, or None when it does not run."""
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(match[1]) if answer.returncode == 0 and match else None
