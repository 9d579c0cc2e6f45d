"""The steps of a pipeline or a rule, as frozen values: read from YAML or JSON, described for
people, written back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from weft.canonical import digest
from weft.declared.key import Key
from weft.declared.text import told
from weft.errors import WeftError
from weft.schema.schema import nearest
from weft.steps.limit import CALL, COLUMNS, CONDITION, EXPRESSIONS, RENAMES, SELECTION, is_pairs


class StepError(WeftError):
    """A step that cannot be read or does not fit its columns."""

    code = "step.invalid"
    domain = "user"


@dataclass(frozen=True)
class Filter:
    """Keep the records for which the condition is true."""

    kind: ClassVar[str] = "filter"
    written: ClassVar[Key] = Key(
        CONDITION, "Keeps the records for which a condition is true.", "total > 0"
    )
    condition: str

    @classmethod
    def read(cls, value: Any) -> Filter:
        """What stands after `filter:` as a step."""
        return cls(_sql(value))

    def form(self) -> Any:
        """What stands after `filter:`."""
        return self.condition

    def describe(self) -> str:
        """One line for people."""
        return f"keep where {self.condition}"


@dataclass(frozen=True)
class Set:
    """Give columns new values; every expression sees the record as it came into the step."""

    kind: ClassVar[str] = "set"
    written: ClassVar[Key] = Key(
        EXPRESSIONS,
        "Gives columns values; every expression sees the record as it came into the step.",
        {"email": "lower(email)", "net": "total * 0.8"},
    )
    columns: Mapping[str, str]

    @classmethod
    def read(cls, value: Any) -> Set:
        """What stands after `set:` as a step."""
        return cls(_pairs(value))

    def form(self) -> Any:
        """What stands after `set:`."""
        return _in_order(self.columns)

    def describe(self) -> str:
        """One line for people."""
        return "set " + ", ".join(f"{name} = {text}" for name, text in self.columns.items())


@dataclass(frozen=True)
class Drop:
    """Leave columns out."""

    kind: ClassVar[str] = "drop"
    written: ClassVar[Key] = Key(COLUMNS, "Leaves columns out.", ["email"])
    columns: tuple[str, ...]

    @classmethod
    def read(cls, value: Any) -> Drop:
        """What stands after `drop:` as a step."""
        return cls(_names(value))

    def form(self) -> Any:
        """What stands after `drop:`."""
        return list(self.columns)

    def describe(self) -> str:
        """One line for people."""
        return "drop " + ", ".join(self.columns)


@dataclass(frozen=True)
class Select:
    """Keep these columns only, in this order; each is a column or an expression under a name."""

    kind: ClassVar[str] = "select"
    written: ClassVar[Key] = Key(
        SELECTION,
        "Keeps these columns only, in this order; each is a column, or an expression under a name.",
        {"id": "id", "net": "total * 0.8"},
    )
    columns: tuple[str, ...] = ()
    expressions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, value: Any) -> Select:
        """What stands after `select:` as a step."""
        if isinstance(value, Mapping) or is_pairs(value):
            return cls(expressions=_pairs(value))
        return cls(columns=_names(value))

    def form(self) -> Any:
        """What stands after `select:`."""
        return _in_order(self.expressions) if self.expressions else list(self.columns)

    def describe(self) -> str:
        """One line for people."""
        named = [f"{text} as {name}" for name, text in self.expressions.items()]
        return "select " + ", ".join(named or self.columns)


@dataclass(frozen=True)
class Rename:
    """Give columns other names, in place."""

    kind: ClassVar[str] = "rename"
    written: ClassVar[Key] = Key(
        RENAMES, "Gives columns other names, in place.", {"total": "amount"}
    )
    columns: Mapping[str, str]

    @classmethod
    def read(cls, value: Any) -> Rename:
        """What stands after `rename:` as a step."""
        return cls(dict(value))

    def form(self) -> Any:
        """What stands after `rename:`."""
        return dict(self.columns)

    def describe(self) -> str:
        """One line for people."""
        return "rename " + ", ".join(f"{old} to {new}" for old, new in self.columns.items())


@dataclass(frozen=True)
class Function:
    """Call a Python function of the project with each record, or with batches of them."""

    kind: ClassVar[str] = "function"
    written: ClassVar[Key] = Key(
        CALL,
        "Calls a Python function with each record, or with batches of them: "
        "[how to call Python](../how-to/python-functions.md).",
        {"ref": "rules:mask", "params": {"keep": 2}},
    )
    ref: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, value: Any) -> Function:
        """What stands after `function:` as a step."""
        if isinstance(value, str):
            return cls(value)
        return cls(value["ref"], dict(value.get("params", {})))

    def form(self) -> Any:
        """What stands after `function:`."""
        return {"ref": self.ref, "params": dict(self.params)} if self.params else self.ref

    def describe(self) -> str:
        """One line for people."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"call {self.ref}({given})" if given else f"call {self.ref}"


