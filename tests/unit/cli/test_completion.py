"""The shell completes commands, and the names that the weaver or the project file knows, and is never in the way."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import httpx
import pytest
from click.shell_completion import ShellComplete, get_completion_class

from tests.unit.cli.fake import FakeWeaver, run
from tests.unit.cli.forms import make_pipeline, make_rule, make_stream
from weft.cli.root import cli
from weft.cli.terminal import Terminal
from weft.errors import WeftError

ANSWERS = {
    "GET /streams": [make_stream(name="orders"), make_stream(name="clean-orders")],
    "GET /pipelines": [make_pipeline()],
    "GET /rules": [make_rule(id="mask-email"), make_rule(id="big")],
    "GET /operations": [{"id": "op-7"}],
    "GET /branches": [{"name": "discounted"}],
}
PROJECT = """\
app_name: shop
streams: {orders: {source: mock}}
pipelines:
  clean: {from: orders, to: clean-orders}
  copy: {from: orders}
"""


def offered(
    *words: str, weaver: httpx.MockTransport | None = None, shell: type[ShellComplete] | None = None
) -> list[str]:
    """What is offered for the last word."""
    terminal = Terminal(transport=weaver or httpx.MockTransport(FakeWeaver(ANSWERS)))
    made = (shell or ShellComplete)(cli, {"obj": terminal}, "weft", "_WEFT_COMPLETE")
    return [item.value for item in made.get_completions(list(words[:-1]), words[-1])]


def away(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("nobody there")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("stream", "show", ""), ["orders", "clean-orders"]),
        (("stream", "show", "cl"), ["clean-orders"]),
        (("pipeline", "stop", ""), ["clean"]),
        (("rule", "show", "m"), ["mask-email"]),
        (("rule", "list", "--stream", "or"), ["orders"]),
        (("operation", "show", ""), ["op-7"]),
        (("knot", "show", "o"), ["orders"]),
        (("rollback", "c"), ["clean-orders"]),
        (("pipe",), ["pipeline"]),
        (("stream", "show", "nothing"), []),
    ],
)
def test_names_come_from_the_weaver(words: tuple[str, ...], names: list[str]) -> None:
    assert offered(*words) == names


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_the_same_names(shell: str) -> None:
    kind = get_completion_class(shell)
    assert offered("stream", "show", "cl", shell=kind) == ["clean-orders"]


@pytest.mark.parametrize(
    "answer",
    [
        away,
        lambda request: httpx.Response(200, text="<html>"),
        lambda request: httpx.Response(200, json={"not": "a list"}),
        lambda request: httpx.Response(500, json=WeftError("No.", code="a.b").to_dict()),
    ],
)
def test_without_a_weaver_they_come_from_the_project_file(
    answer: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    weaver = httpx.MockTransport(answer)  # type: ignore[arg-type]
    assert offered("stream", "show", "", weaver=weaver) == []
    (tmp_path / "weft.yaml").write_text(PROJECT)
    assert offered("stream", "show", "", weaver=weaver) == ["orders", "clean-orders", "copy"]
    assert offered("pipeline", "show", "c", weaver=weaver) == ["clean", "copy"]
    assert offered("rule", "show", "", weaver=weaver) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("text", ["", "- a", "streams: 5\npipelines: [a]", "a: [", "\x01"])
def test_a_project_file_that_is_wrong_offers_nothing(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weft.yaml").write_text(text)
    assert offered("stream", "show", "", weaver=httpx.MockTransport(away)) == []


def test_the_weaver_that_is_typed_is_the_one_that_is_asked() -> None:
    weaver = FakeWeaver(ANSWERS)
    words = ("stream", "show", "--weaver", "http://elsewhere:1234", "")
    offered(*words, weaver=httpx.MockTransport(weaver))
    assert weaver.asked[-1].url.host == "elsewhere"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_says_how_to_install_it(shell: str) -> None:
    script = run("completion", shell).stdout
    assert f"weft completion {shell} > " in "".join(script.splitlines(keepends=True)[:2])
    assert "_WEFT_COMPLETE" in script
    if shell == "zsh":
        assert script.startswith("#compdef weft")
    if found := shutil.which(shell):
        assert subprocess.run([found, "-n"], input=script, text=True, check=False).returncode == 0
