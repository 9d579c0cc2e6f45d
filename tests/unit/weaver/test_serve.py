"""A weaver that starts: its storage is for nobody else's eyes, and it answers to its names."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import httpx
import pytest

from weft.streams.storage import Storage
from weft.weaver.serve import PortTakenError, WeaverHost, make_server


def test_a_storage_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        server = make_server(Storage(str(tmp_path / "new")), port=0)
    finally:
        os.umask(before)
    server._socket.close()
    server.weaver.store.close()
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_weaver_answers_at_its_host_and_to_the_names_it_was_given(tmp_path: Path) -> None:
    host = WeaverHost("localhost", ("Weft.example",))
    server = make_server(Storage(str(tmp_path)), port=0, host=host)
    server.start()
    try:
        assert server.address.startswith("http://localhost:")
        for name, status in (
            ("weft.example", 200),
            ("weft.example:80", 200),
            ("evil.example", 421),
        ):
            asked = httpx.get(f"{server.address}/health", headers={"host": name}, trust_env=False)
            assert asked.status_code == status
    finally:
        server.stop()


def test_a_host_that_is_not_of_this_machine_is_refused(tmp_path: Path) -> None:
    for host in ("192.0.2.1", "no-such-host.invalid"):
        with pytest.raises(PortTakenError):
            make_server(Storage(str(tmp_path)), port=0, host=WeaverHost(host))
