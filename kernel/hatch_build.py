"""The wheel's build hook: compiles the kernel, so that hatchling packs its jar with the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelHook(BuildHookInterface[Any]):
    """Runs kernel/build.py with the Python that builds the wheel, and so against its PySpark."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel into the package."""
        script = Path(self.root) / "kernel" / "build.py"
        subprocess.run([sys.executable, str(script)], check=True)
