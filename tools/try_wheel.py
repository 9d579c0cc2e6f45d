"""Installs the wheel of dist/ as a user would, in an empty home outside of the clone, and tries it: `make wheel`, then
`python tools/try_wheel.py`. Takes some minutes: packages and jars are fetched anew. Not part of `make test`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
LEAVE_OUT = ("PYTHON", "VIRTUAL_ENV", "PIPX_", "WEFT_JARS", "XDG_")
"""Variables that would lead back to the clone, or to what was fetched before."""


def main() -> int:
    """Install, then type what a new user types; 0 when all of it went well."""
    wheels = sorted((ROOT / "dist").glob("weft-*.whl"))
    if not wheels:
        sys.stderr.write("There is no wheel in dist/. Run `make wheel` first.\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="weft-wheel-") as home:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(LEAVE_OUT)}
        path = f"{home}/weft/bin{os.pathsep}{os.environ['PATH']}"
        environment = {**kept, "HOME": home, "PATH": path}
        for folder, command in (
            (home, [sys.executable, "-m", "venv", "weft"]),
            (home, ["weft/bin/python", "-m", "pip", "install", "--quiet", str(wheels[-1])]),
            (home, ["weft", "--help"]),
            (home, ["weft", "init", "shop"]),
            (f"{home}/shop", ["weft", "check"]),
            (f"{home}/shop", ["weft", "demo", "--once"]),
        ):
            started = time.monotonic()
            ended = subprocess.run(command, cwd=folder, env=environment, check=False)
            took = time.monotonic() - started
            sys.stdout.write(f"--- {' '.join(command)}: status {ended.returncode}, {took:.0f} s\n")
            sys.stdout.flush()
            if ended.returncode:
                return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
