"""One step on the weave: what it does to columns and verdicts, for all rows or for a share of them."""

from __future__ import annotations

from collections.abc import Mapping

from weft.gate.expression import Checked
from weft.schema.change import CHANGE, CHANGE_TYPE, EMPTIED, GONE
from weft.schema.schema import Schema, literal, quoted
from weft.steps.compile import CompiledStep
from weft.steps.step import Drop, Filter, Function, Rename, Select, Set
from weft.weaving.cloth import Call, Cloth, Verdict

_IS_GONE = f"coalesce({CHANGE}.op IN ('{GONE}', '{EMPTIED}'), false)"
"""SQL that is true for rows that take rows away; what they took away has left them no values to judge."""

# Expressions that are tried together fail together, and are one method of Spark's generated code.
MAX_TOGETHER = 32
# A record's own values may be copied so often without being counted.
MAX_COPIES = 64
# What is tried is code in a scope of its own, and the compiler of that code takes the square of a scope.
MAX_UNTRIED = 2_000


def apply(cloth: Cloth, compiled: CompiledStep, *, by: str, condition: str | None = None) -> None:
    """Apply a compiled step; `condition` names a column that says for which rows."""
    match compiled.step:
        case Filter():
            _filter(cloth, compiled.expressions[""], by, condition)
        case Set():
            _set(cloth, compiled.expressions, by, condition)
        case Drop(names):
            _reshape_some(cloth, {n: n for n in cloth.columns if n not in names}, condition)
        case Rename(names):
            _reshape_some(cloth, {names.get(n, n): n for n in cloth.columns}, condition)
        case Select(columns=names, expressions=expressions):
            if expressions:
                _set(cloth, compiled.expressions, by, condition)
            _reshape_some(cloth, {n: n for n in names or expressions}, condition)
        case Function() as step:
            dropped = cloth.code(Verdict("filtered", by))
            failed = cloth.code(Verdict("dead", by))
            cloth.call(Call(step, tuple(cloth.columns), dropped, failed, condition))
            cloth.columns = list(compiled.output.names)
    cloth.schema = compiled.output if condition is None else _union(cloth.schema, compiled.output)


def _filter(cloth: Cloth, checked: Checked, by: str, condition: str | None) -> None:
    code = cloth.code(Verdict("filtered", by))
    alone = held(condition)
    if CHANGE in cloth.columns:
        _withdraw(cloth, checked, by, alone)
        return
    if checked.total and cloth.weight + checked.weight <= MAX_UNTRIED:
        cloth.weight += checked.weight
        cloth.select(
            _weft_verdict=f"CASE WHEN {alone} THEN _weft_verdict "
            f"WHEN NOT coalesce(({cloth.sql(checked)}), false) THEN {code} END"
        )
        return
    [(_, value)] = _tried(cloth, {"": cloth.sql(checked)}, alone).items()
    failed = cloth.code(Verdict("dead", by))
    cloth.select(
        **_outcome(cloth),
        _weft_verdict=f"CASE WHEN {alone} THEN _weft_verdict "
        f"WHEN {_error(cloth)} IS NOT NULL THEN {failed} "
        f"WHEN NOT coalesce({value}, false) THEN {code} END",
    )
    _forget(cloth)


def _withdraw(cloth: Cloth, checked: Checked, by: str, alone: str) -> None:
    """Filter rows of which each replaces an earlier one: one that does not pass takes that one away."""
    [(_, value)] = _tried(cloth, {"": cloth.sql(checked)}, f"{alone} OR {_IS_GONE}").items()
    failed = cloth.code(Verdict("dead", by))
    gone = {one.name: f"{CHANGE}.{one.name}" for one in CHANGE_TYPE.fields} | {"op": literal(GONE)}
    struct = ", ".join(f"{literal(name)}, {sql}" for name, sql in gone.items())
    error = _error(cloth)
    columns = {name: quoted(name) for name in cloth.columns}
    columns[CHANGE] = (
        f"CASE WHEN {alone} OR {_IS_GONE} OR {error} IS NOT NULL OR coalesce({value}, false) "
        f"THEN {CHANGE} ELSE named_struct({struct}) END"
    )
    changes = _outcome(cloth) | {
        "_weft_verdict": f"CASE WHEN _weft_verdict IS NULL AND {error} IS NOT NULL "
        f"THEN {failed} ELSE _weft_verdict END"
    }
    _forget(cloth)
    cloth.reshape(columns, **changes)


