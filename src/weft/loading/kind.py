"""The kinds of sources with their options, and sinks, as a project file may write them. Called by
`read`."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from weft.loading.cursor import Cursor
from weft.project.definition import SinkSpec, SourceSpec
from weft.schema.schema import nearest
from weft.sinks.options import find_wrong, written
from weft.sources.options import KINDS, declaration

Spec = TypeVar("Spec", SourceSpec, SinkSpec)


def read_source(cursor: Cursor) -> SourceSpec | None:
    """The source of a stream: `{kind: {options}}`, or a kind alone."""
    found = _one_kind(cursor, "source", "mock: {rate: 100}")
    if found is None:
        return None
    kind, options = found
    if kind not in KINDS:
        near = nearest(kind, KINDS)
        options.wrong(
            "project.unknown-source",
            f"There is no source {kind!r}. There are {', '.join(KINDS)}.",
            f"Did you mean {near!r}?" if near else "Use one of the sources listed.",
            on_key=True,
        )
        return None
    if kind == "python" and isinstance(options.value, str):
        return SourceSpec(kind, {"class": options.value})
    if options.value is None:
        options.value = {}
    options.check(declaration(kind), f"source {kind!r}")
    return SourceSpec(kind, dict(options.value)) if isinstance(options.value, Mapping) else None


def read_sinks(cursor: Cursor) -> tuple[SinkSpec, ...]:
    """The sinks of a pipeline or stream: a list of `{kind: {options}}`."""
    found: list[SinkSpec] = []
    for item in cursor.items("sinks") or []:
        one = _one_kind(item, "sink", "console: {}")
        if one is None:
            continue
        kind, options = one
        given = written(kind, options.value)
        is_right = True
        for fault, error in find_wrong(kind, given):
            is_right = False
            options.fault(fault, error.code, error.message, error.hint)
        if is_right:
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
    """A source or sink with the path of its file from the project's folder on, wherever a worker runs."""
    name = {"files": "path", "delta": "path", "postgres": "password_file"}.get(spec.kind, "")
    path = spec.options.get(name)
    if not isinstance(path, str) or "://" in path:
        return spec
    return type(spec)(spec.kind, {**spec.options, name: str(folder / path)})
