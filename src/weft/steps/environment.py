"""What a function runs with: the versions of Python, Spark, the kernel and the packages that it needs.

`find` records what is installed where a project is checked; `differences` tells what is another here,
before a recorded function is run again. Neither starts Spark.
"""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.steps.function import FunctionVersion

NONE = "none"
"""What is recorded of something that is not installed."""
KERNEL_JAR = Path(__file__).parents[1] / "runtime" / "weft-kernel.jar"
KERNEL_STAMP = "META-INF/weft-sources.sha256"
"""Where the kernel's build notes the hash of what it was made from: the same on every machine."""
_PACKAGE = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?![A-Za-z0-9])")


def python_version() -> str:
    """The version of Python without its last number, which changes no behaviour that one may rely on."""
    return ".".join(platform.python_version_tuple()[:2])


def spark_version() -> str:
    """The version of PySpark that is installed."""
    return package_version("pyspark")


@functools.cache
def kernel_version(jar: Path = KERNEL_JAR) -> str:
    """The hash of the sources that the kernel beside this code was built from."""
    try:
        with zipfile.ZipFile(jar) as packed:
            return packed.read(KERNEL_STAMP).decode()
    except (OSError, KeyError, zipfile.BadZipFile):
        return NONE


def package_version(name: str) -> str:
    """The version of an installed package."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return NONE


def package_of(need: str) -> str | None:
    """The package that a requirement such as `numpy>=2` begins with, or None where it names none."""
    found = _PACKAGE.match(need)
    return found[1] if found else None


def installed(needs: Iterable[str]) -> dict[str, str]:
    """The versions of the packages behind these requirements, as they are installed here."""
    names = sorted({name for need in needs if (name := package_of(need)) is not None})
    return {name: package_version(name) for name in names}


def differences(version: FunctionVersion) -> tuple[str, ...]:
    """What is installed here and is another than was recorded with a function; what was not recorded is passed over."""
    recorded = {
        "Python": (version.python, python_version()),
        "Spark": (version.spark, spark_version()),
        "the kernel": (version.kernel[:10], kernel_version()[:10]),
    }
    here = installed(version.installed)
    recorded |= {
        f"package {name}": (then, here.get(name, NONE)) for name, then in version.installed.items()
    }
    return tuple(_told(recorded))


def _told(recorded: dict[str, tuple[str, str]]) -> Iterator[str]:
    for name, (then, now) in recorded.items():
        if then and then != now:
            yield f"{name}: {_shown(then)} when it was recorded, {_shown(now)} here"


def _shown(version: str) -> str:
    return "not installed" if version == NONE else version
