"""The judge of expressions: walks a parsed expression, refuses what is not on the list, and
writes it down again with its type.

What is written down is made of checked pieces only, so Spark never sees the author's own text.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from sqlglot import exp

from weft.gate import argument, call, coercion, conversion
from weft.gate.call import UNITS
from weft.gate.coercion import NUMERICS
from weft.gate.grammar import MAX_DEPTH, ExpressionError, no_interval, only, too_deep, unsupported
from weft.gate.operator import BINARY, combined, is_whole, number
from weft.gate.reference import part, provenance, unknown
from weft.gate.term import (
    Term,
    converts,
    mismatch,
    require_boolean,
    require_comparable,
    shorten,
    text_literal,
    unify,
)
from weft.schema.schema import Schema, SchemaError, Type, parse_type, quoted
from weft.schema.weft import WEFT

# A longer chain of operators would be nested as deep in Spark's own tree.
MAX_CHAIN = 300

_AMOUNT = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)")
_INTERVALS = {
    **dict.fromkeys(("day", "week"), coercion.DAYS),
    **dict.fromkeys(("month", "year", "quarter"), coercion.MONTHS),
}


class Judge:
    """Judges one expression over the columns of a record; collects what it reads and calls."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.columns: dict[str, None] = {}
        self.functions: dict[str, None] = {}
        self.pinned: dict[str, None] = {}
        self.scopes: list[Mapping[str, Type]] = []
        self.zones = 0

    def term(self, node: Any) -> Term:
        """The judged form of a node."""
        if isinstance(node, BINARY):
            return self.chain(node)
        handler = self._handlers.get(type(node))
        if handler is None:
            raise unsupported(node)
        return handler(self, node)

    def chain(self, node: Any) -> Term:
        """Operators that follow each other, taken from the left without recursion."""
        chain: list[exp.Expression] = []
        while isinstance(node, BINARY):
            chain.append(node)
            node = node.this
        if len(chain) > MAX_CHAIN:
            raise ExpressionError(
                f"The expression chains more than {MAX_CHAIN} operators.",
                code="expression.too-deep",
                hint="Use `in (…)`, concat() or several steps.",
            )
        left = self.term(node)
        for operator in reversed(chain):
            left = combined(operator, left, self.term(operator.expression))
        return left

    def column(self, node: Any) -> Term:
        """A column, a variable of a lambda, or a part of one of them."""
        names = _path(node)
        first = names[0]
        for scope in reversed(self.scopes):
            if first.lower() in scope:
                return self.parts(Term(quoted(first), scope[first.lower()], plain=True), names[1:])
        if first.lower() == WEFT:
            term = provenance(names)
            self.columns[f"_weft.{names[1].lower()}"] = None
            return term
        field = self.schema.find(first)
        if field is None:
            raise unknown(first, self.schema)
        self.columns[field.name] = None
        return self.parts(Term(quoted(field.name), field.type, plain=True), names[1:])

    def parts(self, term: Term, names: list[str]) -> Term:
        for name in names:
            term = part(term, name)
        return term

    def dot(self, node: exp.Dot) -> Term:
        if isinstance(node.expression, exp.Identifier):
            names: list[str] = []
            inner: Any = node
            while isinstance(inner, exp.Dot) and isinstance(inner.expression, exp.Identifier):
                names.append(inner.expression.name)
                inner = inner.this
            base = self.term(inner)
            return self.parts(base, names[::-1])
        raise ExpressionError(
            "A function cannot be called by a name with dots.",
            code="expression.refused-function",
            hint="Call built-in functions by their plain names.",
        )

    def literal(self, node: exp.Literal) -> Term:
        return text_literal(node.name) if node.is_string else number(node.name)

    def raw(self, node: exp.RawString) -> Term:
        return text_literal(node.name)

    def binary_literal(self, node: exp.HexString) -> Term:
        digits = node.name
        if len(digits) % 2 or not all(digit in string.hexdigits for digit in digits):
            raise mismatch(f"X'{shorten(digits)}' is not binary.", "Write pairs of digits 0 to F.")
        return Term(f"X'{digits}'", Type("binary"), literal=True, value=bytes.fromhex(digits))

    def boolean(self, node: exp.Boolean) -> Term:
        value = bool(node.this)
        return Term(
            "true" if value else "false", coercion.BOOLEAN, literal=True, value=value, plain=True
        )

    def null(self, node: exp.Null) -> Term:
        return Term("null", coercion.NULL, literal=True, plain=True)

    def paren(self, node: exp.Paren) -> Term:
        return self.term(node.this)

    def negation(self, node: exp.Not) -> Term:
        inner = self.term(node.this)
        require_boolean(inner, "`not`")
        return _negated(inner)

    def minus(self, node: exp.Neg) -> Term:
        inner = self.term(node.this)
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return number(f"-{inner.sql}")
        kind = inner.type
        if not (coercion.is_open(kind) or coercion.is_interval(kind)) and kind.name not in NUMERICS:
            raise mismatch(
                f"{shorten(inner.sql)} is of type {kind} and has no negative.", "Cast it first."
            )
        total = inner.total and coercion.negates(inner.type)
        return Term(f"- {inner.closed}", inner.type, total, group="minus").made_of([inner])

    def invert(self, node: exp.BitwiseNot) -> Term:
        inner = self.term(node.this)
        if not is_whole(inner):
            raise mismatch("`~` needs a whole number.", "Cast it to long or int.")
        return Term(f"~ {inner.closed}", inner.type, inner.total, group="invert").made_of([inner])

    def shift(self, node: exp.Expression) -> Term:
        name = "shiftleft" if isinstance(node, exp.BitwiseLeftShift) else "shiftright"
        return call.judge(self, name, [node.this, node.expression])

    def member(self, node: exp.In) -> Term:
        only(node, "this", "expressions")
        held = self.term(node.this)
        given = [self.term(item) for item in node.expressions]
        for one in given:
            require_comparable(held, one)
        fitting = converts([held, *given], unify([held, *given], "Comparing"))
        inside = ", ".join(one.sql for one in given)
        total = fitting and held.total and all(one.total for one in given)
        term = Term(f"{held.closed} in ({inside})", coercion.BOOLEAN, total, group="compare")
        return term.made_of([held, *given])

    def between(self, node: exp.Between) -> Term:
        only(node, "this", "low", "high")
        held, low, high = (self.term(node.args[name]) for name in ("this", "low", "high"))
        from_low, to_high = (require_comparable(held, one) for one in (low, high))
        sql = f"{held.closed} between {low.closed} and {high.closed}"
        # Anything but a column is computed twice where the kernel does not keep it.
        total = held.plain and held.total and low.total and high.total and from_low and to_high
        term = Term(sql, coercion.BOOLEAN, total, group="compare")
        return term.made_of([held, held, low, high])

    def is_(self, node: exp.Is) -> Term:
        only(node, "this", "expression")
        held = self.term(node.this)
        what = node.expression
        if isinstance(what, exp.Boolean):
            require_boolean(held, "`is true`")
        elif not isinstance(what, exp.Null):
            raise unsupported(node)
        word = "null" if isinstance(what, exp.Null) else str(what.this).lower()
        term = Term(f"{held.closed} is {word}", coercion.BOOLEAN, held.total, group="compare")
        return term.made_of([held])

    def like(self, node: exp.Expression) -> Term:
        only(node, "this", "expression", "negate")
        name = "rlike" if isinstance(node, exp.RegexpLike) else type(node).__name__.lower()
        term = call.judge(self, name, [node.this, node.expression])
        return _negated(term) if node.args.get("negate") else term

    def escape(self, node: exp.Escape) -> Term:
        like = node.this
        if not isinstance(like, exp.Like | exp.ILike):
            raise unsupported(node)
        given = [like.this, like.expression, node.expression]
        term = call.judge(self, type(like).__name__.lower(), given)
        return _negated(term) if like.args.get("negate") else term

    def case(self, node: exp.Case) -> Term:
        only(node, "this", "ifs", "default")
        subject = self.term(node.this) if node.this else None
        sql = f"case {subject.closed}" if subject else "case"
        pieces: list[Term] = [subject] if subject else []
        results: list[Term] = []
        fitting = True
        for branch in node.args["ifs"]:
            condition, result = self.term(branch.this), self.term(branch.args["true"])
            if subject:
                fitting &= require_comparable(subject, condition)
            else:
                require_boolean(condition, "`when`")
            sql += f" when {condition.sql} then {result.sql}"
            results.append(result)
            pieces += [condition, result]
        if node.args.get("default") is not None:
            default = self.term(node.args["default"])
            sql += f" else {default.sql}"
            results.append(default)
            pieces.append(default)
        together = unify(results, "Giving")
        total = fitting and converts(results, together) and all(piece.total for piece in pieces)
        # Spark writes the subject out for every branch.
        pieces += [subject] * (len(results) - 1) if subject else []
        return Term(f"{sql} end", together, total, group="case").made_of(pieces)

    def cast(self, node: exp.Cast) -> Term:
        only(node, "this", "to", "safe", "_type")
        try:
            target = parse_type(node.to.sql(dialect="spark").lower())
        except SchemaError as failure:
            raise mismatch(failure.message, failure.hint or "Use a type of Spark.") from failure
        return conversion.cast(self.term(node.this), target, safe=bool(node.args.get("safe")))

    def bracket(self, node: exp.Bracket) -> Term:
        only(node, "this", "expressions")
        if len(node.expressions) != 1 or isinstance(node.expressions[0], exp.Slice):
            raise unsupported(node)
        return conversion.item(self.term(node.this), self.term(node.expressions[0]))

    def interval(self, node: exp.Interval) -> Term:
        only(node, "this", "unit", "fraction_in_string")
        unit = node.args.get("unit")
        amount = node.this
        if unit is None and isinstance(amount, exp.Literal) and amount.is_string:
            return self.intervals(amount.name)
        if isinstance(unit, exp.IntervalSpan):
            raise no_interval(f"{amount.name} {unit.this.name} to {unit.expression.name}")
        if not isinstance(unit, exp.Var) or not isinstance(amount, exp.Literal):
            raise unsupported(node)
        word = unit.name.lower().removesuffix("s")
        number = amount.name.strip().lstrip("+-")
        whole = number.replace(".", "", 1) if word == "second" else number
        if word not in UNITS or not whole.isdecimal():
            raise no_interval(f"{amount.name} {unit.name}")
        kind = _INTERVALS.get(word, coercion.INTERVAL)
        return Term(f"interval '{amount.name.strip()}' {word}", kind, literal=True)

    def intervals(self, text: str) -> Term:
        """Several amounts in one text, `1 hour 30 minutes`, as the sum of an interval for each."""
        found = _AMOUNT.findall(text)
        if not found:
            raise no_interval(text)
        each: list[exp.Expression] = [
            exp.Interval(this=exp.Literal.string(amount), unit=exp.Var(this=unit))
            for amount, unit in found
        ]
        units = {unit.lower().removesuffix("s") for _, unit in found}
        months = [unit for unit in units if _INTERVALS.get(unit) == coercion.MONTHS]
        if months and len(months) < len(units):
            raise mismatch(
                f"interval {text!r} has both months and days, and no month has a number of days.",
                "Add them one after the other: at + interval 1 month + interval 2 days.",
            )
        return self.term(reduce(lambda one, two: exp.Add(this=one, expression=two), each))

    def zoned(self, node: exp.AtTimeZone) -> Term:
        """A moment as the clocks of a time zone show it, or the moment at which they show a time."""
        only(node, "this", "zone")
        self.zones += 1
        if self.zones > MAX_DEPTH:
            raise too_deep()
        held, zone = self.term(node.this), self.term(node.args["zone"])
        if held.type.name not in ("timestamp", "timestamp_ntz", "unknown"):
            raise mismatch(
                f"{shorten(held.sql)} is of type {held.type}, and `at time zone` needs a timestamp.",
                f"Write cast({shorten(held.sql)} as timestamp) at time zone {shorten(zone.sql)}.",
            )
        is_local = held.type.name == "timestamp_ntz"
        name = "to_utc_timestamp" if is_local else "from_utc_timestamp"
        argument.fits(name, 1, "words", zone)
        self.functions[name] = None
        sql = f"{name}({held.sql}, {zone.sql})"
        shown = Term(sql, Type("timestamp"), total=False).made_of([held, zone])
        return shown if is_local else conversion.cast(shown, Type("timestamp_ntz"), safe=False)

    def extract(self, node: exp.Extract) -> Term:
        return conversion.extracted(node.this.name.lower(), self.term(node.expression))

    def called(self, node: exp.Anonymous) -> Term:
        only(node, "this", "expressions")
        return call.judge(self, node.name.lower(), node.expressions)

    def moment(self, node: exp.Expression) -> Term:
        if any(value for value in node.args.values()):
            raise unsupported(node)
        name = "current_date" if isinstance(node, exp.CurrentDate) else "current_timestamp"
        return call.judge(self, name, [])

    _handlers: Mapping[type, Callable[[Judge, Any], Term]] = {
        exp.Column: column,
        exp.Identifier: column,
        exp.Dot: dot,
        exp.Literal: literal,
        exp.RawString: raw,
        exp.HexString: binary_literal,
        exp.Boolean: boolean,
        exp.Null: null,
        exp.Paren: paren,
        exp.Not: negation,
        exp.Neg: minus,
        exp.BitwiseNot: invert,
        exp.BitwiseLeftShift: shift,
        exp.BitwiseRightShift: shift,
        exp.In: member,
        exp.Between: between,
        exp.Is: is_,
        exp.Like: like,
        exp.ILike: like,
        exp.RegexpLike: like,
        exp.Escape: escape,
        exp.Case: case,
        exp.Cast: cast,
        exp.TryCast: cast,
        exp.Bracket: bracket,
        exp.Interval: interval,
        exp.AtTimeZone: zoned,
        exp.Extract: extract,
        exp.Anonymous: called,
        exp.CurrentTimestamp: moment,
        exp.CurrentDate: moment,
    }


def _negated(term: Term) -> Term:
    negated = Term(f"not {term.closed}", coercion.BOOLEAN, term.total, group="not")
    return negated.made_of([term])


def _path(node: Any) -> list[str]:
    if isinstance(node, exp.Identifier):
        return [node.name]
    only(node, "this", "table", "db", "catalog")
    if node.is_star:
        raise unsupported(node)
    return [part.name for part in node.parts]
