"""What the docs tell one to type is typed: the tutorial against `weft up`, and the test of the page on testing."""

from __future__ import annotations

import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from tests.unit.cli.test_docs import ROOT, blocks_of, commands_of
from weft.cli.root import cli
from weft.loading.init import write

TUTORIAL = ROOT / "docs/tutorial/shop.md"
LIMIT_S = 300.0
GOOD = "57"
"""The knot that the tutorial takes for the last good one."""


def test_the_test_of_the_docs_passes_on_a_new_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = (b for b in blocks_of(ROOT / "docs/how-to/test-a-project.md") if b.tag == "python")
    write(tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    found: dict[str, Any] = {"__name__": "docs"}
    exec(compile(block.text, str(block), "exec"), found)
    (test,) = (value for name, value in found.items() if name.startswith("test_"))
    test(tmp_path / "storage")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """The shop of the tutorial, up."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEFT_WEAVER", f"http://127.0.0.1:{port}")
    shop = Shop(port, monkeypatch)
    yield shop
    shop.stop()


class Shop:
    """Types commands as in two terminals: `weft up` in one, all others in the second."""

    def __init__(self, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.port = port
        self.api = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60)
        self._monkeypatch = monkeypatch
        self._up: subprocess.Popen[bytes] | None = None

    def type(self, line: str) -> None:
        """Run one command line, which must end well."""
        words = shlex.split(line, comments=True)
        if words[0] == "cd":
            self._monkeypatch.chdir(words[1])
        elif words[:2] == ["weft", "up"]:
            options = ["--port", str(self.port), "--metrics-port", "0", "--master", "local[2]"]
            command = [sys.executable, "-m", "weft.cli", *words[1:], *options]
            self._up = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            self.wait_for(lambda: self.head("clean-orders") >= 5)
            self.wait_for(lambda: self.head("revenue") >= 1)
            self.wait_for(lambda: self.api.get("/streams/orders.dead").is_success)
        else:
            ended = CliRunner().invoke(cli, words[1:])
            assert ended.exit_code == 0, f"{line}\n{ended.output}"

    def head(self, stream: str) -> int:
        """The newest live knot of a stream."""
        found = self.api.get(f"/streams/{stream}")
        return (found.json()["knot"] or 0) if found.is_success else 0

    def has_rows(self, stream: str) -> bool:
        """Whether a tied knot has written rows to a stream."""
        knots = self.api.get("/knots", params={"stream": stream, "limit": 20}).json()
        tied = [knot for knot in knots if knot["status"] == "COMPLETE"]
        return any(knot["outputs"].get(stream, {}).get("rows") for knot in tied)

    def wait_for_knot(self, stream: str, *, after: int) -> None:
        """Wait for the next knot of a stream."""
        self.wait_for(lambda: self.head(stream) > after)

    def wait_for(self, ready: Callable[[], Any]) -> None:
        """Wait until something is so; a weaver that does not answer yet is asked again."""
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            try:
                if ready():
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise TimeoutError

    def stop(self) -> None:
        """Ctrl-C in the first terminal."""
        self.api.close()
        if self._up is not None:
            self._up.send_signal(signal.SIGINT)
            assert self._up.wait(timeout=120) == 0


@pytest.mark.timeout(600)
def test_the_tutorial_can_be_typed(shop: Shop) -> None:
    good = 0
    lines = [line for block in blocks_of(TUTORIAL) for line in commands_of(block)]
    for line in lines:
        if "attach oops" in line:
            good = shop.head("clean-orders")
        shop.type(re.sub(rf"--to {GOOD}\b", f"--to {good}", line))
        if "attach discount" in line:
            shop.type(line.replace(" --dry-run", ""))  # as the tutorial says in words
            shop.wait_for(lambda: shop.has_rows("discounted"))
        if "attach oops" in line:
            shop.wait_for_knot("clean-orders", after=good)
    assert len(lines) > 15 and any(f"--to {GOOD}" in line for line in lines)
    active = shop.api.get("/rules", params={"active": True}).json()
    assert [rule["id"] for rule in active] == ["discount"]
