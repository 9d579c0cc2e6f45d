"""A disk that is full under the weaver's store: what was acknowledged is there, and the rest is told as what it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from weft.weaver.store.rocks import RocksStore

WRITER = """
import resource, signal, sys
from pathlib import Path
from weft.weaver.store import Write
from weft.weaver.store.rocks import RocksStore
from weft.weaver.store.store import StoreFullError

store = RocksStore(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
written = 0
try:
    while written < 10_000:
        store.apply([Write(b"key/%06d" % written, b"x" * 1000)])
        written += 1
except StoreFullError as error:
    print(written, error.code, error.retryable)
for _ in range(3):
    try:
        store.apply([Write(b"key/refused", b"x")])
    except StoreFullError:
        assert store.get(b"key/000000") is not None
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.apply([Write(b"later", b"x")])
"""


def test_what_was_acknowledged_before_the_disk_was_full_is_there_afterwards(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WRITER, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    written, code, retryable = ran.stdout.split()
    assert (code, retryable) == ("store.full", "True") and 0 < int(written) < 10_000
    store = RocksStore(tmp_path)
    try:
        found = [key for key, _ in store.scan(b"key/")]
        assert found[: int(written)] == [b"key/%06d" % number for number in range(int(written))]
        assert len(found) <= int(written) + 1, "at most the write that was refused"
        assert store.get(b"later") == b"x", "there was room again, and it went on"
    finally:
        store.close()
