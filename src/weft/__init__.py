"""Weft: streaming pipelines on Spark whose every batch ties a knot."""

__version__ = "0.1.0"
