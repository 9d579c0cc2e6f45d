"""Weft: streaming pipelines on Spark whose every batch ties a knot."""

from typing import Any

from weft.steps.function import function

__all__ = ["__version__", "function", "replay"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # What notebooks call needs much that functions on executors do not.
    if name == "replay":
        from weft.notebook import replay

        return replay
    raise AttributeError(f"module 'weft' has no attribute {name!r}")
