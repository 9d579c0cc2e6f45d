"""The kinds of sources with their options, and sinks, as a project file may write them. Called by
`read`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from weft.errors import WeftError
from weft.project.cursor import Cursor
from weft.project.definition import SinkSpec, SourceSpec
from weft.weaving.schema import nearest

Reader = Callable[[Cursor, str], Any]
Spec = TypeVar("Spec", SourceSpec, SinkSpec)


def _text(cursor: Cursor, what: str) -> Any:
    return cursor.text(what)


def _flag(cursor: Cursor, what: str) -> Any:
    return cursor.flag(what)


def _count(cursor: Cursor, what: str) -> Any:
    return cursor.whole(what, least=0)


def _several(cursor: Cursor, what: str) -> Any:
    return cursor.whole(what, least=1)


def _number(cursor: Cursor, what: str) -> Any:
    return cursor.number(what)


def _share(cursor: Cursor, what: str) -> Any:
    return cursor.number(what, least=0, most=1)


def _rate(cursor: Cursor, what: str) -> Any:
    return "max" if cursor.value == "max" else cursor.number(what)


def _mapping(cursor: Cursor, what: str) -> Any:
    return cursor.mapping(what)


def _bursts(cursor: Cursor, what: str) -> Any:
    found = cursor.mapping(what, ("every_s", "times", "for_s"))
    for name, one in (found or {}).items():
        one.number(f"`{name}`")
    return found


def _format(cursor: Cursor, what: str) -> Any:
    return cursor.choice(what, ("json", "csv", "parquet"))


def _start(cursor: Cursor, what: str) -> Any:
    return cursor.choice(what, ("earliest", "latest"))


# Every option of every kind of source; those with a `!` must be there.
SOURCES: Mapping[str, Mapping[str, Reader]] = {
    "rule": {"of": _text},
    "mock": {
        "seed": _count,
        "rate": _rate,
        "bursts": _bursts,
        "disorder_ms": _count,
        "bad_share": _share,
        "keys": _several,
        "skew": _number,
        "events": _count,
        "partitions": _several,
        "start": _text,
    },
    "files": {
        "path!": _text,
        "format": _format,
        "separator": _text,
        "header": _flag,
        "pattern": _text,
        "settle_ms": _count,
    },
    "kafka": {
        "servers!": _text,
        "topic!": _text,
        "start": _start,
        "format": _format,
        "separator": _text,
        "client": _mapping,
    },
    "python": {"class!": _text},
    "feed": {},
}
LATER = ("debezium",)


def read_source(cursor: Cursor) -> SourceSpec | None:
    """The source of a stream: `{kind: {options}}`, or a kind alone."""
    found = _one_kind(cursor, "source", "mock: {rate: 100}")
    if found is None:
        return None
    kind, options = found
    if kind in LATER:
        options.wrong(
            "project.not-supported-yet",
            f"Source {kind!r} is part of the format, and this version does not run it.",
            f"Sources that run are {', '.join(SOURCES)}.",
            on_key=True,
        )
        return None
    if kind not in SOURCES:
        near = nearest(kind, SOURCES)
        options.wrong(
            "project.unknown-source",
            f"There is no source {kind!r}. There are {', '.join(SOURCES)}.",
            f"Did you mean {near!r}?" if near else "Use one of the sources listed.",
            on_key=True,
        )
        return None
    if kind == "python" and isinstance(options.value, str):
        return SourceSpec(kind, {"class": options.value})
    readers = {name.rstrip("!"): reader for name, reader in SOURCES[kind].items()}
    known = None if kind == "python" else tuple(readers)
    given = options.mapping(f"source {kind!r}", known) if options.value is not None else {}
    if given is None:
        return None
    for name, reader in readers.items():
        if name in given:
            reader(given[name], f"`{name}`")
        elif f"{name}!" in SOURCES[kind]:
            options.wrong(
                "project.missing-key",
                f"Source {kind!r} needs the option {name!r}.",
                f"Add `{name}:` to it.",
                on_key=True,
            )
    return SourceSpec(kind, {name: one.value for name, one in given.items()})


def read_sinks(cursor: Cursor) -> tuple[SinkSpec, ...]:
    """The sinks of a pipeline or stream: a list of `{kind: {options}}`."""
    from weft.sinks.options import read_options

    found: list[SinkSpec] = []
    for item in cursor.items("sinks") or []:
        one = _one_kind(item, "sink", "console: {}")
        if one is None:
            continue
        kind, options = one
        given = options.value or {}
        if kind == "python" and isinstance(given, str):
            given = {"class": given}
        try:
            read_options(kind, given)
        except WeftError as error:
            item.report.add_error(error, options.path)
            continue
        found.append(SinkSpec(kind, dict(given)))
    return tuple(found)


def _one_kind(cursor: Cursor, noun: str, example: str) -> tuple[str, Cursor] | None:
    """The one key of a mapping and what stands below it; a kind alone has no options."""
    if isinstance(cursor.value, str):
        return cursor.value, Cursor(None, cursor.path, cursor.report)
    if not isinstance(cursor.value, Mapping) or len(cursor.value) != 1:
        cursor.expected(f"a {noun} to be one kind with its options", f"Write it as `{example}`.")
        return None
    [kind] = cursor.value
    return str(kind), cursor.child(kind)


def is_installed(ref: str, folder: Path) -> bool:
    """Whether a class `module:Class` comes from an installed package and not from the project."""
    top = ref.partition(":")[0].partition(".")[0]
    beside = (folder / top).exists() or (folder / f"{top}.py").exists()
    return not beside and top.isidentifier() and importlib.util.find_spec(top) is not None


def anchored(spec: Spec, folder: Path) -> Spec:
    """A source or sink of files with its path from the project's folder on, wherever a worker runs."""
    path = spec.options.get("path")
    if spec.kind != "files" or not isinstance(path, str) or "://" in path:
        return spec
    return type(spec)(spec.kind, {**spec.options, "path": str(folder / path)})
