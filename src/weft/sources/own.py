"""A source of the user's own as a class: found by its name, and checked before it is made. Knows no
Spark; called by the project's check and when the source is opened."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from weft.reason import reason_of
from weft.sources.options import SourceError
from weft.steps.module import refused_arguments

OURS = ("class", "keep")


def check_class(name: str, options: Mapping[str, Any], *, stream: str) -> type[Any]:
    """The class that a stream's source names; refuses one that is not there, lacks a method, or does not
    take the options."""
    try:
        found = load_class(name)
    except (Exception, SystemExit) as error:
        raise SourceError(
            f"Source {name!r} of stream {stream!r} cannot be loaded: {reason_of(error)}.",
            code="source.no-class",
            hint="Write it as `module:Class`; the module lies beside the project file.",
            stream=stream,
        ) from error
    is_events = all(callable(getattr(found, method, None)) for method in ("read_batch", "close"))
    if not (isinstance(found, type) and (is_events or is_native(found))):
        raise SourceError(
            f"{name!r}, the source of stream {stream!r}, is no source: "
            "it has no `read_batch` and `close`, and is no data source of Spark's.",
            code="source.no-class",
            hint="Write a class with `read_batch(self, max_events)` and `close(self)`.",
            stream=stream,
        )
    refused = None if is_native(found) else refused_arguments(found, given(options))
    if refused:
        raise SourceError(
            f"Source {name!r} of stream {stream!r} does not take its options: {refused}.",
            hint="What stands beside `class` and `keep` goes to its constructor by name.",
            stream=stream,
        )
    return found


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are the class's own."""
    return {name: value for name, value in options.items() if name not in OURS}


def load_class(name: str) -> Any:
    """What `module:Class` names."""
    module, _, qualified = name.partition(":")
    return getattr(importlib.import_module(module), qualified)


def is_native(found: type[Any]) -> bool:
    """Whether it is a data source of Spark's; told by name, since the weaver has no Spark."""
    named = {(base.__module__, base.__name__) for base in found.__mro__}
    return ("pyspark.sql.datasource", "DataSource") in named
