"""Artifacts by coordinates, through the Ivy inside PySpark's own jars. Called by the jar fetcher.

Poms are ignored: the lock file lists everything, and a pom that is missing then stops nothing. Ivy
gets a home and a cache of its own, so that neither a user's settings nor old downloads play a part.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

SETTINGS = "WEFT_IVY_SETTINGS"
PATIENCE_S = 900
# Below this nobody looks at a progress bar.
QUIET_S = 1.0

_CENTRAL = (
    '<ivysettings><settings defaultResolver="central"/><resolvers>'
    '<ibiblio name="central" m2compatible="true" usepoms="false"/>'
    "</resolvers></ivysettings>"
)


def file_name(coordinate: str) -> str:
    """The name under which an artifact is kept: `name-version[-classifier].extension`."""
    _, name, version, classifier, extension = _parts(coordinate)
    return f"{name}-{version}{'-' + classifier if classifier else ''}.{extension}"


def retrieve(
    coordinates: Sequence[str],
    *,
    title: str,
    size: int,
    scratch: Path,
    java: Path,
    classpath: Path,
) -> Path:
    """Fetch the artifacts into a folder below `scratch`; what could not be had is not in it."""
    own_settings, module, cache, arrived = (
        scratch / name for name in ("ivysettings.xml", "ivy.xml", "cache", "arrived")
    )
    own_settings.write_text(_CENTRAL)
    module.write_text(_module(coordinates))
    arrived.mkdir()
    command = [
        str(java),
        f"-Duser.home={scratch}",
        "-cp",
        f"{classpath}/*",
        "org.apache.ivy.Main",
        *("-settings", os.environ.get(SETTINGS) or str(own_settings)),
        *("-ivy", str(module)),
        *("-cache", str(cache)),
        *("-retrieve", f"{arrived}/[artifact]-[revision](-[classifier]).[ext]"),
    ]
    with (scratch / "ivy.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=scratch)
        try:
            _watch(process, cache, title=title, size=size)
        finally:
            process.kill()
            process.wait()
    return arrived


def _watch(process: subprocess.Popen[bytes], cache: Path, *, title: str, size: int) -> None:
    """Wait for Ivy to end, showing how much has arrived once it takes long."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task = progress.add_task(title, total=size)
    started = time.monotonic()
    shown = False
    try:
        while process.poll() is None:
            elapsed = time.monotonic() - started
            if elapsed > PATIENCE_S:
                raise subprocess.TimeoutExpired("ivy", PATIENCE_S)
            if not shown and elapsed > QUIET_S:
                shown = True
                progress.start()
                if not console.is_terminal:
                    console.print(f"{title} ({size / 1e6:.0f} MB).")
            if shown:
                progress.update(task, completed=_arrived_bytes(cache))
            time.sleep(0.1)
    finally:
        progress.stop()


def _arrived_bytes(cache: Path) -> int:
    """The bytes of artifacts in Ivy's cache, without files that Ivy renames while this looks."""
    total = 0
    for path in cache.glob("*/*/*s/*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def _module(coordinates: Sequence[str]) -> str:
    """An Ivy module that depends on exactly these artifacts."""
    lines = []
    for coordinate in coordinates:
        organisation, name, version, classifier, extension = _parts(coordinate)
        artifact = {"name": name, "type": extension, "ext": extension}
        if classifier:
            artifact["m:classifier"] = classifier
        module = {"org": organisation, "name": name, "rev": version, "transitive": "false"}
        lines.append(
            f"<dependency {_attributes(module)}><artifact {_attributes(artifact)}/></dependency>"
        )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="weft" module="jars"/><dependencies>'
        f"{''.join(lines)}</dependencies></ivy-module>"
    )


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={quoteattr(value)}" for name, value in values.items())


def _parts(coordinate: str) -> tuple[str, str, str, str, str]:
    """Organisation, name, version, classifier (or nothing) and extension of a coordinate."""
    path, _, extension = coordinate.partition("@")
    organisation, name, version, *classifier = path.split(":")
    return organisation, name, version, "".join(classifier), extension or "jar"
