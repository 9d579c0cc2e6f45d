"""What all benches share: arguments, progress on standard error, and the one JSON object at the end."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Figures = dict[str, Any]


class Measure:
    """One part of a bench: the figures it finds, and how."""

    def __init__(self, figures: tuple[str, ...], run: Callable[[bool], Figures]) -> None:
        self.figures = figures
        self.run = run


def run(name: str, description: str | None, parts: Mapping[str, Measure]) -> None:
    """Run the parts that are asked for and print the figures of all; those not asked for are null."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=description)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--only", help=f"some of {', '.join(parts)}, separated by commas")
    asked = parser.parse_args()
    wanted = asked.only.split(",") if asked.only else list(parts)
    unknown = set(wanted) - set(parts)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    began = time.monotonic()
    figures: Figures = {figure: None for part in parts.values() for figure in part.figures}
    for part in wanted:
        say(f"--- {part}")
        figures.update(parts[part].run(asked.quick))
    print(
        json.dumps(
            {
                "bench": name,
                "figures": figures,
                "machine": machine(),
                "seconds": round(time.monotonic() - began, 1),
            }
        )
    )


def machine() -> dict[str, Any]:
    """Where it ran; the load tells whether it had the machine to itself."""
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": round(os.getloadavg()[1], 1),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def say(line: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def percentile(values: list[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
