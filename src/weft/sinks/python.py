"""A sink of the user's own: an `EventSink` class from the project's Python."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from weft.declared.key import Key
from weft.declared.limit import Limit, Mistake
from weft.declared.read import made
from weft.reason import reason_of
from weft.sinks import parallel
from weft.sinks.options import Options, SinkOptionError
from weft.sinks.parallel import user_records
from weft.sinks.rows import Rows
from weft.sinks.sink import Promise, Sink, SinkError, Target
from weft.steps.function import FunctionVersion
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
        self._options = options
        self._target = target
        made = get_class(
            options.sink,
            options.arguments,
            stream=target.stream,
            code=target.code.get(options.sink),
        )
        self._takes = _taken(made.write)
        self._retracts = callable(getattr(made, "retract", None))
        self._is_parallel = bool(getattr(made, "parallel", False)) and target.spark is not None
        self._sink = None if self._is_parallel else made(**options.arguments)

    def deliver(self, knot: int, rows: Rows) -> None:
        """Give the records of a knot to the class: in one call, or file by file where it is parallel. A knot without
        rows is left out."""
        if not rows.count:
            return
        if self._sink is None:
            self._run("write", knot, rows, self._takes)
        else:
            self._sink.write(*(user_records(rows), knot, 0)[: self._takes])

    def delivered(self) -> int | None:
        """The class does not tell."""
        return None

    def retract(self, knots: range, rows: Rows) -> None:
        """Give the records that were rolled back to the class, if it wants to know."""
        if not self._retracts or not rows.count:
            return
        if self._sink is None:
            self._run("retract", knots[-1], rows, 1)
        else:
            self._sink.retract(user_records(rows))

    def restore(self, knot: int, rows: Rows) -> None:
        """Give the records of a knot to the class again."""
        self.deliver(knot, rows)

    def close(self) -> None:
        """Close the class's object, where the driver has one."""
        if self._sink is not None:
            self._sink.close()

    def _run(self, method: Literal["write", "retract"], knot: int, rows: Rows, takes: int) -> None:
        assert self._target.spark is not None
        task = parallel.FileTask(
            reference=self._options.sink,
            code=self._target.code.get(self._options.sink),
            arguments=self._options.arguments,
            columns=self._target.columns,
            method=method,
            takes=takes,
        )
        spark, files = self._target.spark, rows.files
        for reason in task.whole(rows, knot) if files is None else parallel.run(spark, task, files):
            raise SinkError(
                f"Sink '{self._options.sink}' of stream '{self._target.stream}' failed: {reason}.",
                code="sinks.python",
                hint="The rows are in the stream's table, and are given to it again.",
                stream=self._target.stream,
                sink=self._options.sink,
            )


def _taken(write: Callable[..., Any]) -> int:
    """How much of records, knot and file a method takes."""
    taken = list(inspect.signature(write).parameters.values())[1:]
    if any(one.kind is one.VAR_POSITIONAL for one in taken):
        return 3
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in taken)


def get_class(
    reference: str,
    arguments: Mapping[str, Any],
    *,
    stream: str,
    code: FunctionVersion | None = None,
) -> Any:
    """The class that `module:Class` names; it must have `write` and `close` and take these arguments.

    Where its module is not beside the worker, it is taken from the project's `code`.
    """
    module_name, _, class_name = reference.partition(":")
    try:
        if code is not None and importlib.util.find_spec(module_name.partition(".")[0]) is None:
            found: Any = code.load()
        else:
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
