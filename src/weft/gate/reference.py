"""Names in expressions: fields of `_weft`, parts of structs and maps, and what is told of a name
that is not there."""

from __future__ import annotations

from weft.gate.grammar import ExpressionError
from weft.gate.refusal import REFUSED
from weft.gate.term import Term, mismatch, shorten
from weft.schema.schema import Schema, Type, nearest, quoted
from weft.schema.weft import WEFT_TYPE


def provenance(names: list[str]) -> Term:
    """A field of `_weft`, which may be read."""
    known = {field.name: field.type for field in WEFT_TYPE.fields}
    if len(names) != 2 or names[1].lower() not in known:
        raise ExpressionError(
            f"{'.'.join(names)!r} is not a field of `_weft`. Its fields are {', '.join(known)}.",
            code="expression.unknown-column",
            hint="Write it as _weft.event_time, for example.",
            column=".".join(names),
        )
    return Term(f"`_weft`.`{names[1].lower()}`", known[names[1].lower()], plain=True)


def unknown(name: str, schema: Schema) -> ExpressionError:
    """The error for a name that is no column."""
    if name.lower() in REFUSED:
        reason = REFUSED[name.lower()]
        return ExpressionError(
            f"{name} is refused: {reason.why}.", code=reason.code, hint=reason.hint
        )
    names = schema.names
    near = nearest(name, names)
    return ExpressionError(
        f"There is no column {name!r}. The columns are {', '.join(names)}.",
        code="expression.unknown-column",
        hint=f"Did you mean {near!r}?" if near else "Texts stand in 'single quotes'.",
        column=name,
        columns=list(names),
    )


def part(term: Term, name: str) -> Term:
    """The part of a struct (or of each struct in an array), or the value of a map."""
    holder = term.type
    many = holder.name == "array" and holder.items[0].name == "struct"
    struct = holder.items[0] if many else holder
    sql = f"{term.closed}.{quoted(name)}"
    if struct.name == "struct":
        found = Schema(struct.fields).find(name)
        if found is None:
            inner = [field.name for field in struct.fields]
            near = nearest(name, inner)
            raise ExpressionError(
                f"{shorten(term.sql)} has no part {name!r}. Its parts are {', '.join(inner)}.",
                code="expression.unknown-column",
                hint=f"Did you mean {near!r}?" if near else "Use one of the parts listed.",
                column=name,
            )
        kind = Type("array", items=(found.type,)) if many else found.type
        return Term(sql, kind, term.total, plain=term.plain).made_of([term])
    if holder.name == "map" and holder.items[0].name == "string":
        return Term(sql, holder.items[1], term.total, plain=term.plain).made_of([term])
    if holder.name == "unknown":
        return Term(sql, holder, total=False).made_of([term])
    raise mismatch(
        f"{shorten(term.sql)} is of type {holder} and has no part {name!r}.",
        "Put a name that holds a dot in backticks: `a.b`.",
    )
