"""Delta checkpoints of stream tables, so that other tools open one without reading every commit.

Asked for by `Table` after every so many commits; made by a thread of its own, one at a time.
No batch waits for one, and one that fails costs nothing: the log alone is complete, and Weft reads
only that.
"""

from __future__ import annotations

import logging
import threading

from deltalake.exceptions import DeltaError

from weft.streams.delta import open_table

EVERY_COMMITS = 100

_log = logging.getLogger(__name__)
_one_at_a_time = threading.Lock()
_pending_lock = threading.Lock()
_pending: set[str] = set()


def request(path: str) -> threading.Thread | None:
    """Checkpoint a table's log in the background; None when that is already under way."""
    with _pending_lock:
        if path in _pending:
            return None
        _pending.add(path)
    thread = threading.Thread(target=_make, args=(path,), name="table-checkpoint", daemon=True)
    thread.start()
    return thread


def make(path: str) -> None:
    """Checkpoint a table's log now."""
    with _one_at_a_time:
        open_table(path).create_checkpoint()


def _make(path: str) -> None:
    try:
        make(path)
    except (DeltaError, OSError) as error:
        _log.warning("The log of the table at %s got no checkpoint: %s", path, error)
    finally:
        with _pending_lock:
            _pending.discard(path)
