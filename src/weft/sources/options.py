"""The options of each kind of source: which there are, and what each may be. One place for the project's
check, which tells all that is wrong, and for opening a source, which refuses the first. Knows no Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.errors import WeftError
from weft.schema.schema import nearest
from weft.sources.limit import (
    Check,
    Fault,
    burst,
    character,
    choice,
    client,
    flag,
    local_path,
    moment,
    number,
    rate,
    text,
    topics,
    whole,
)

LONGEST_MS = 10**12
"""The longest time that records of the mock source may be out of order, or a file be waited for: 31 years."""
FORMATS = ("json", "csv", "parquet")


class SourceError(WeftError):
    """A source that cannot be opened as it is declared."""

    code = "source.options"
    domain = "user"


@dataclass(frozen=True)
class Kind:
    """A kind of source: what may stand below it, what must, and what does not go together."""

    options: Mapping[str, Check] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    is_open: bool = False
    """Whether other options are handed to the source as they are."""
    together: Callable[[Mapping[str, Any]], tuple[str, Fault] | None] = lambda options: None

    def faults(self, options: Mapping[str, Any]) -> Iterator[tuple[str, Fault]]:
        """Each option whose value cannot be, and why."""
        found = False
        for name, check in self.options.items():
            if name in options and (fault := check(options[name])) is not None:
                found = True
                yield name, fault
        if not found and (wrong := self.together(options)) is not None:
            yield wrong


def _of_text(options: Mapping[str, Any]) -> tuple[str, Fault] | None:
    """What belongs to CSV alone is not taken and ignored elsewhere."""
    for name in ("separator", "header"):
        if name in options and options.get("format", "json") != "csv":
            return name, Fault("unknown-value", "left out, or `format` csv: only CSV has one")
    return None


KINDS: Mapping[str, Kind] = {
    "rule": Kind({"of": text}),
    "mock": Kind(
        {
            "seed": whole(0, 2**63 - 1),
            "rate": rate,
            "bursts": burst,
            "disorder_ms": whole(0, LONGEST_MS),
            "bad_share": number(0, 1),
            "keys": whole(1, 2**53),
            "skew": number(0, 1000),
            "events": whole(0, 10**15),
            "partitions": whole(1, 10_000),
            "start": moment,
        }
    ),
    "files": Kind(
        {
            "path": local_path,
            "format": choice(*FORMATS),
            "separator": character,
            "header": flag,
            "pattern": text,
            "settle_ms": whole(0, LONGEST_MS),
        },
        required=("path",),
        together=_of_text,
    ),
    "kafka": Kind(
        {
            "servers": text,
            "topic": topics,
            "start": choice("earliest", "latest"),
            "format": choice("json", "csv"),
            "separator": character,
            "client": client,
        },
        required=("servers", "topic"),
        together=_of_text,
    ),
    "python": Kind({"class": text, "keep": whole(1, 10**9)}, required=("class",), is_open=True),
    "feed": Kind(),
}


def check_source(stream: str, kind: str, options: Mapping[str, Any]) -> None:
    """Refuse the first thing that is wrong with a stream's source."""
    if kind not in KINDS:
        near = nearest(kind, KINDS)
        raise SourceError(
            f"Stream {stream!r} has a source of kind {kind!r}, which there is not. "
            f"There is {', '.join(KINDS)}.",
            code="source.unknown-kind",
            hint=f"Did you mean {near!r}?" if near else "Use one of the kinds listed.",
            stream=stream,
        )
    declared = KINDS[kind]
    for name in options:
        if not declared.is_open and name not in declared.options:
            near = nearest(name, declared.options)
            raise SourceError(
                f"Source {kind!r} of stream {stream!r} has no option {name!r}. "
                f"Its options are {', '.join(declared.options)}.",
                hint=f"Did you mean {near!r}?" if near else "Use one of the options listed.",
                stream=stream,
                option=name,
            )
    for name in declared.required:
        if name not in options:
            raise SourceError(
                f"Source {kind!r} of stream {stream!r} needs the option {name!r}.",
                hint=f"Add `{name}:` to it.",
                stream=stream,
                option=name,
            )
    for name, fault in declared.faults(options):
        raise SourceError(
            f"Option {name!r} of stream {stream!r}'s source is {options[name]!r}; "
            f"it should be {fault.expected}.",
            hint=f"Correct `{name}` in the project file.",
            stream=stream,
            option=name,
        )
