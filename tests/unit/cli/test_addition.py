"""`weft table add` and `weft product add`: what is refused leaves the file alone, and two at once are both there."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx

from tests.unit.cli.fake import FakeWeaver, run
from weft.errors import WeftError
from weft.loading.document import from_text

CHANGES = {"added": [], "changed": [], "removed": [], "effects": [], "steps": []}
TABLE = ("table", "add", "users", "--topic", "u", "--key", "id", "--column", "id=long", "--file")


def project(tmp_path: Path) -> Path:
    file = tmp_path / "weft.yaml"
    file.write_text("app_name: shop  # ours\n")
    return file


def test_a_table_is_deployed_and_stands_in_the_file(tmp_path: Path) -> None:
    file, weaver = project(tmp_path), FakeWeaver({"PUT /project": CHANGES})
    assert run(*TABLE, str(file), weaver=weaver).exit_code == 0
    users = {"topic": "u", "key": ["id"], "columns": {"id": "long"}}
    assert from_text(file.read_text()).value["tables"] == {"users": users}
    assert weaver.body["streams"][0]["name"] == "users" and "# ours" in file.read_text()
    assert [one.name for one in tmp_path.iterdir()] == ["weft.yaml"]


def test_a_table_may_be_read_from_a_database(tmp_path: Path) -> None:
    file, weaver = project(tmp_path), FakeWeaver({"PUT /project": CHANGES})
    url = "postgresql://app@localhost/shop"
    words = ("--database", url, "--table", "app.users", "--password-env", "SHOP", *TABLE[5:])
    assert run("table", "add", "users", *words, str(file), weaver=weaver).exit_code == 0
    source = {"postgres": {"url": url, "table": "app.users", "password_env": "SHOP"}}
    users = {"source": source, "key": ["id"], "columns": {"id": "long"}}
    assert from_text(file.read_text()).value["tables"] == {"users": users}
    for origin in ((), ("--topic", "u", "--database", url)):
        said = run("table", "add", "more", *origin, *TABLE[5:], str(file), weaver=weaver)
        assert said.exit_code == 2


def test_what_is_refused_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = project(tmp_path)
    before = file.read_text()
    refused = WeftError("No.", code="project.other", domain="conflict")
    assert run(*TABLE, str(file), weaver=FakeWeaver({"PUT /project": refused})).exit_code != 0
    file.write_text(broken := before + "app_name: again\n")
    assert run(*TABLE, str(file), weaver=FakeWeaver({"PUT /project": CHANGES})).exit_code != 0
    assert file.read_text() == broken and [one.name for one in tmp_path.iterdir()] == ["weft.yaml"]


def test_two_who_add_at_once_are_both_in_the_file_and_in_what_is_deployed_last(
    tmp_path: Path,
) -> None:
    class SlowWeaver(FakeWeaver):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            time.sleep(0.2)  # long enough for the other one to read the file, if it may
            return super().__call__(request)

    file, weaver = project(tmp_path), SlowWeaver({"PUT /project": CHANGES})
    words = [(*TABLE[:2], name, *TABLE[3:], str(file)) for name in ("users", "stars")]
    threads = [threading.Thread(target=run, args=one, kwargs={"weaver": weaver}) for one in words]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(from_text(file.read_text()).value["tables"]) == {"users", "stars"}
    assert {stream["name"] for stream in weaver.body["streams"]} == {"users", "stars"}