def _set(cloth: Cloth, expressions: Mapping[str, Checked], by: str, condition: str | None) -> None:
    alone = held(condition)
    free, trying = _parted(cloth, expressions)
    values = {name: f"({sql})" for name, sql in free.items()}
    changes: dict[str, str] = {}
    if trying:
        values |= _tried(cloth, trying, alone)
        failed = cloth.code(Verdict("dead", by))
        changes = _outcome(cloth) | {
            "_weft_verdict": f"CASE WHEN _weft_verdict IS NULL AND {_error(cloth)} IS NOT NULL "
            f"THEN {failed} ELSE _weft_verdict END",
        }
    if condition is not None:
        values = {
            name: f"CASE WHEN {condition} THEN {sql} ELSE "
            f"{quoted(name) if name in cloth.columns else 'NULL'} END"
            for name, sql in values.items()
        }
    _forget(cloth)
    columns = {name: values.get(name, quoted(name)) for name in cloth.columns}
    columns |= {name: values[name] for name in expressions}
    cloth.reshape(columns, **changes)


def _parted(
    cloth: Cloth, expressions: Mapping[str, Checked]
) -> tuple[dict[str, str], dict[str, str]]:
    """The SQL of the expressions that need no trying, and of those that do.

    A total expression needs none, while there are few of them; many copies of a value make a record as
    large as one wants.
    """
    free: dict[str, str] = {}
    trying: dict[str, str] = {}
    for name, checked in expressions.items():
        sql = cloth.sql(checked)
        cloth.copies += checked.type.varies
        if checked.total and checked.type.varies and cloth.copies > MAX_COPIES:
            trying[name] = f"weft_kept({sql})"
        elif checked.total and cloth.weight + checked.weight <= MAX_UNTRIED:
            cloth.weight += checked.weight
            free[name] = sql
        else:
            trying[name] = sql
    return free, trying


def _tried(cloth: Cloth, expressions: Mapping[str, str], alone: str) -> dict[str, str]:
    """Layers that try these expressions, by name, and the SQL of each one's value afterwards."""
    values: dict[str, str] = {}
    spent = "_weft_spent"
    waiting = list(expressions)
    for number, first in enumerate(range(0, len(waiting), MAX_TOGETHER)):
        names = waiting[first : first + MAX_TOGETHER]
        column = f"_weft_try_{number}"
        listed = ", ".join(expressions[name] for name in names)
        cloth.select(**{column: f"CASE WHEN NOT ({alone}) THEN weft_try({spent}, {listed}) END"})
        spent = f"coalesce({column}.spent, {spent})"
        values |= {name: f"{column}.v{place}" for place, name in enumerate(names)}
    return values


def _outcome(cloth: Cloth) -> dict[str, str]:
    """What became of what was tried: the reason if it failed, the record as it was, what it has spent."""
    tries = _tries(cloth)
    error = _error(cloth)
    spent = ", ".join(f"{column}.spent" for column in reversed(tries))
    return {
        "_weft_reason": f"coalesce(_weft_reason, {error})",
        "_weft_record": f"CASE WHEN {error} IS NOT NULL THEN {cloth.record()} "
        "ELSE _weft_record END",
        "_weft_spent": f"coalesce({spent}, _weft_spent)",
    }


def _error(cloth: Cloth) -> str:
    errors = [f"{column}.error" for column in _tries(cloth)]
    return errors[0] if len(errors) == 1 else f"coalesce({', '.join(errors)})"


def _tries(cloth: Cloth) -> list[str]:
    return [name for name in cloth.hidden if name.startswith("_weft_try_")]


def _forget(cloth: Cloth) -> None:
    cloth.hide(*_tries(cloth))


def held(condition: str | None) -> str:
    """SQL that is true for rows which a step leaves alone."""
    return "_weft_verdict IS NOT NULL" + (f" OR NOT {condition}" if condition else "")


def _union(before: Schema, after: Schema) -> Schema:
    """The columns of rows of which some took a step and some did not."""
    added = [field for field in after if before.find(field.name) is None]
    return Schema((*before, *added))


def _reshape_some(cloth: Cloth, columns: Mapping[str, str], condition: str | None) -> None:
    """Give rows other columns (new name: old name); those outside the condition keep their own."""
    if condition is None:
        cloth.reshape({new: quoted(old) for new, old in columns.items()})
        return
    shaped: dict[str, str] = {}
    for name in dict.fromkeys([*cloth.columns, *columns]):
        inside = quoted(columns[name]) if name in columns else "NULL"
        outside = quoted(name) if name in cloth.columns else "NULL"
        shaped[name] = (
            inside
            if inside == outside
            else f"CASE WHEN {condition} THEN {inside} ELSE {outside} END"
        )
    cloth.reshape(shaped)
