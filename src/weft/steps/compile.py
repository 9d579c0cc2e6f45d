"""Steps meet columns: every step checked against the columns that reach it, and the columns that
leave it. Knows no Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.canonical import digest
from weft.errors import WeftError
from weft.gate.coercion import is_interval
from weft.gate.expression import Checked, check
from weft.schema.change import CHANGE
from weft.schema.schema import Field, Schema, Type, unknown_column
from weft.schema.weft import WEFT
from weft.steps.function import FunctionVersion
from weft.steps.step import Drop, Filter, Function, Rename, Select, Set, Step, StepError, to_dict

# Spark plans and compiles every batch anew, and that takes as long as its expressions are large.
MAX_WEIGHT = 10_000
MAX_COLUMNS = 5_000
# What Delta refuses in the names of columns.
_UNFIT = " ,;{}()="


@dataclass(frozen=True)
class CompiledStep:
    """A step that fits its columns: the names as the stream spells them, its expressions checked.

    `expressions` are by column, and a filter's condition is under the empty name.
    """

    step: Step
    input: Schema
    output: Schema
    version: str
    expressions: Mapping[str, Checked] = field(default_factory=dict)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it reads or names; a Python function may read all."""
        if isinstance(self.step, Function):
            return self.input.names
        read = {name: None for checked in self.expressions.values() for name in checked.columns}
        if isinstance(self.step, Drop | Rename | Select):
            read |= dict.fromkeys(self.step.columns)
        return tuple(read)


def compile_steps(
    steps: Sequence[Step],
    schema: Schema,
    functions: Mapping[str, FunctionVersion] | None = None,
) -> tuple[CompiledStep, ...]:
    """Check steps one after the other; the first that does not fit is refused with its place."""
    compiled: list[CompiledStep] = []
    weight = 0
    for number, step in enumerate(steps):
        try:
            done = compile_step(step, schema, functions or {})
        except WeftError as failure:
            failure.ids.setdefault("step", number)
            raise
        compiled.append(done)
        schema = done.output
        weight += sum(checked.weight for checked in done.expressions.values())
        if weight > MAX_WEIGHT or len(schema) > MAX_COLUMNS:
            raise StepError(
                f"The expressions of these steps have more than {MAX_WEIGHT} parts together, or make more "
                f"than {MAX_COLUMNS} columns.",
                code="step.too-large",
                hint="Split them over several rules, or write a Python function of the project.",
                step=number,
            )
    return tuple(compiled)


def compile_step(
    step: Step, schema: Schema, functions: Mapping[str, FunctionVersion]
) -> CompiledStep:
    """Check one step against the columns that reach it."""
    return _COMPILERS[type(step)](step, schema, functions)


def apply_schema(
    steps: Sequence[Step],
    schema: Schema,
    functions: Mapping[str, FunctionVersion] | None = None,
) -> Schema:
    """The columns after these steps."""
    compiled = compile_steps(steps, schema, functions)
    return compiled[-1].output if compiled else schema


def reads(
    steps: Sequence[Step],
    schema: Schema,
    functions: Mapping[str, FunctionVersion] | None = None,
) -> frozenset[str]:
    """The input columns that these steps read, by the names that they have in the input."""
    found: set[str] = set()
    origin: dict[str, set[str]] = {name: {name} for name in schema.names}
    for compiled in compile_steps(steps, schema, functions):
        for name in compiled.reads:
            found |= origin.get(name, set())
        origin = _origins(compiled, origin)
    return frozenset(found)


def origins(
    steps: Sequence[Step],
    schema: Schema,
    functions: Mapping[str, FunctionVersion] | None = None,
) -> dict[str, set[str]]:
    """From which input columns each column after these steps is made."""
    made: dict[str, set[str]] = {name: {name} for name in schema.names}
    for compiled in compile_steps(steps, schema, functions):
        made = _origins(compiled, made)
    return made


