"""What may be said of how long the rows of a stream are kept, and of its raw records. Called by `check`."""

from __future__ import annotations

from collections.abc import Mapping

from weft.declared.read import made
from weft.loading.problem import Problems
from weft.loading.read import Draft, DraftStream
from weft.project.definition import StreamSpec
from weft.sources.options import declaration


def check_history(draft: Draft, streams: Mapping[str, StreamSpec], report: Problems) -> None:
    """Note what is said of the history of a stream that cannot have it."""
    for name, declared in draft.streams.items():
        stream = streams.get(name)
        if declared.history is None or stream is None:
            continue
        if stream.changing:
            # An old row that nothing has replaced is what is true now.
            report.add(
                "project.changing",
                (*declared.path, "history"),
                f"The rows of stream {name!r} replace one another, and an old one may be the newest of its key.",
                "Leave `history` out.",
                on_key=True,
            )
        elif declared.history.raw is not None:
            _check_raw(declared, report)


def _check_raw(stream: DraftStream, report: Problems) -> None:
    """Note raw records of a stream whose source gives none."""
    source = stream.source
    if source is None or source.kind == "rule":
        said = f"Stream {stream.name!r} has no source, so it has no raw records"
        instead = "Say it of the stream whose source gives them."
    elif not made(declaration(source.kind), source.options).gives_bytes:
        said = f"The source of stream {stream.name!r} gives columns with types, and no raw records"
        instead = "Leave `raw` out: its rows are what the source gave."
    else:
        return
    path = (*stream.path, "history", "raw")
    report.add("project.no-raw", path, f"{said}.", instead, on_key=True)
