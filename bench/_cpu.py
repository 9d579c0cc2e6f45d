"""CPU time, as the benches count it; runs in any environment that has psutil."""

from __future__ import annotations

import psutil


def cpu_seconds() -> float:
    """CPU time of this process and of all that it has started, the dead ones too."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        spent = process.cpu_times()
        total += spent.user + spent.system + spent.children_user + spent.children_system
    return total
