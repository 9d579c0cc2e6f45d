"""The story of `weft demo --cdc`: rows are changed by SQL, and documents are shown as they follow."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from weft.cli.forge import EXAMPLE, SCHEMA, Forge
from weft.cli.story import Story
from weft.cli.terminal import Terminal, path_to
from weft.errors import WeftError
from weft.servers.topic import read_topic

ADA, GRACE = "ada@example.com", "grace@example.com"
TOPIC = "user-profile"
LAST = 6

Document = Mapping[str, Any]


def introduce(terminal: Terminal) -> None:
    """Say what is to come, before servers are started for it."""
    for line in (
        "A forge keeps users, repositories, pull requests, stars and payments in five tables of PostgreSQL.",
        "Debezium tells Kafka what changes in them. Weft makes a document of each user, which follows.",
        f"The tables are examples/{EXAMPLE}/{SCHEMA}, the project is weft.yaml beside it.\n",
    ):
        terminal.output.line(line)


def tell(forge: Forge, story: Story) -> None:
    """Tell the story; the forge's servers run, and Weft is started."""
    from weft.cli.project import read_project

    started = time.monotonic()
    with story.terminal.wait("Starting Weft"):
        story.local.start(read_project(forge.project))
    with story.tended():
        story.wait_for("the worker", lambda: not story.local.starting())
        story.wait_for("the first documents", lambda: is_whole(_document(story, ADA)))
        took = time.monotonic() - started
        where = story.local.address.removeprefix("http://")
        story.say(f"  {'Weft, with first documents':<28} {where:<16} {took:4.1f} s")
        _look(story)
        _change_one(forge, story)
        _change_several(forge, story)
        _look_back(forge, story, _remove(forge, story))


def _look(story: Story) -> None:
    story.chapter("A document for each user, with rows of the other tables in it.")
    story.type("product", "list")
    story.type("product", "get", "user-profile", ADA)


def _change_one(forge: Forge, story: Story) -> None:
    story.chapter("Change rows, and what is made of them follows.")
    opened = "(repo, repo_owner, index, title, author) values ('kernel', 'linus', 2, 'Typo', 'ada')"
    _run(forge, story, f"insert into pull_request {opened}", ADA)
    _run(forge, story, "update pull_request set status = 'merged' where title = 'Typo'", ADA)
    _run(forge, story, f"update payment_info set verified = true where email = '{GRACE}'", GRACE)


def _change_several(forge: Forge, story: Story) -> None:
    story.chapter("One row, several documents: everybody who starred the repository.")
    said = "update repo set description = 'It runs the world' where name = 'kernel'"
    _run(forge, story, said, ADA, GRACE)


def _remove(forge: Forge, story: Story) -> int:
    """Delete rows; the knot before the last of them is returned."""
    story.chapter("What is deleted goes: a star, then a user with the whole document.")
    _run(forge, story, "delete from star where username = 'ada' and repo_name = 'kernel'", ADA)
    before = story.head("user-profile")
    _run(forge, story, f"delete from \"user\" where email = '{GRACE}'", GRACE)
    return before


def _look_back(forge: Forge, story: Story, knot: int) -> None:
    story.chapter("The topic has each document as it became; a deleted one ends without a value.")
    for message in read_topic(forge.kafka.servers, TOPIC)[-LAST:]:
        key = (message.key or b"").decode()
        value = "null" if message.value is None else message.value.decode()
        story.say(_cut(story, f"  {key:<18} {value}"))
    story.chapter("Nothing is forgotten: each document as of any knot.")
    story.type("stream", "log", "user-profile", "-n", "5")
    story.type("product", "get", "user-profile", GRACE, "--knot", str(knot))


def _run(forge: Forge, story: Story, sql: str, *emails: str) -> None:
    """Run SQL, and show what changes in these documents, and how soon."""
    before = {email: _document(story, email) for email in emails}
    story.terminal.output.line(f"postgres=# {sql};", style="green")
    forge.postgres.run(sql)
    since = time.monotonic()
    for email in emails:
        was = before[email]
        look = partial(_changed, story, email, was)
        after = story.wait_for(f"the document of {email}", look)[0]
        took = time.monotonic() - since
        story.terminal.output.line(f"  {email}, {took:.1f} s later:", style="bold")
        for name, lines in differences(was, after).items():
            story.say(f"    {name}")
            for line in lines:
                style = "green" if line.startswith("+") else "red"
                story.terminal.output.line(f"    {line}", style=style)
    story.pause()


def _document(story: Story, email: str) -> Document | None:
    try:
        found: Document = story.get(path_to("products", "user-profile", key=email))["document"]
    except WeftError as error:
        if error.code == "product.no-document":
            return None
        raise
    return found


def is_whole(document: Document | None) -> bool:
    """Whether all tables have been read for it, as far as it shows them."""
    if document is None or not all(document.values()):
        return False
    return all(repo["description"] for repo in document["starred_repos"])


def _changed(story: Story, email: str, was: Document | None) -> tuple[Document | None] | None:
    """What a document has become, in a tuple; nothing while it is as it was."""
    now = _document(story, email)
    return None if now == was else (now,)


def differences(was: Document | None, now: Document | None) -> dict[str, list[str]]:
    """The lines that go (-) and come (+) of each field that differs; of a list, its elements."""
    old, new = was or {}, now or {}
    found = {name: list(_lines(old.get(name), new.get(name))) for name in {**old, **new}}
    return {name: lines for name, lines in found.items() if lines}


def _lines(old: Any, new: Any) -> Iterator[str]:
    before, after = (_listed(value) for value in (old, new))
    yield from (f"- {_json(one)}" for one in before if one not in after)
    yield from (f"+ {_json(one)}" for one in after if one not in before)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(story: Story, text: str) -> str:
    """A line that the terminal has room for."""
    width = story.terminal.output.console.width
    return text if len(text) <= width else text[: width - 1] + "…"
