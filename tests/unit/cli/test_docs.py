"""What the docs show is true: commands parse, projects load, links lead somewhere, the reference is current."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from tools import cli_reference
from weft.cli.root import cli
from weft.loading.load import load

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *ROOT.glob("examples/*/*.md")]
WRITTEN = [page for page in PAGES if page != cli_reference.PAGE]


def blocks(page: Path, kind: str = "") -> Iterator[str]:
    """The code blocks of a page, of one language or of none."""
    yield from re.findall(rf"^ *```{kind}\n(.*?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE)


def commands() -> Iterator[tuple[str, str]]:
    """Every `weft` command line of the pages, continued lines joined."""
    for page in WRITTEN:
        for block in blocks(page):
            for line in re.sub(r"\\\n\s*", "", block).splitlines():
                if found := re.match(r"\s*(?:\$ )?(weft .*)", line):
                    yield str(page.relative_to(ROOT)), found[1]


def parse(line: str) -> None:
    """Have the command line read its words, and nothing more."""
    words = shlex.split(line, comments=True)[1:]
    command: click.Command = cli
    context = click.Context(cli, info_name="weft", **cli.context_settings)
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
        context = click.Context(command, info_name=command.name, parent=context)
    assert command is not cli, line
    command.parse_args(context, words)


@pytest.mark.parametrize(("page", "line"), list(commands()))
def test_a_command_in_the_docs_can_be_typed(
    page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in shlex.split(line, comments=True):
        if word.startswith(".weft"):  # a storage or a backup, which some commands want to be there
            Path(word).mkdir(parents=True, exist_ok=True)
    parse(line)


def test_the_reference_of_the_command_line_is_current() -> None:
    written = cli_reference.PAGE.read_text()
    assert written == cli_reference.render(), "run `python tools/cli_reference.py`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_project_of_the_readme_is_right() -> None:
    (text,) = blocks(ROOT / "README.md", "yaml")
    assert load(yaml.safe_load(text)).name == "shop"


@pytest.mark.parametrize("folder", sorted((ROOT / "examples").iterdir()), ids=lambda f: f.name)
def test_an_example_is_right(folder: Path) -> None:
    assert load(folder).pipelines
