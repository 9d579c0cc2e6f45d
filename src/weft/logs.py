"""Logging: one line an event, to standard error, with the process's part in it."""

from __future__ import annotations

import logging
import sys


def get_logger(name: str) -> logging.Logger:
    """The logger of a module."""
    return logging.getLogger(name)


def set_up(part: str, *, debug: bool = False) -> None:
    """Log to standard error; called once by each process that people start."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        logging.Formatter(f"%(asctime)s %(levelname)-7s {part} %(message)s", "%H:%M:%S")
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    # Py4J prints the traceback of whatever ends a batch; the worker says it in a sentence.
    logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL)
    logging.getLogger("weft").setLevel(logging.DEBUG if debug else logging.INFO)
