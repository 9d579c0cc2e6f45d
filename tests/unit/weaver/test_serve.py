"""A weaver that starts: its storage is for nobody else's eyes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from weft.streams.storage import Storage
from weft.weaver.serve import make_server


def test_a_storage_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        server = make_server(Storage(str(tmp_path / "new")), port=0)
    finally:
        os.umask(before)
    server._socket.close()
    server.weaver.store.close()
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
