"""Two tables that change and queries over them, all from one seed: each query as a pipeline, and as SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.products.envelope import Envelope, envelope
from tests.products.history import Change, Writer
from tests.products.table import Table, family, make_table

KINDS = ("inner", "left", "right", "full", "semi", "anti")
NUMBERS = ("int", "bigint", "double", "decimal(10,2)")
RENAMED = "right"
"""The stream of the second table under names that the first has not."""


@dataclass(frozen=True)
class Source:
    """A stream that a query reads or makes: its columns, its key, and the SQL of its rows."""

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...]
    sql: str


@dataclass
class Case:
    """Everything that is played: tables, pipelines with their SQL, and what happens to the tables."""

    seed: int
    tables: Mapping[str, Table]
    pipelines: dict[str, Any] = field(default_factory=dict)
    made: list[Source] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def project(self) -> dict[str, Any]:
        """The project of the case."""
        return {
            "app_name": "case",
            "processing": {"state": "memory" if self.seed % 5 == 2 else "rocksdb"},
            "tables": {
                name: {"topic": name, "key": list(one.key), "columns": dict(one.columns)}
                for name, one in self.tables.items()
            },
            "pipelines": self.pipelines,
        }

    def told(self) -> list[tuple[Change, Envelope]]:
        """Each change with the event that tells it, in the order of the log."""
        last = {one.table: one for one in self.changes if one.op == "r"}
        return [
            (one, envelope(one, self.tables[one.table], last=one is last.get(one.table)))
            for one in self.changes
        ]


def make_case(seed: int, *, transactions: int = 20) -> Case:
    """The case of a seed: a join, a group and a first-of query, each over the tables or over one before it."""
    rng = Random(seed)
    tables = {name: make_table(rng, name) for name in ("t0", "t1")}
    for one in tables.values():
        one.full = True  # what a log leaves out is filled in for products alone
    writer = Writer(rng, {name: one.copy() for name, one in tables.items()})
    case = Case(seed, tables)
    _Queries(rng, case).write()
    case.changes += writer.snapshot()
    for _ in range(transactions):
        case.changes += writer.transaction()
    return case


def listed(names: Any) -> str:
    """Columns as SQL lists them."""
    return ", ".join(f'"{name}"' for name in names)


class _Queries:
    def __init__(self, rng: Random, case: Case) -> None:
        self.rng = rng
        self.case = case
        self.tasks = 1 + (case.seed % 3 == 0)

    def write(self) -> None:
        left, right = (
            Source(name, one.columns, one.key, f"select * from {name}")
            for name, one in self.case.tables.items()
        )
        names = {name: f"r_{name}" for name in right.columns}
        self.case.pipelines[RENAMED] = {"from": "t1", "steps": [{"rename": names}]}
        right = Source(
            RENAMED,
            {names[name]: kind for name, kind in right.columns.items()},
            tuple(names[name] for name in right.key),
            "select " + ", ".join(f'"{old}" as "{new}"' for old, new in names.items()) + " from t1",
        )
        sources = [left, right]
        joined = self.join(left, right)
        sources += [joined, joined] if joined is not None else []
        sources.append(self.group(self.rng.choice(sources)))
        self.top(self.rng.choice(sources))

    def add(self, source: Source, pipeline: dict[str, Any]) -> Source:
        self.case.pipelines[source.name] = pipeline
        self.case.made.append(source)
        return source

    def join(self, left: Source, right: Source) -> Source | None:
        pairs = [
            (one, other)
            for one, kind in left.columns.items()
            for other, its in right.columns.items()
            if family(kind) == family(its)
        ]
        if not pairs:
            return None
        on = dict(self.rng.sample(pairs, self.rng.choice((1, 1, min(2, len(pairs))))))
        kind = KINDS[self.case.seed % len(KINDS)]
        said = {"on": on, "type": kind, "parallelism": self.tasks}
        pipeline = {"from": [left.name, right.name], "join": said}
        equal = " and ".join(f'l."{one}" = r."{other}"' for one, other in on.items())
        both = f"({left.sql}) l {kind} join ({right.sql}) r on {equal}"
        if kind in ("semi", "anti"):
            sql = f"select l.* from {both}"
            return self.add(Source("joined", left.columns, left.key, sql), pipeline)
        shown = [
            f'coalesce(l."{name}", r."{on[name]}") as "{name}"' if name in on else f'l."{name}"'
            for name in left.columns
        ]
        added = {one: its for one, its in right.columns.items() if one not in on.values()}
        columns = {**left.columns, **added}
        shown += [f'r."{name}"' for name in added]
        back = {other: one for one, other in reversed(on.items())}
        key = dict.fromkeys([*left.key, *(back.get(name, name) for name in right.key)])
        if kind == "full":
            columns["side"], key["side"] = "string", None
            alone = {side: f'{side[0]}."_{side[0]}" is null' for side in ("left", "right")}
            shown.append(
                f"case when {alone['right']} then 'left' when {alone['left']} then 'right' else 'both' end as side"
            )
            both = (
                f"(select *, 1 as _l from ({left.sql})) l full join "
                f"(select *, 1 as _r from ({right.sql})) r on {equal}"
            )
        sql = f"select {', '.join(shown)} from {both}"
        return self.add(Source("joined", columns, tuple(key), sql), pipeline)

    def group(self, source: Source) -> Source:
        by = self.rng.sample(list(source.columns), self.rng.choice((1, 1, 2)))
        aggregate, shown, columns = {"n": "count(*)"}, ["count(*) as n"], {"n": "bigint"}
        for number in range(self.rng.randint(1, 3)):
            name = f"a{number}"
            text, sql, columns[name] = self._aggregate(source)
            aggregate[name] = text
            shown.append(f"{sql} as {name}")
        sql = f"select {listed(by)}, {', '.join(shown)} from ({source.sql}) group by {listed(by)}"
        kinds = {**{name: source.columns[name] for name in by}, **columns}
        said = {"by": by, "aggregate": aggregate, "parallelism": self.tasks}
        return self.add(
            Source("grouped", kinds, tuple(by), sql), {"from": source.name, "group": said}
        )

    def _aggregate(self, source: Source) -> tuple[str, str, str]:
        """An aggregate as we write it, as DuckDB does, and the type of its column."""
        column, kind = self.rng.choice(list(source.columns.items()))
        functions = ["count", "min", "max", "min_by", "max_by"]
        function = self.rng.choice([*functions, *(["sum", "avg"] * 3 if kind in NUMBERS else [])])
        text = f"{function}({column})"
        if function in ("min_by", "max_by"):
            value, its = self.rng.choice(list(source.columns.items()))
            falls = "desc" if function == "max_by" else "asc"
            order = f'"{column}" {falls}, ' + ", ".join(
                f'"{key}" nulls first' for key in source.key
            )
            listing = f'list("{value}" order by {order}) filter ("{column}" is not null)'
            return f"{function}({value}, {column})", f"({listing})[1]", its
        if kind == "decimal(10,2)" and function in ("sum", "avg"):
            its = "decimal(20,2)" if function == "sum" else "decimal(14,6)"
            return text, f"cast({text} as {its})", its
        types = {
            "count": "bigint",
            "avg": "double",
            "sum": "double" if kind == "double" else "bigint",
        }
        return text, text, types.get(function, kind)

    def top(self, source: Source) -> Source:
        names = list(source.columns)
        by = self.rng.sample(names, self.rng.choice((0, 1, 1)))
        order = [(name, self.rng.random() < 0.5) for name in self.rng.sample(names, 1)]
        limit = self.rng.randint(1, 3)
        said: dict[str, Any] = {
            "order": [f"{name} desc" if falls else name for name, falls in order],
            "limit": limit,
            "parallelism": self.tasks,
        }
        said |= {"by": by} if by else {}
        sorted_by = [
            f'"{name}" ' + ("desc nulls last" if falls else "asc nulls first")
            for name, falls in [*order, *((name, False) for name in source.key)]
        ]
        over = f"order by {', '.join(sorted_by)}"
        over = f"partition by {listed(by)} {over}" if by else over
        sql = (
            f"select {listed(names)} from (select *, row_number() over ({over}) as _n from ({source.sql}))"
            f" where _n <= {limit}"
        )
        return self.add(
            Source("first", source.columns, source.key, sql), {"from": source.name, "top": said}
        )