def _origins(compiled: CompiledStep, before: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """From which input columns each column after a step is made."""
    renamed = (
        {new: old for old, new in compiled.step.columns.items()}
        if isinstance(compiled.step, Rename)
        else {}
    )
    after: dict[str, set[str]] = {}
    for name in compiled.output.names:
        checked = compiled.expressions.get(name)
        sources = checked.columns if checked else (renamed.get(name, name),)
        after[name] = {one for source in sources for one in before.get(source, set())}
    return after


def _filter(step: Filter, schema: Schema, functions: Any) -> CompiledStep:
    checked = check(step.condition, schema, boolean=True)
    return CompiledStep(step, schema, schema, _version(step), {"": checked})


def _set(step: Set, schema: Schema, functions: Any) -> CompiledStep:
    expressions: dict[str, Checked] = {}
    fields = list(schema.fields)
    for given, text in step.columns.items():
        known = schema.find(given)
        name = _column(known.name, schema) if known else new_name(given)
        if name in expressions:
            raise _twice(name)
        expressions[name] = _checked(given, text, schema)
        made = Field(name, storable(name, expressions[name].type))
        if known:
            fields[fields.index(known)] = made
        else:
            fields.append(made)
    spelled = Set(dict(zip(expressions, step.columns.values(), strict=True)))
    return CompiledStep(spelled, schema, Schema(tuple(fields)), _version(step), expressions)


def _drop(step: Drop, schema: Schema, functions: Any) -> CompiledStep:
    names = [_column(name, schema) for name in step.columns]
    kept = tuple(field for field in schema if field.name not in names)
    if not kept:
        raise StepError(
            "`drop` would leave no column.", code="step.no-columns", hint="Keep at least one."
        )
    return CompiledStep(Drop(tuple(names)), schema, Schema(kept), _version(step))


def _select(step: Select, schema: Schema, functions: Any) -> CompiledStep:
    if not step.expressions:
        names = [_column(name, schema) for name in step.columns]
        if len(set(names)) != len(names):
            raise _twice(next(name for name in names if names.count(name) > 1))
        names += _kept(schema)
        output = Schema(tuple(schema.get(name) for name in names))
        return CompiledStep(Select(tuple(names)), schema, output, _version(step))
    expressions: dict[str, Checked] = {}
    for given, text in step.expressions.items():
        known = schema.find(given)
        name = known.name if known else new_name(given)
        if name in expressions:
            raise _twice(name)
        expressions[name] = _checked(given, text, schema)
    texts = dict(zip(expressions, step.expressions.values(), strict=True))
    for name in _kept(schema):
        texts[name] = name
        expressions[name] = check(name, schema)
    fields = [Field(name, storable(name, one.type)) for name, one in expressions.items()]
    spelled = Select(expressions=texts)
    return CompiledStep(spelled, schema, Schema(tuple(fields)), _version(step), expressions)


def _kept(schema: Schema) -> list[str]:
    """What a selection keeps unasked: without `_change`, nobody could tell what replaces what."""
    return [CHANGE] if schema.find(CHANGE) is not None else []


def _rename(step: Rename, schema: Schema, functions: Any) -> CompiledStep:
    names = {_column(old, schema): new_name(new) for old, new in step.columns.items()}
    fields = [Field(names.get(one.name, one.name), one.type, one.nullable) for one in schema]
    return CompiledStep(Rename(names), schema, Schema(tuple(fields)), _version(step))


def _function(
    step: Function, schema: Schema, functions: Mapping[str, FunctionVersion]
) -> CompiledStep:
    found = functions.get(step.ref)
    if found is None:
        raise StepError(
            f"Function {step.ref!r} is not one of the project's.",
            code="step.unknown-function",
            hint="Only functions in the project's Python files can be called.",
            function=step.ref,
        )
    if found.form == "class":
        raise StepError(
            f"{step.ref!r} is a class, and a step needs a function.",
            code="step.unknown-function",
            hint="Name a function: def clean(record: dict) -> dict | None.",
            function=step.ref,
        )
    if schema.find(CHANGE) is not None:
        raise StepError(
            f"{step.ref!r} cannot be called for rows that replace one another: those that it drops would stay.",
            code="step.changing",
            hint="Use `filter` and `set`, or call it in a pipeline that the records pass before.",
            function=step.ref,
        )
    bound = found.bind(step.params)
    return CompiledStep(step, schema, bound.result(schema), bound.version)


_COMPILERS: Mapping[type, Callable[[Any, Schema, Any], CompiledStep]] = {
    Filter: _filter,
    Set: _set,
    Drop: _drop,
    Select: _select,
    Rename: _rename,
    Function: _function,
}


def _checked(name: str, text: str, schema: Schema) -> Checked:
    try:
        return check(text, schema)
    except WeftError as failure:
        failure.ids.setdefault("expression", name)
        raise


def _version(step: Step) -> str:
    return digest(to_dict(step))


def _column(name: str, schema: Schema) -> str:
    if name.lower() in (WEFT, CHANGE):
        raise _reserved(name)
    found = schema.find(name)
    if found is None:
        raise unknown_column(name, schema.names)
    return found.name


def new_name(name: str) -> str:
    """A column name that may be given; refuses reserved ones and those that no table holds."""
    if name.lower().startswith(WEFT) or name.lower() == CHANGE:
        raise _reserved(name)
    if not name or len(name) > 255 or any(ord(sign) < 32 or sign in _UNFIT for sign in name):
        raise StepError(
            f"{name!r} cannot be the name of a column.",
            code="step.bad-name",
            hint="Names have 1 to 255 characters, without spaces, brackets, commas, = and ;.",
        )
    return name


def storable(name: str, kind: Type) -> Type:
    """The type of a new column; refuses what a table cannot keep."""
    if not _is_storable(kind):
        raise StepError(
            f"Column {name!r} would be of type {kind}, which a stream cannot keep.",
            code="step.type",
            hint="Cast it: cast(null as string), or take a number from an interval.",
        )
    return kind


def _is_storable(kind: Type) -> bool:
    inner = (*kind.items, *(one.type for one in kind.fields))
    return kind.name != "null" and not is_interval(kind) and all(map(_is_storable, inner))


def _reserved(name: str) -> StepError:
    return StepError(
        f"Column {name!r} belongs to Weft.",
        code="step.reserved-column",
        hint="`_change` and names that begin with `_weft` cannot be set, dropped or renamed.",
    )


def _twice(name: str) -> StepError:
    return StepError(
        f"Column {name!r} is named twice.", code="step.duplicate-column", hint="Name it once."
    )
