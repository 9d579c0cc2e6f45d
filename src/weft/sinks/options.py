"""The kinds of sinks: which there are, and what is wrong with the options of one. Checked before any sink is opened, by
the project's check and by `open`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, cast

from weft.declared.limit import Fault
from weft.declared.read import faults, made, message
from weft.schema.schema import nearest
from weft.sinks.sink import Sink, SinkError, Target

# Each kind with its declaration, loaded when it is first used: a project without Kafka should not wait for its client.
# A new kind is a file and a line here.
KINDS: Mapping[str, str] = {
    "console": "weft.sinks.console:ConsoleOptions",
    "delta": "weft.sinks.delta:DeltaOptions",
    "files": "weft.sinks.files:FilesOptions",
    "kafka": "weft.sinks.kafka:KafkaOptions",
    "metrics": "weft.sinks.metrics:MetricsOptions",
    "python": "weft.sinks.python:PythonOptions",
    "memory": "weft.sinks.memory:MemoryOptions",
}


class SinkOptionError(SinkError):
    """A sink is declared wrongly."""

    code = "sinks.wrong-option"
    domain = "user"
    retryable = False


@dataclass(frozen=True)
class Options(ABC):
    """A kind of sink: its fields are what may stand below it."""

    takes_others: ClassVar[bool] = False
    takes_back: ClassVar[bool] = True
    """Whether rows that were rolled back can be taken out of it again."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the rows go, as a plan names it."""

    def columns(self) -> tuple[str, ...]:
        """The columns that the options name, so that they can be checked against the stream."""
        return ()

    @abstractmethod
    def open(self, target: Target) -> Sink:
        """The sink, ready to deliver the rows of a stream."""

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Options:
        """The options that a mapping without faults makes."""
        return made(cls, written)


def declaration(kind: str) -> type[Options]:
    """The declaration of a kind of sink."""
    module, _, name = KINDS[kind].partition(":")
    return cast(type[Options], getattr(import_module(module), name))


def written(kind: str, options: Mapping[str, Any] | str | None) -> Any:
    """Options as a mapping: a kind may stand without any, and `python` with its class alone, as text."""
    if isinstance(options, str) and kind == "python":
        return {"class": options}
    return {} if options is None else options


def find_wrong(kind: str, options: Any) -> Iterable[tuple[Fault, SinkOptionError]]:
    """Everything that is wrong with the options of a sink, each with its place below them."""
    if kind not in KINDS:
        meant = nearest(kind, KINDS)
        listed = f"There are {', '.join(KINDS)}."
        error = SinkOptionError(
            f"There is no kind of sink called '{kind}'.",
            code="sinks.unknown-kind",
            hint=f"Did you mean '{meant}'? {listed}" if meant else listed,
            sink=kind,
        )
        return [(Fault("unknown-value", ""), error)]
    found = faults(declaration(kind), options)
    return ((fault, _error(kind, options, fault)) for fault in found)


def read_options(kind: str, options: Mapping[str, Any] | str | None) -> Options:
    """The options of a sink, checked; refuses the first thing that is wrong with them."""
    given = written(kind, options)
    for _, error in find_wrong(kind, given):
        raise error
    return declaration(kind).of(given)


_CODES = {"unknown-key": "sinks.unknown-option", "missing-key": "sinks.missing-option"}


def _error(kind: str, options: Any, fault: Fault) -> SinkOptionError:
    told, hint = message(fault, options, f"sink '{kind}'")
    return SinkOptionError(
        told,
        code=_CODES.get(fault.mistake, "sinks.wrong-option"),
        hint=hint,
        sink=kind,
        option=str(fault.path[0]) if fault.path else kind,
    )