Step = Filter | Set | Drop | Select | Rename | Function
KINDS: Mapping[str, type[Step]] = {
    one.kind: one for one in (Filter, Set, Drop, Select, Rename, Function)
}


def to_dict(step: Step) -> dict[str, Any]:
    """A step as YAML and JSON write it: one key, which is its kind."""
    return {step.kind: step.form()}


def from_dict(form: Any) -> Step:
    """The step that a mapping of one key says."""
    if not isinstance(form, Mapping) or len(form) != 1:
        raise StepError(
            f"A step is a mapping of one key, not {_shown(form)}.",
            hint=f"Write it as `- filter: total > 0`; the kinds are {', '.join(KINDS)}.",
        )
    [(kind, value)] = form.items()
    if kind not in KINDS:
        near = nearest(str(kind), KINDS)
        raise StepError(
            f"There is no step {_shown(kind)}. Steps are {', '.join(KINDS)}.",
            code="step.unknown-kind",
            hint=f"Did you mean {near!r}?" if near else "Use one of the steps listed.",
        )
    for _ in KINDS[kind].written.limit.faults(value):
        raise _wrong(kind, value)
    return KINDS[kind].read(value)


def steps_from(forms: Sequence[Any]) -> tuple[Step, ...]:
    """All steps of a list."""
    return tuple(from_dict(form) for form in forms)


def _forms(steps: Sequence[Step]) -> list[dict[str, Any]]:
    return [to_dict(step) for step in steps]


def _steps(given: Any) -> tuple[Step, ...]:
    return given if isinstance(given, tuple) else steps_from(given)


Steps = Annotated[
    tuple[Step, ...],
    PlainValidator(_steps),
    PlainSerializer(_forms),
    WithJsonSchema({"type": "array", "items": {"type": "object"}, "title": "Steps"}),
]
"""Steps in the form in which a project file writes them."""


def composed_version(steps: Sequence[Step], versions: Mapping[str, str]) -> str:
    """The function version of a list of steps; `versions` are those of the functions it calls."""
    called = [versions[step.ref] for step in steps if isinstance(step, Function)]
    return digest({"steps": _forms(steps), "functions": called})


def _wrong(kind: str, value: Any) -> StepError:
    """A step whose value cannot be, or holds one that cannot be."""
    key = KINDS[kind].written
    pairs = value if is_pairs(value) else [value] if isinstance(value, Mapping) else []
    held = [one for pair in pairs for one in pair.values()] or [value]
    hint = f"Write it as `{kind}: {told(key.example)}`."
    if key.limit in (CONDITION, EXPRESSIONS, SELECTION) and None in held:
        hint = "Put it in quotes: without them, a comma inside { } ends it."
    return StepError(f"`{kind}` takes {key.limit.expected}, not {_shown(value)}.", hint=hint)


def _sql(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _pairs(value: Any) -> dict[str, str]:
    if isinstance(value, list):
        value = {name: text for pair in value for name, text in pair.items()}
    return {name: _sql(text) for name, text in value.items()}


def _names(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _in_order(columns: Mapping[str, str]) -> Any:
    """A mapping, or a list of mappings of one, because JSON's keys may be sorted on the way."""
    if len(columns) == 1:
        return dict(columns)
    return [{name: text} for name, text in columns.items()]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
