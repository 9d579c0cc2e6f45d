"""One start of Spark to the second batch of a stream, a filter and a window: `python -m bench._start with|without`."""

from __future__ import annotations

import json
import sys
import tempfile
import time

import psutil

from weft.runtime import archive, session
from weft.testing import play, shared_session
from weft.training import PROJECT

ORDER = {"id": 1, "email": "A@B", "country": "de", "total": "1.50"}


def main() -> None:
    """Start with the classes that are kept or without, and print what it took as JSON."""
    if sys.argv[1] == "without":
        archive.options = lambda before, java: ""
    began = time.monotonic()
    spark = shared_session()
    there = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="weft-bench-") as folder,
        play(PROJECT, storage=folder, spark=spark) as run,
    ):
        for second in (1, 21):
            run.feed("orders", [{**ORDER, "at": f"2026-01-01T00:00:{second:02d}Z"}])
        done = time.monotonic()
        jvm = next(one for one in psutil.Process().children(recursive=True) if "java" in one.name())
        cpu_s = sum(jvm.cpu_times()[:2])
    session.stop(spark)
    print(json.dumps({"session_s": there - began, "batches_s": done - began, "cpu_s": cpu_s}))


if __name__ == "__main__":
    main()
