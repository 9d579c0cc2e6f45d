"""What the docs show is true: blocks run, commands parse, projects load, links lead somewhere.

A block says by its tag what it is. `console`: commands behind `$`, and what they print. `yaml`: a project, or a part
of one that reads the shop's orders. `python`: a module beside the page's projects if its first line is `# name.py`,
else code that runs by itself. `text`: anything that is only read.
"""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pytest

from tools import cli_reference
from weft.cli.root import cli
from weft.loading.document import from_text
from weft.loading.init import FILES
from weft.loading.load import load
from weft.schema.schema import Schema
from weft.sinks import TableRows
from weft.sinks import open as open_sink
from weft.sources.journal import Journal, records

ROOT = Path(__file__).parents[3]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(ROOT.glob("examples/*/*.md")),
]
TAGS = ("console", "python", "text", "yaml")
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
MODULE = re.compile(r"# (\w+)\.py\n")
ORDERS = {
    "source": {"mock": {}},
    "schema": {"id": "long", "email": "string", "country": "string", "total": "decimal(10,2)"}
    | {"at": "timestamp"},
    "key": "id",
    "event_time": "at",
}
PART: dict[str, Any] = {"app_name": "shop", "streams": {"orders": ORDERS}}
"""What a project of the docs has where it says nothing else."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    tag: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page, without their indentation."""
    written = page.read_text()
    for found in FENCE.finditer(written):
        text = re.sub(rf"^{found[1]}", "", found[3], flags=re.MULTILINE)
        yield Block(page, written.count("\n", 0, found.start()) + 1, found[2], text)


def blocks(tag: str) -> list[Block]:
    """All blocks of this tag."""
    return [block for page in PAGES for block in blocks_of(page) if block.tag == tag]


def commands_of(block: Block) -> Iterator[str]:
    """The commands that a block types, continued lines joined."""
    for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
        if line.startswith("$ "):
            yield line.removeprefix("$ ")


def commands() -> list[tuple[str, str]]:
    """Every `weft` command line that a page types."""
    typed = [(str(block), line) for block in blocks("console") for line in commands_of(block)]
    return [(place, line) for place, line in typed if line.startswith("weft ")]


def write_modules(page: Path, folder: Path) -> None:
    """Write the modules of a page as the files that their first lines name, beside the one of `weft init`."""
    (folder / "rules.py").write_text(FILES["rules.py"])
    for block in blocks_of(page):
        if block.tag == "python" and (name := MODULE.match(block.text)):
            (folder / f"{name[1]}.py").write_text(block.text)


