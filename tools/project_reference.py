"""Writes docs/reference/project-file.md from the declarations: `python -m tools.project_reference`. A test compares,
and loads every example."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.declared.key import REQUIRED, Key, keys
from weft.declared.text import told
from weft.loading.form import PipelineKeys, ProjectKeys, StreamKeys, TableKeys, Windowing
from weft.loading.init import FILES
from weft.loading.load import FILE
from weft.products.form import PartKeys, ProductKeys
from weft.project.operator import Deduplication, Joining
from weft.project.settings import HistorySpec, Keyframes, Processing, ScalingSpec, WatermarkSpec
from weft.project.watch import WatchSpec
from weft.queries.form import Grouping, Ranking
from weft.schema.type import SPELLINGS, TEXTS
from weft.sinks import options as sinks
from weft.sources import options as sources
from weft.sources.pace import Burst
from weft.steps.step import KINDS as STEPS
from weft.windows.aggregate import FUNCTIONS, OTHER_NAMES
from weft.windows.trigger import Cadence, Tardiness, Trigger
from weft.windows.window import KINDS as WINDOWS
from weft.windows.window import WindowSpec, lengths_of

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "project-file.md"
Project = dict[str, Any]

_SCHEMA = {
    "id": "long",
    "email": "string",
    "country": "string",
    "total": "decimal(10,2)",
    "at": "timestamp",
}
_ORDERS = {"source": "mock", "schema": _SCHEMA, "key": "id", "event_time": "at"}
_PAID = {"order_id": "long", "paid": "boolean", "paid_at": "timestamp"}
_PAYMENTS = {"source": "mock", "schema": _PAID, "event_time": "paid_at"}
_TABLES = {
    "orders": {"customer": "long", "placed_at": "timestamp", "deleted": "boolean"},
    "customers": {"name": "string"},
    "lines": {
        "order_id": "long",
        "article_id": "long",
        "quantity": "int",
        "price": "decimal(10,2)",
        "placed_at": "timestamp",
        "repo_name": "string",
    },
    "articles": {"title": "string"},
}
_CUSTOMERS = {
    "customers": {
        "topic": "customers",
        "key": "id",
        "columns": {"id": "long", "name": "string", "city": "string", "joined": "timestamp"},
    },
    "accounts": {"topic": "accounts", "key": "id", "columns": {"id": "long", "balance": "long"}},
}
_WINDOW = {"type": "tumbling", "size_ms": 60_000}
_REVENUE = {
    "from": "orders",
    "window": _WINDOW,
    "by": "country",
    "aggregate": {"orders": "count(*)", "revenue": "sum(total)"},
}

_HEAD = """\
# The project file

<!-- written by tools/project_reference.py -->

One YAML file, `weft.yaml`, and optional Python beside it. `weft check` finds everything that is wrong with it, each
with its line, a code and the nearest right word. `weft schema` prints its JSON schema, by which editors complete and
check while you type. This is the one that `weft init` writes; `examples/shop` is a larger one.

```yaml
{file}```

```python
# rules.py
{rules}```

What a change of each key does to a project that runs is [a table of its own](changing-a-project.md).

