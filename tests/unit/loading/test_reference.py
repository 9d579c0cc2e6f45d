"""The reference of the project file says what is so: it is current, and every example on it loads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tools import project_reference
from weft.declared.text import told
from weft.loading.document import from_text
from weft.loading.load import load
from weft.loading.schema import project_schema

PYTHON = {
    "rules.py": """
import weft


def mask(record, *, keep):
    return record


@weft.function(returns={"records": "long"})
class Basket:
    def create(self):
        return 0

    def add(self, accumulator, row):
        return accumulator + 1

    def result(self, accumulator):
        return {"records": accumulator}
""",
    "feeds.py": """
class Quotes:
    def read_batch(self, max_events):
        return []

    def close(self):
        pass
""",
    "mail.py": """
class Mailer:
    def write(self, records):
        pass

    def close(self):
        pass
""",
}
EXAMPLES = list(project_reference.examples())


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the Python that the examples name."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in PYTHON.items():
        (folder / name).write_text(text)
    return folder


def test_the_reference_is_current() -> None:
    written = project_reference.PAGE.read_text()
    assert written == project_reference.render(), "run `python -m tools.project_reference`"


@pytest.mark.parametrize(
    "project", [one for _, one in EXAMPLES], ids=[name for name, _ in EXAMPLES]
)
def test_an_example_of_the_reference_loads(project: dict[str, Any], beside: Path) -> None:
    assert load(project, folder=beside).streams


def test_every_key_has_an_example_that_reads_as_it_is_written() -> None:
    for section in project_reference.sections():
        for name, key in section.keys.items():
            assert key.example is not None, name
            assert from_text(told({name: key.example})).value == {name: key.example}


def test_the_whole_file_on_the_page_loads(tmp_path: Path) -> None:
    from weft.loading.init import write

    write(tmp_path)
    [block] = re.findall(r"```yaml\n(.*?)```", project_reference.PAGE.read_text(), re.DOTALL)
    (tmp_path / "weft.yaml").write_text(block)
    assert load(tmp_path).pipelines


def test_the_schema_for_editors_has_the_keys_that_the_page_has() -> None:
    schema = project_schema()
    stream = schema["properties"]["streams"]["additionalProperties"]["anyOf"][0]
    mock = stream["properties"]["source"]["anyOf"][1]["properties"]["mock"]["anyOf"][0]
    assert mock["properties"]["bad_share"]["maximum"] == 1
    assert schema["required"] == ["app_name"]
    pipeline = schema["properties"]["pipelines"]["additionalProperties"]
    assert pipeline["properties"]["window"]["properties"]["type"]["enum"][0] == "tumbling"
    assert pipeline["required"] == ["from"]
