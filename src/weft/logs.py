"""Logging: one line an event, to standard error, with the process's part in it."""

from __future__ import annotations

import logging
import sys


def get_logger(name: str) -> logging.Logger:
    """The logger of a module."""
    return logging.getLogger(name)


class _Handler(logging.Handler):
    """Writes to what standard error is at that moment: a spinner takes it over, so that lines stand above it."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")
        sys.stderr.flush()


def set_up(part: str, *, debug: bool = False) -> None:
    """Log to standard error; called once by each process that people start."""
    handler = _Handler()
    handler.setFormatter(
        logging.Formatter(f"%(asctime)s %(levelname)-7s {part} %(message)s", "%H:%M:%S")
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    # Py4J prints the traceback of whatever ends a batch; the worker says it in a sentence.
    logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL)
    logging.getLogger("weft").setLevel(logging.DEBUG if debug else logging.INFO)
