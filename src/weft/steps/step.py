"""The steps of a pipeline or a rule, as frozen values: read from YAML or JSON, described for
people, written back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from weft.canonical import digest
from weft.errors import WeftError
from weft.schema.schema import nearest


class StepError(WeftError):
    """A step that cannot be read or does not fit its columns."""

    code = "step.invalid"
    domain = "user"


@dataclass(frozen=True)
class Filter:
    """Keep the records for which the condition is true."""

    kind: ClassVar[str] = "filter"
    condition: str

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
    columns: Mapping[str, str]

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
    columns: tuple[str, ...]

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
    columns: tuple[str, ...] = ()
    expressions: Mapping[str, str] = field(default_factory=dict)

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
    columns: Mapping[str, str]

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
    ref: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def form(self) -> Any:
        """What stands after `function:`."""
        return {"ref": self.ref, "params": dict(self.params)} if self.params else self.ref

    def describe(self) -> str:
        """One line for people."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"call {self.ref}({given})" if given else f"call {self.ref}"


Step = Filter | Set | Drop | Select | Rename | Function
KINDS = ("filter", "set", "drop", "select", "rename", "function")


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
    return _READERS[kind](value)


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


def _filter(value: Any) -> Step:
    return Filter(_expression(value, "filter"))


def _set(value: Any) -> Step:
    return Set(_expressions(value, "set"))


def _drop(value: Any) -> Step:
    return Drop(_names(value, "drop"))


def _select(value: Any) -> Step:
    if isinstance(value, Mapping) or (isinstance(value, list) and _is_list_of_pairs(value)):
        return Select(expressions=_expressions(value, "select"))
    return Select(columns=_names(value, "select"))


def _rename(value: Any) -> Step:
    if not _is_mapping_of_text(value):
        raise StepError(
            f"`rename` takes a mapping of old name to new name, not {_shown(value)}.",
            hint="Write it as `rename: {old: new}`.",
        )
    return Rename(dict(value))


def _function(value: Any) -> Step:
    form = {"ref": value} if isinstance(value, str) else value
    if not isinstance(form, Mapping) or not isinstance(form.get("ref"), str):
        raise StepError(
            f"`function` takes a reference, not {_shown(value)}.",
            hint="Write it as `function: shop.rules:mask_email`.",
        )
    extra = sorted(set(form) - {"ref", "params"})
    params = form.get("params", {})
    if extra or not isinstance(params, Mapping):
        raise StepError(
            f"`function` has {extra[0]!r}, which it does not know."
            if extra
            else f"`params` of a function is a mapping, not {_shown(params)}.",
            hint="Write it as `function: {ref: shop.rules:mask, params: {keep: 2}}`.",
        )
    return Function(form["ref"], dict(params))


_READERS = {
    "filter": _filter,
    "set": _set,
    "drop": _drop,
    "select": _select,
    "rename": _rename,
    "function": _function,
}


def _expression(value: Any, kind: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str) or not value.strip():
        raise StepError(
            f"`{kind}` takes an expression, not {_shown(value)}.",
            hint="Put it in quotes: without them, a comma inside { } ends it."
            if value is None
            else f"Write it as `{kind}: total > 0`.",
        )
    return value


def _expressions(value: Any, kind: str) -> dict[str, str]:
    if isinstance(value, list) and _is_list_of_pairs(value):
        value = {name: text for pair in value for name, text in pair.items()}
    if not isinstance(value, Mapping) or not value or not all(isinstance(k, str) for k in value):
        raise StepError(
            f"`{kind}` takes a mapping of column to expression, not {_shown(value)}.",
            hint=f"Write it as `{kind}: {{email: lower(email)}}`.",
        )
    return {name: _expression(text, f"{kind}.{name}") for name, text in value.items()}


def _in_order(columns: Mapping[str, str]) -> Any:
    """A mapping, or a list of mappings of one, because JSON's keys may be sorted on the way."""
    if len(columns) == 1:
        return dict(columns)
    return [{name: text} for name, text in columns.items()]


def _is_list_of_pairs(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(item, Mapping) and len(item) == 1 for item in value)


def _names(value: Any, kind: str) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if (
        not isinstance(names, list | tuple)
        or not names
        or not all(isinstance(n, str) for n in names)
    ):
        raise StepError(
            f"`{kind}` takes a column or a list of columns, not {_shown(value)}.",
            hint=f"Write it as `{kind}: [email, country]`.",
        )
    return tuple(names)


def _is_mapping_of_text(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(part, str) for pair in value.items() for part in pair)
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
