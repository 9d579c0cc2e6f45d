"""Weft: streaming pipelines on Spark whose every batch ties a knot."""

from weft.steps.function import function

__all__ = ["__version__", "function"]

__version__ = "0.1.0"
