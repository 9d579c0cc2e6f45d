"""Records come in: each kind of source as a streaming frame in raw form, and the parser that types
it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.sources.journal import EventSource
    from weft.sources.stream import open_stream, parsing_of

__all__ = ["EventSource", "open_stream", "parsing_of"]


def __getattr__(name: str) -> Any:
    """Import what is asked for and no more: the weaver uses this package and has no Spark."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "weft.sources.journal" if name == "EventSource" else "weft.sources.stream"
    return getattr(import_module(module), name)