def parse(line: str) -> None:
    """Have the command line read its words, and nothing more."""
    words = shlex.split(line, comments=True)[1:]
    command: click.Command = cli
    context = click.Context(cli, info_name="weft", **cli.context_settings)
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
        context = click.Context(command, info_name=command.name, parent=context)
    assert command is not cli, line
    with context:  # which closes the files that it opened
        command.parse_args(context, words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_what_it_is(page: Path) -> None:
    written = page.read_text()
    found = list(blocks_of(page))
    assert [str(block) for block in found if block.tag not in TAGS] == []
    assert written.count("```") == 2 * len(found)
    assert [str(b) for b in found if b.tag == "console" and not list(commands_of(b))] == []


@pytest.mark.parametrize(("place", "line"), commands())
def test_a_command_in_the_docs_can_be_typed(
    place: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in shlex.split(line, comments=True):
        if word.startswith(".weft"):  # a storage or a backup, which some commands want to be there
            Path(word).mkdir(parents=True, exist_ok=True)
        if word.endswith(".yaml"):  # what is added to the project, whose file they want too
            Path(word).touch()
            Path("weft.yaml").touch()
    parse(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_in_a_sentence_is_there_with_its_options(page: Path) -> None:
    for span in re.findall(r"`weft ([^`]+)`", FENCE.sub("", page.read_text())):
        command: click.Command = cli
        words = span.replace("\n", " ").split()
        while isinstance(command, click.Group) and words:
            assert words[0] in command.commands, f"weft {span}"
            command = command.commands[words.pop(0)]
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        assert {word for word in words if word.startswith("-")} <= known, f"weft {span}"


@pytest.mark.parametrize("block", blocks("console"), ids=str)
def test_what_make_is_asked_for_is_there(block: Block) -> None:
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for line in commands_of(block):
        if found := re.match(r"(?:\w+=\w+ )?make ([a-z]+)", line):
            assert found[1] in targets, line


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_a_project_in_the_docs_is_right(block: Block, tmp_path: Path) -> None:
    write_modules(block.page, tmp_path)
    written = from_text(block.text).value
    streams = {**PART["streams"], **written.get("streams", {})}
    load({**PART, **written, "streams": streams}, folder=tmp_path)


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_in_the_docs_runs(block: Block) -> None:
    exec(compile(block.text, str(block), "exec"), {"__name__": "docs"})


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the modules of the page about sources and sinks of one's own."""
    write_modules(ROOT / "docs/how-to/own-source-and-sink.md", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("meter", "alarm"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_the_source_of_the_docs_goes_on_where_it_was(own: Path) -> None:
    from meter import Readings  # type: ignore[import-not-found]

    file = own / "meters.db"
    with sqlite3.connect(file) as database:
        database.execute("create table reading (id integer primary key, meter text, value real)")
        values = [("a", 1.0), ("b", 2.0), ("c", 3.0)]
        database.executemany("insert into reading (meter, value) values (?, ?)", values)
    database.close()
    for after in (0, 1):  # the second time as after a crash, with the segments that there are
        journal = Journal(own / "journal", Readings(str(file)))
        assert journal.next(after, max_events=2) == after + 1
        journal.close()
    read = [value for number in (1, 2) for _, value in records(own / "journal", number)]
    assert [json.loads(value)["meter"] for value in read] == ["a", "b", "c"]


def test_the_sink_of_the_docs_has_what_the_stream_has(own: Path) -> None:
    file = str(own / "alarms.db")
    schema = Schema.of({"meter": "string", "value": "double"})
    sink = open_sink(
        "python",
        {"class": "alarm:Alarms", "file": file},
        app="meters",
        pipeline="high",
        stream="high",
        schema=schema,
    )
    high = [{"meter": "a", "value": 101.0}, {"meter": "b", "value": 102.0}]
    first, second = (TableRows(pa.Table.from_pylist([record])) for record in high)
    for knot, rows in ((1, first), (2, second), (2, second)):  # a knot may come twice
        sink.deliver(knot, rows)
    sink.retract(range(2, 3), second)
    sink.close()
    with sqlite3.connect(file) as database:
        assert database.execute("select meter from alarm").fetchall() == [("a",)]
    database.close()


def test_the_reference_of_the_command_line_is_current() -> None:
    written = cli_reference.PAGE.read_text()
    assert written == cli_reference.render(), "run `python tools/cli_reference.py`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_file_that_is_named_is_there(page: Path) -> None:
    for name in re.findall(r"`((?:\w+/)+\w+\.(?:py|java|md|txt|lock))`", page.read_text()):
        assert (ROOT / name).exists() or (ROOT / "src/weft" / name).exists(), name


def test_the_walk_of_a_record_meets_every_file_once() -> None:
    page = (ROOT / "docs/explanation/walk.md").read_text()
    modules = re.findall(r"`([\w/]+\.py)`", page)
    classes = re.findall(r"`([A-Z]\w+)`", page)
    assert [name for name in modules if not (ROOT / "src/weft" / name).exists()] == []
    java = [path.stem for path in (ROOT / "kernel/src").rglob("*.java")]
    assert [name for name in classes if java.count(name) != 1] == []
    names = [*modules, *classes]
    assert len(modules) > 50 and sorted(names) == sorted(set(names))


@pytest.mark.parametrize("folder", sorted((ROOT / "examples").iterdir()), ids=lambda f: f.name)
def test_an_example_is_right(folder: Path) -> None:
    assert load(folder).pipelines
