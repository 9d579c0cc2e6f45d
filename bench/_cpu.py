"""CPU time, as the benches count it; runs in any environment that has psutil."""

from __future__ import annotations

from contextlib import suppress

import psutil


def cpu_seconds(pid: int | None = None) -> float:
    """CPU time of a process (default: this one) and of all that it has started, the dead ones too."""
    root = psutil.Process(pid)
    total = 0.0
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            spent = process.cpu_times()
            total += sum(spent[:4])  # its own and its dead children's, as user and as system
    return total
