"""A sink of the user's own: an `EventSink` class from the project's Python."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from weft.declared.key import Key
from weft.declared.limit import Limit, Mistake
from weft.declared.read import made
from weft.reason import reason_of
from weft.schema.weft import WEFT
from weft.sinks.options import Options, SinkOptionError
from weft.sinks.rows import Rows
from weft.sinks.sink import Promise, Sink, Target
from weft.steps.module import refused_arguments

_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def _class(value: Any) -> Mistake | None:
    if not isinstance(value, str):
        return "wrong-type"
    return None if _CLASS.fullmatch(value) else "unknown-value"


CLASS = Limit(
    "a class, as module:Class", _class, {"type": "string", "pattern": f"^{_CLASS.pattern}$"}
)


@dataclass(frozen=True)
class PythonOptions(Options):
    """A class of your own: [how to bring your own](../how-to/own-source-and-sink.md). At least once.

    `python: mail:Mailer` is short for its class alone. Other options go to its constructor by name.
    """

    takes_others: ClassVar[bool] = True

    sink: Annotated[
        str,
        Key(CLASS, "The class, in Python beside the project file.", "mail:Mailer", name="class"),
    ]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the class's constructor gets."""

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"the sink {self.sink}"

    def open(self, target: Target) -> Sink:
        """The sink, with an object of the class made."""
        return PythonSink(self, target)

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> PythonOptions:
        """The options, with all that is not ours for the class."""
        others = {name: value for name, value in written.items() if name != "class"}
        return replace(made(cls, written), arguments=others)


class PythonSink:
    """At least once: after a crash the last knot is written again, with the same number."""

    promise: Promise = "at least once"

    def __init__(self, options: PythonOptions, target: Target) -> None:
        made = get_class(options.sink, options.arguments, stream=target.stream)
        self._sink = made(**options.arguments)
        taken = inspect.signature(self._sink.write).parameters.values()
        positional = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        starred = any(p.kind is p.VAR_POSITIONAL for p in taken)
        self._takes_knot = len(positional) > 1 or starred

    def deliver(self, knot: int, rows: Rows) -> None:
        """Give the records of a knot to the class, in one call; a knot without rows is left out."""
        if not rows.count:
            return
        records = _user_records(rows)
        if self._takes_knot:
            self._sink.write(records, knot)
        else:
            self._sink.write(records)

    def delivered(self) -> int | None:
        """The class does not tell."""
        return None

    def retract(self, knots: range, rows: Rows) -> None:
        """Give the records that were rolled back to the class, if it wants to know."""
        retract = getattr(self._sink, "retract", None)
        if retract is not None and rows.count:
            retract(_user_records(rows))

    def restore(self, knot: int, rows: Rows) -> None:
        """Give the records of a knot to the class again."""
        self.deliver(knot, rows)

    def close(self) -> None:
        """Close the class's object."""
        self._sink.close()


def _user_records(rows: Rows) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in record.items() if name != WEFT} for record in rows.records()
    ]


def get_class(reference: str, arguments: Mapping[str, Any], *, stream: str) -> Any:
    """The class that `module:Class` names; it must have `write` and `close` and take these arguments."""
    module_name, _, class_name = reference.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (Exception, SystemExit) as error:
        raise SinkOptionError(
            f"Sink '{reference}' of stream '{stream}' cannot be loaded: {reason_of(error)}.",
            code="sinks.no-class",
            hint="Write it as `module:Class`; the module lies beside the project file.",
            sink=reference,
            stream=stream,
        ) from error
    if not all(callable(getattr(found, method, None)) for method in ("write", "close")):
        raise SinkOptionError(
            f"Class '{reference}' is no sink: it lacks `write` or `close`.",
            code="sinks.no-class",
            hint="Subclass `weft.sinks.EventSink`.",
            sink=reference,
            stream=stream,
        )
    refused = refused_arguments(found, arguments)
    if refused:
        raise SinkOptionError(
            f"Sink '{reference}' of stream '{stream}' does not take its options: {refused}.",
            code="sinks.wrong-option",
            hint="What stands beside `class` goes to its constructor by name.",
            sink=reference,
            stream=stream,
        )
    return found
