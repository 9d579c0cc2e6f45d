"""One step on the weave: what it does to columns and verdicts, for all rows or for a share of them."""

from __future__ import annotations

from collections.abc import Mapping

from weft.weaving.cloth import Call, Cloth, Verdict
from weft.weaving.expression import Checked
from weft.weaving.infer import CompiledStep
from weft.weaving.schema import Schema, quoted
from weft.weaving.step import Drop, Filter, Function, Rename, Select, Set


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
    if checked.total:
        cloth.select(
            _weft_verdict=f"CASE WHEN {alone} THEN _weft_verdict "
            f"WHEN NOT coalesce(({cloth.sql(checked)}), false) THEN {code} END"
        )
        return
    failed = cloth.code(Verdict("dead", by))
    cloth.select(_weft_try=f"CASE WHEN NOT ({alone}) THEN weft_try({cloth.sql(checked)}) END")
    cloth.select(
        _weft_verdict=f"CASE WHEN {alone} THEN _weft_verdict "
        f"WHEN _weft_try.error IS NOT NULL THEN {failed} "
        f"WHEN NOT coalesce(_weft_try.value, false) THEN {code} END",
        _weft_reason="coalesce(_weft_reason, _weft_try.error)",
    )
    cloth.hide("_weft_try")


def _set(cloth: Cloth, expressions: Mapping[str, Checked], by: str, condition: str | None) -> None:
    alone = held(condition)
    tries = {
        name: f"_weft_try_{position}"
        for position, (name, checked) in enumerate(expressions.items())
        if not checked.total
    }
    values = {
        name: f"{tries[name]}.value" if name in tries else f"({cloth.sql(checked)})"
        for name, checked in expressions.items()
    }
    changes: dict[str, str] = {}
    if tries:
        failed = cloth.code(Verdict("dead", by))
        cloth.select(
            **{
                column: f"CASE WHEN NOT ({alone}) THEN weft_try({cloth.sql(expressions[name])}) END"
                for name, column in tries.items()
            }
        )
        errors = ", ".join(f"{column}.error" for column in tries.values())
        changes = {
            "_weft_verdict": f"CASE WHEN _weft_verdict IS NULL AND coalesce({errors}) IS NOT NULL "
            f"THEN {failed} ELSE _weft_verdict END",
            "_weft_reason": f"coalesce(_weft_reason, {errors})",
        }
    if condition is not None:
        values = {
            name: f"CASE WHEN {condition} THEN {sql} ELSE "
            f"{quoted(name) if name in cloth.columns else 'NULL'} END"
            for name, sql in values.items()
        }
    cloth.hide(*tries.values())
    columns = {name: values.get(name, quoted(name)) for name in cloth.columns} | values
    cloth.reshape(columns, **changes)


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
