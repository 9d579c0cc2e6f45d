"""Packages that Weft does not need, each in a throw-away environment. Called by benches of other engines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FLINK = "apache-flink==2.3.0"


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
