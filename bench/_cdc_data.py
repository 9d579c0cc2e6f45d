"""The forge of `bench.cdc`: a size comes in, out come the rows of five tables and a mix of changes to them.

Rows are made from their numbers, so that only what changed is held in memory. They are the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import orjson

Row = dict[str, Any]

TABLES = {
    "user": ("email",),
    "repo": ("owner", "name"),
    "pull_request": ("repo", "repo_owner", "index"),
    "star": ("username", "repo_name", "repo_owner"),
    "payment_info": ("id",),
}
"""The tables of the example `user-profile`, each with its key."""

PULLS_PER_USER = 11
STARS_PER_USER = (10, 30)
OWNERS = 1000
SKEW = 2
"""A star is for the repository at this power of a random share: a few have many stars, most have few."""
MIX = {"pull": 50, "star": 30, "payment": 10, "repo": 10}
STATUSES = ("open", "closed", "merged")
FIRST_LSN = 20_000_000
NOW_MS = 1_767_225_600_000


@dataclass(frozen=True)
class Size:
    """How many users there are, and how many of them starred the one repository that everybody knows.

    There are as many repositories and payments, eleven times as many pull requests and twenty times as many stars.
    Forges may lie beside each other, number by number, whose users know nothing of the others' repositories: changes
    are made to the first of them only, so that they touch as many documents however many forges there are.
    """

    users: int
    hot: int
    forges: int = 1

    @property
    def all_users(self) -> int:
        """How many users there are in all forges."""
        return self.users * self.forges


@dataclass(frozen=True)
class Change:
    """One change of a row, as a database tells it."""

    table: str
    op: str
    before: Row | None
    after: Row | None

    @property
    def row(self) -> Row:
        """The row as it is, or as it was before it was deleted."""
        found = self.before if self.after is None else self.after
        assert found is not None
        return found


class World:
    """The rows of the five tables, and changes to them, one after the other."""

    def __init__(self, size: Size, *, seed: int = 1) -> None:
        self.size = size
        self._random = Random(seed)
        self._changed: dict[tuple[str, int], Row] = {}
        self._starred: list[tuple[int, int]] = []
        self._new_stars: set[tuple[int, int]] = set()
        self._made = 0
        self._lsn = FIRST_LSN
        self._kinds: dict[str, Callable[[], Change]] = {
            "pull": self._change_pull,
            "star": self._change_star,
            "payment": self._change_payment,
            "repo": self._change_repo,
        }

    def rows(self, table: str) -> Iterator[Row]:
        """The rows that a table has in the beginning."""
        users = range(self.size.all_users)
        if table == "star":
            for user in users:
                yield from (star(user, repo) for repo in self._stars_of(user))
        elif table == "pull_request":
            yield from map(self._pull, range(len(users) * PULLS_PER_USER))
        else:
            make = {"user": user_row, "repo": repo_row, "payment_info": payment_row}[table]
            yield from map(make, users)

    def changes(self, number: int) -> list[Change]:
        """So many changes in the proportions of the mix; they count as made."""
        kinds = self._random.choices(list(MIX), weights=list(MIX.values()), k=number)
        return [self._kinds[kind]() for kind in kinds]

    def rename_hot(self, text: str) -> Change:
        """A new description of the repository that everybody knows."""
        return self._update("repo", 0, repo_row(0), description=text)

    def emails(self, number: int) -> list[str]:
        """Keys of some documents, always the same."""
        chosen = Random(7).sample(range(self.size.users), min(number, self.size.users))
        return [user_row(self._in_first(user))["email"] for user in chosen]

    def message(self, change: Change) -> tuple[bytes, bytes]:
        """Key and value under which Debezium writes a change to Kafka, without its schema."""
        self._lsn += 64
        source = {
            "version": "3.5.0.Final",
            "connector": "postgresql",
            "name": "app",
            "ts_ms": NOW_MS,
            "snapshot": "true" if change.op == "r" else "false",
            "db": "postgres",
            "sequence": f'["{self._lsn - 64}","{self._lsn}"]',
            "ts_us": NOW_MS * 1000,
            "ts_ns": NOW_MS * 1000_000,
            "schema": "public",
            "table": change.table,
            "txId": self._lsn // 64,
            "lsn": self._lsn,
            "xmin": None,
        }
        event: Row = {"before": change.before, "after": change.after, "source": source}
        event |= {"transaction": None, "op": change.op, "ts_ms": NOW_MS}
        key = {column: change.row[column] for column in TABLES[change.table]}
        return orjson.dumps(key), orjson.dumps(event)

    def _change_pull(self) -> Change:
        place = self._random.randrange(PULLS_PER_USER)
        number = self._any() * PULLS_PER_USER + place
        status = self._random.choice(STATUSES)
        title = f"title {self._next()}"
        return self._update("pull_request", number, self._pull(number), status=status, title=title)

    def _change_payment(self) -> Change:
        number = self._any()
        row = self._changed.get(("payment_info", number), payment_row(number))
        return self._update("payment_info", number, row, verified=not row["verified"])

    def _change_repo(self) -> Change:
        number = self._any(but_first=True)
        return self._update(
            "repo", number, repo_row(number), description=f"description {self._next()}"
        )

    def _change_star(self) -> Change:
        """A star that is new, or one that was new before and is taken back."""
        if self._starred and self._random.random() < 0.5:
            place = self._random.randrange(len(self._starred))
            self._starred[place], self._starred[-1] = self._starred[-1], self._starred[place]
            gone = self._starred.pop()
            self._new_stars.remove(gone)
            return Change("star", "d", star(*gone), None)
        while True:
            user, repo = self._any(), self._any(but_first=True)
            if repo not in self._stars_of(user) and (user, repo) not in self._new_stars:
                break
        self._starred.append((user, repo))
        self._new_stars.add((user, repo))
        return Change("star", "c", None, star(user, repo))

    def _update(self, table: str, number: int, first: Row, **values: Any) -> Change:
        before = self._changed.get((table, number), first)
        after = self._changed[table, number] = {**before, **values}
        return Change(table, "u", before, after)

    def _any(self, *, but_first: bool = False) -> int:
        """The number of a user or repository of the first forge; its first repository is the one that all know."""
        return self._in_first(self._random.randrange(1 if but_first else 0, self.size.users))

    def _in_first(self, place: int) -> int:
        return place * self.size.forges

    def _next(self) -> int:
        self._made += 1
        return self._made

    def _pull(self, number: int) -> Row:
        repo = number * 7919 % self.size.all_users
        return {
            "repo": f"repo{repo}",
            "repo_owner": f"owner{repo % OWNERS}",
            "index": number,
            "title": f"pull request {number}",
            "created_at": "2024-05-06T07:08:09Z",
            "status": "open",
            "author": f"user{number // PULLS_PER_USER}",
        }

    def _stars_of(self, user: int) -> set[int]:
        """The repositories that a user starred in the beginning."""
        chance = Random(user // self.size.forges)
        few, many = STARS_PER_USER
        shares = (chance.random() for _ in range(chance.randint(few, many)))
        place, forge = divmod(user, self.size.forges)
        known = {1 + int((self.size.users - 1) * share**SKEW) for share in shares}
        if forge == 0 and place < self.size.hot:
            known.add(0)
        return {repo * self.size.forges + forge for repo in known}


def user_row(number: int) -> Row:
    """A user by number."""
    return {"email": f"user{number}@example.org", "username": f"user{number}"}


def repo_row(number: int) -> Row:
    """A repository by number."""
    about = f"What repository {number} is good for, in a line"
    return {"owner": f"owner{number % OWNERS}", "name": f"repo{number}", "description": about}


def payment_row(number: int) -> Row:
    """The payment of a user by number."""
    return {"id": number, "email": f"user{number}@example.org", "verified": number % 2 == 0}


def star(user: int, repo: int) -> Row:
    """A star that a user gave."""
    owner = f"owner{repo % OWNERS}"
    return {"username": f"user{user}", "repo_name": f"repo{repo}", "repo_owner": owner}