**Names** of streams, pipelines and rules are lower-case words joined by `-` or `_`. Where something takes no title
(Kafka's transactional ids, the names of Spark's queries, OpenLineage's namespace), a project is known by an identifier
made of it, which is the title itself if that could be such a name, and its words with eight digits behind them
otherwise. A pipeline that works in several parts calls the others `<pipeline>-union` and `<pipeline>-input`; nothing
else may be called so.

**Numbers** are finite and of 64 bits, wherever they stand; other ones go in quotes. 9223372036854775807 milliseconds
stand for ever. `weft check` refuses what a run would refuse: both ask the same code.

**SQL** is Spark's, without what reads files, calls Java, or cannot be repeated: [the gate](../explanation/gate.md).
"""


@dataclass(frozen=True)
class Section:
    """Some keys under a heading, and the whole project in which the example of one stands."""

    title: str
    text: str
    keys: Mapping[str, Key]
    whole: Callable[[Key, dict[str, Any]], Iterator[Project]]

    def examples(self) -> Iterator[tuple[str, Project]]:
        """A project that loads for each example of the section."""
        for name, key in self.keys.items():
            if key.example is not None:
                for project in self.whole(key, {**key.beside, name: key.example}):
                    yield f"{self.title}: {name}", project


def sections() -> Iterator[Section]:
    """The sections of the page that are tables of keys, in its order."""
    yield _section("## Project", ProjectKeys, lambda key, said: _project(**said))
    yield _section("## Streams", StreamKeys, lambda key, said: _stream(**said))
    for kind in sources.KINDS:
        yield _section(f"### Source `{kind}`", sources.declaration(kind), _with_source(kind))
        if kind == "mock":
            yield _section("#### `bursts`", Burst, _with_burst)
    yield _section("### History", HistorySpec, lambda key, said: _stream(history=said))
    yield _section("### Watch", WatchSpec, lambda key, said: _stream(watch=said))
    yield _section("## Pipelines", PipelineKeys, lambda key, said: _pipeline(**said))
    steps = {kind: step.written for kind, step in STEPS.items()}
    text = "Each step is a mapping of one key. Rules take the same steps."
    yield Section("## Steps", text, steps, lambda key, said: iter([_pipeline(steps=[said])]))
    kinds = "".join(f"\n- `{kind}`: {text}" for kind, text in WINDOWS.items())
    yield Section(
        "## Windows", _text(WindowSpec) + "\n" + kinds, keys(WindowSpec), _in_every_window
    )
    yield _section("### Triggers", Trigger, lambda key, said: _window(trigger=said))
    yield _section("#### `early`", Cadence, lambda key, said: _window(trigger={"early": said}))
    yield _section("#### `late`", Tardiness, lambda key, said: _window(trigger={"late": said}))
    yield _section("## Join", Joining, _with_join)
    yield _section("## Dedupe", Deduplication, lambda key, said: _pipeline(dedupe=said))
    yield _section("## Group", Grouping, _on_customers("group", Grouping))
    yield _section("## Top", Ranking, _on_customers("top", Ranking))
    yield _section("## Tables", TableKeys, _with_table)
    yield _section("## Products", ProductKeys, lambda key, said: _product(**said))
    yield _section("### Parts", PartKeys, lambda key, said: _product(parts={"part": said}))
    for kind in sinks.KINDS:
        yield _section(f"### Sink `{kind}`", sinks.declaration(kind), _with_sink(kind))
    yield _section("## Watermarks", WatermarkSpec, lambda key, said: _project(watermarks=said))
    yield _section("## Processing", Processing, lambda key, said: _project(processing=said))
    yield _section(
        "### Keyframes", Keyframes, lambda key, said: _project(processing={"keyframes": said})
    )
    yield _section(
        "### Scaling", ScalingSpec, lambda key, said: _project(processing={"scaling": said})
    )
    yield _section("## Windowing", Windowing, lambda key, said: _project(windowing=said))


def examples() -> Iterator[tuple[str, Project]]:
    """Every example of the page as a project that loads."""
    for section in sections():
        yield from section.examples()
    for name, function in FUNCTIONS.items():
        yield f"Aggregates: {name}", _pipeline(window=_WINDOW, aggregate={"x": function.example})
    for kind in (*SPELLINGS, *TEXTS):
        yield f"Types: {kind}", _stream(schema={"id": "long", "at": "timestamp", "x": _type(kind)})


def render() -> str:
    """The page."""
    parts = [_HEAD.format(file=FILES[FILE], rules=FILES["rules.py"])]
    for section in sections():
        if section.title == "### Source `mock`":
            parts.append(_types())
            parts.append(
                "## Sources\n\nA source is a kind with its options below it, or a kind alone.\n"
            )
        if section.title == "### Sink `console`":
            parts += [_aggregates(), _SINKS]
        parts.append(f"{section.title}\n\n{section.text}\n")
        if section.keys:
            parts.append(_table(section.keys))
    return "\n".join(parts)


_SINKS = """\
## Sinks

A list; each is a kind with its options below it, or a kind alone. Every stream is a Delta table in any case, in
`.weft/streams/NAME`, which Spark, delta-rs and other tools read.
"""


def _table(found: Mapping[str, Key]) -> str:
    has_types = any(key.of for key in found.values())
    head = ["key", "type", "default", "meaning", "example"]
    lines = [_row(head), _row(["---"] * len(head))]
    for name, key in found.items():
        meaning = key.meaning
        if has_types and key.of:
            meaning += f" Of {_listed(key.of)} windows."
        cells = [f"`{name}`", key.limit.expected, _default(key), meaning, _example(name, key)]
        lines.append(_row(cells))
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _listed(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _default(key: Key) -> str:
    if key.unsaid:
        return key.unsaid
    if key.of and not key.default and key.limit.judge(key.default) is not None:
        return "needed"
    if key.default is REQUIRED:
        return "needed"
    empty = key.default is None or key.default in ((), {}, "")
    return "none" if empty else f"`{told(key.default)}`"


def _example(name: str, key: Key) -> str:
    return "" if key.example is None else f"`{told({name: key.example})[1:-1]}`"


def _types() -> str:
    lines = [_row(["type", "also", "example"]), _row(["---"] * 3)]
    for kind in dict.fromkeys(SPELLINGS.values()):
        others = [f"`{other}`" for other, one in SPELLINGS.items() if one == kind and other != kind]
        others += [f"`{_type(other)}`" for other in TEXTS if kind == "string"]
        example = f"`x: {told(_type(kind))}`"
        lines.append(_row([f"`{kind}`", ", ".join(others), example]))
    text = (
        "The types of columns, in a `schema` and in `cast(x AS type)`. The length of `varchar(n)` and `char(n)` is\n"
        "read and not kept, as in Spark's own casts: both are `string`.\n"
    )
    return f"## Types\n\n{text}\n" + "\n".join(lines) + "\n"


def _type(kind: str) -> str:
    shapes = {"array": "array<string>", "map": "map<string,long>", "struct": "struct<a:int,b:date>"}
    sized = {
        "decimal": "(10,2)",
        "numeric": "(10,2)",
        "dec": "(10,2)",
        "varchar": "(20)",
        "char": "(2)",
    }
    return shapes.get(kind, kind + sized.get(kind, ""))


def _aggregates() -> str:
    lines = [_row(["function", "also", "meaning", "example"]), _row(["---"] * 4)]
    for name, function in FUNCTIONS.items():
        others = ", ".join(f"`{other}`" for other, one in OTHER_NAMES.items() if one == name)
        lines.append(_row([f"`{name}`", others, function.meaning, f"`x: {function.example}`"]))
    text = "One function over SQL of the records' columns, under the name of a column of the panes; 64 at most.\n"
    return f"## Aggregates\n\n{text}\n" + "\n".join(lines) + "\n"


def _section(title: str, declaration: type[Any], whole: Callable[..., Project]) -> Section:
    return Section(
        title, _text(declaration), keys(declaration), lambda key, said: iter([whole(key, said)])
    )


def _text(declaration: type[Any]) -> str:
    return inspect.getdoc(declaration) or ""


def _examples(declaration: type[Any]) -> dict[str, Any]:
    """What must be written of a thing."""
    return {name: key.example for name, key in keys(declaration).items() if key.is_required}


def _project(**said: Any) -> Project:
    return {"app_name": "shop", "streams": {"orders": _ORDERS, "payments": _PAYMENTS}, **said}


def _with_table(key: Key, said: dict[str, Any]) -> Project:
    columns = {"email": "string", "joined": "timestamp"}
    origin = {} if "source" in said else {"topic": "app.public.users"}
    table = {**origin, **_examples(TableKeys), "columns": columns, **said}
    return {"app_name": "shop", "tables": {"users": table}}


def _product(**said: Any) -> Project:
    tables = {
        name: {"topic": name, "key": "id", "columns": {"id": "long", **columns}}
        for name, columns in _TABLES.items()
    }
    tables["commits"] = {"topic": "transaction", "transactions": True, "key": "id"}
    product = said if "sql" in said else {"root": "orders", **said}
    return {"app_name": "shop", "tables": tables, "products": {"order-pages": product}}


def _stream(**said: Any) -> Project:
    return {"app_name": "shop", "streams": {"orders": {**_ORDERS, "key": "id", **said}}}


def _source(kind: str, **said: Any) -> Project:
    return _stream(source={kind: said})


def _with_source(kind: str) -> Callable[[Key, dict[str, Any]], Project]:
    needed = _examples(sources.declaration(kind))
    return lambda key, said: _source(kind, **{**needed, **said})


def _with_burst(key: Key, said: dict[str, Any]) -> Project:
    return _source("mock", bursts={**_examples(Burst), **said})


def _with_sink(kind: str) -> Callable[[Key, dict[str, Any]], Project]:
    needed = _examples(sinks.declaration(kind))
    if kind == "delta":
        return lambda key, said: _product(sinks=[{kind: {**needed, **said}}])
    return lambda key, said: _pipeline(**_REVENUE, sinks=[{kind: {**needed, **said}}])


def _pipeline(**said: Any) -> Project:
    return _project(tables=_CUSTOMERS, pipelines={"revenue": {"from": "orders", **said}})


def _window(**said: Any) -> Project:
    return _pipeline(window={**_WINDOW, **said}, aggregate={"orders": "count(*)"})


def _with_join(key: Key, said: dict[str, Any]) -> Project:
    """A join with a window, but for what joins without one have."""
    if key.name == "parallelism":
        join = {"on": "id", **said}
        return _pipeline(**{"from": ["customers", "accounts"]}, join=join)
    join = {"on": {"id": "order_id"}, **said}
    return _pipeline(**{"from": ["orders", "payments"]}, window=_WINDOW, join=join)


def _on_customers(
    operator: str, declaration: type[Any]
) -> Callable[[Key, dict[str, Any]], Project]:
    needed = _examples(declaration)
    return lambda key, said: _pipeline(**{"from": "customers", operator: {**needed, **said}})


def _in_every_window(key: Key, said: dict[str, Any]) -> Iterator[Project]:
    """The example of a key in a window of each type that has it."""
    for kind in [said["type"]] if key.name == "type" else key.of or WINDOWS:
        lengths = {name: keys(WindowSpec)[name].example for name in lengths_of(kind)}
        trigger = {"trigger": {"count": 100}} if kind == "global" else {}
        window = {"type": kind, **lengths, **trigger, **said}
        yield _pipeline(window=window, aggregate={"orders": "count(*)"})


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
