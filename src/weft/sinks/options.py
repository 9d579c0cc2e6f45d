"""The options of each kind of sink as the project file writes them. Checked here before any sink is
opened, by the project's check and by `open`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    field_validator,
)

from weft.schema.schema import nearest
from weft.sinks.sink import SinkError

Names = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
]


class Options(BaseModel, ABC):
    """What may stand below a kind of sink."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    takes_back: ClassVar[bool] = True
    """Whether rows that were rolled back can be taken out of it again."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the rows go, as a plan names it."""

    def columns(self) -> tuple[str, ...]:
        """The columns that the options name, so that they can be checked against the stream."""
        return ()


class ConsoleOptions(Options):
    """`console: {rows: 10}` shows the first rows of each knot."""

    takes_back = False
    rows: int = Field(default=10, ge=1, le=1_000_000)

    @property
    def place(self) -> str:
        """Where the rows go."""
        return "the console"


class FilesOptions(Options):
    """`files: {path: out, format: json}` writes a file per knot into a folder."""

    path: str = Field(min_length=1, max_length=4000)
    format: Literal["json", "csv", "parquet"] = "json"

    @field_validator("path")
    @classmethod
    def _is_local(cls, path: str) -> str:
        if "://" in path or "\0" in path:
            raise ValueError("it should be a path of a disk, and no address of an object store")
        return path

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"the files in {self.path}"


class KafkaOptions(Options):
    """`kafka: {topic: revenue}` writes each knot to a topic in one transaction.

    `key` replaces the stream's own key; an empty list writes records without one. `partitions` is
    for a topic that is not there yet. `client` is handed to the Kafka client as it is.
    """

    topic: str = Field(min_length=1, max_length=249, pattern=r"^[A-Za-z0-9._-]+$")
    servers: str = Field(default="localhost:9092", min_length=1)
    key: Names | None = None
    partitions: int | None = Field(default=None, ge=1, le=100_000)
    client: Mapping[str, str | int | FiniteFloat | bool] = {}

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"Kafka topic {self.topic} at {self.servers}"

    def columns(self) -> tuple[str, ...]:
        """The key."""
        return self.key or ()


class MetricsOptions(Options):
    """`metrics: {counters: [orders], gauges: [revenue], by: [country]}` feeds Prometheus."""

    takes_back = False
    counters: Names = ()
    gauges: Names = ()
    by: Names = ()

    @property
    def place(self) -> str:
        """Where the rows go."""
        return "the metrics"

    def columns(self) -> tuple[str, ...]:
        """Everything that is measured, and the labels."""
        return (*self.counters, *self.gauges, *self.by)


class PythonOptions(Options):
    """`python: {class: module:Class}`; all else below it goes to the class's constructor."""

    model_config = ConfigDict(extra="allow", frozen=True)

    sink: str = Field(alias="class", pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"the sink {self.sink}"

    @property
    def arguments(self) -> dict[str, Any]:
        """What the class's constructor gets."""
        return dict(self.model_extra or {})


class MemoryOptions(Options):
    """`memory: {name: seen}` keeps rows in this process, for tests."""

    name: str

    @property
    def place(self) -> str:
        """Where the rows go."""
        return f"memory {self.name}"


OPTIONS: Mapping[str, type[Options]] = {
    "console": ConsoleOptions,
    "files": FilesOptions,
    "kafka": KafkaOptions,
    "metrics": MetricsOptions,
    "python": PythonOptions,
    "memory": MemoryOptions,
}


class SinkOptionError(SinkError):
    """A sink is declared wrongly."""

    code = "sinks.wrong-option"
    domain = "user"
    retryable = False


def read_options(kind: str, options: Mapping[str, Any] | str | None) -> Options:
    """The options of a sink, checked. `python` may be given its class alone, as text."""
    if kind not in OPTIONS:
        raise SinkOptionError(
            f"There is no kind of sink called '{kind}'.",
            code="sinks.unknown-kind",
            hint=_advice(kind, OPTIONS),
            sink=kind,
        )
    if isinstance(options, str) and kind == "python":
        options = {"class": options}
    try:
        return OPTIONS[kind].model_validate(options or {})
    except ValidationError as error:
        raise _wrong(kind, error) from None


def _wrong(kind: str, error: ValidationError) -> SinkOptionError:
    """The first thing that pydantic found, in our words."""
    problem = error.errors()[0]
    option = str(problem["loc"][0]) if problem["loc"] else kind
    known = [field.alias or name for name, field in OPTIONS[kind].model_fields.items()]
    match problem["type"]:
        case "extra_forbidden":
            return SinkOptionError(
                f"Sink '{kind}' has no option '{option}'.",
                code="sinks.unknown-option",
                hint=_advice(option, known),
                sink=kind,
                option=option,
            )
        case "missing":
            return SinkOptionError(
                f"Sink '{kind}' needs the option '{option}'.",
                code="sinks.missing-option",
                hint=f"Write it as in `{kind}: {{{option}: …}}`.",
                sink=kind,
                option=option,
            )
    return SinkOptionError(
        f"Option '{option}' of sink '{kind}' is wrong: {problem['msg']}.",
        hint=f"It was given as {problem['input']!r}.",
        sink=kind,
        option=option,
    )


def _advice(word: str, words: Mapping[str, Any] | list[str]) -> str:
    meant = nearest(word, words)
    listed = f"There are {', '.join(words)}."
    return f"Did you mean '{meant}'? {listed}" if meant else listed
