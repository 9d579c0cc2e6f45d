"""The judge of expressions: walks a parsed expression, refuses what is not on the list, and writes it down again with its type.

What is written down is made of checked pieces only, so Spark never sees the author's own text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from weft.weaving import call, coercion
from weft.weaving.grammar import ExpressionError
from weft.weaving.refusal import REFUSED
from weft.weaving.schema import Schema, SchemaError, Type, nearest, parse_type, quoted
from weft.weaving.term import (
    Term,
    mismatch,
    require_boolean,
    require_comparable,
    shorten,
    text_literal,
    unify,
)

WEFT = parse_type(
    "struct<id:string,knot:bigint,at:timestamp,source:string,partition:int,event_time:timestamp,"
    "watermark:timestamp>"
)
# A longer chain of operators would be nested as deep in Spark's own tree.
MAX_CHAIN = 300

_ARITHMETIC: Mapping[type[exp.Expression], tuple[str, str]] = {
    exp.Add: ("+", "sum"),
    exp.Sub: ("-", "sum"),
    exp.Mul: ("*", "product"),
    exp.Div: ("/", "product"),
    exp.Mod: ("%", "product"),
    exp.IntDiv: ("div", "product"),
}
_COMPARISON: Mapping[type[exp.Expression], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.NullSafeEQ: "<=>",
}
_BITS: Mapping[type[exp.Expression], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}
_BINARY = (
    *_ARITHMETIC,
    *_COMPARISON,
    *_BITS,
    exp.NullSafeNEQ,
    exp.And,
    exp.Or,
    exp.DPipe,
)
_QUERIES = (exp.Query, exp.Exists, exp.Table, exp.From, exp.Values, exp.With)
UNITS = frozenset(
    [
        "year",
        "quarter",
        "month",
        "week",
        "day",
        "dayofyear",
        "hour",
        "minute",
        "second",
        "millisecond",
        "microsecond",
    ]
)
_FIELDS = UNITS | {"dayofweek", "dow", "doy", "yearofweek", "epoch"}


class Inference:
    """Judges one expression over the columns of a record; collects what it reads and calls."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.columns: dict[str, None] = {}
        self.functions: dict[str, None] = {}
        self.pinned: dict[str, None] = {}
        self.scopes: list[Mapping[str, Type]] = []

    def term(self, node: Any) -> Term:
        """The judged form of a node."""
        if isinstance(node, _BINARY):
            return self.chain(node)
        handler = self._handlers.get(type(node))
        if handler is None:
            raise unsupported(node)
        return handler(self, node)

    def chain(self, node: Any) -> Term:
        """Operators that follow each other, taken from the left without recursion."""
        chain: list[exp.Expression] = []
        while isinstance(node, _BINARY):
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
            left = self.binary(operator, left, self.term(operator.expression))
        return left

    def binary(self, node: exp.Expression, left: Term, right: Term) -> Term:
        kind = type(node)
        total = left.total and right.total
        growth = max(left.growth, right.growth)
        if kind in _ARITHMETIC:
            sign, group = _ARITHMETIC[kind]
            result, raises = _arithmetic(sign, left, right)
            return _joined(left, sign, right, result, total and not raises, group)
        if kind in (exp.And, exp.Or):
            word = "and" if kind is exp.And else "or"
            for side in (left, right):
                require_boolean(side, f"`{word}`")
            return _joined(left, word, right, coercion.BOOLEAN, total, word)
        if kind is exp.DPipe:
            result = call.concatenated([left, right])
            return _joined(left, "||", right, result, total, "||").grown(growth * 2)
        if kind in _BITS:
            if any(not _is_whole(side) for side in (left, right)):
                raise mismatch(
                    f"`{_BITS[kind]}` needs whole numbers.", "Cast both sides to long or int."
                )
            result = unify([left, right], "Combining")
            return _joined(left, _BITS[kind], right, result, total, _BITS[kind])
        require_comparable(left, right)
        if kind is exp.NullSafeNEQ:
            return Term(
                f"not ({left.closed} <=> {right.closed})", coercion.BOOLEAN, total, group="not"
            )
        sql = f"{left.closed} {_COMPARISON[kind]} {right.closed}"
        return Term(sql, coercion.BOOLEAN, total, group="compare")

    def column(self, node: Any) -> Term:
        """A column, a variable of a lambda, or a part of one of them."""
        names = _path(node)
        first = names[0]
        for scope in reversed(self.scopes):
            if first.lower() in scope:
                return self.parts(Term(quoted(first), scope[first.lower()]), names[1:])
        if first.lower() == "_weft":
            return self.provenance(names)
        field = self.schema.find(first)
        if field is None:
            raise self.unknown(first)
        self.columns[field.name] = None
        return self.parts(Term(quoted(field.name), field.type), names[1:])

    def provenance(self, names: list[str]) -> Term:
        known = {field.name: field.type for field in WEFT.fields}
        if len(names) != 2 or names[1].lower() not in known:
            raise ExpressionError(
                f"{'.'.join(names)!r} is not a field of `_weft`. Its fields are {', '.join(known)}.",
                code="expression.unknown-column",
                hint="Write it as _weft.event_time, for example.",
                column=".".join(names),
            )
        self.columns[f"_weft.{names[1].lower()}"] = None
        return Term(f"`_weft`.`{names[1].lower()}`", known[names[1].lower()])

    def unknown(self, name: str) -> ExpressionError:
        if name.lower() in REFUSED:
            reason = REFUSED[name.lower()]
            return ExpressionError(
                f"{name} is refused: {reason.why}.", code=reason.code, hint=reason.hint
            )
        names = self.schema.names
        near = nearest(name, names)
        return ExpressionError(
            f"There is no column {name!r}. The columns are {', '.join(names)}.",
            code="expression.unknown-column",
            hint=f"Did you mean {near!r}?" if near else "Texts stand in 'single quotes'.",
            column=name,
            columns=list(names),
        )

    def parts(self, term: Term, names: list[str]) -> Term:
        for name in names:
            term = self.part(term, name)
        return term

    def part(self, term: Term, name: str) -> Term:
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
            return Term(sql, kind, term.total, growth=term.growth)
        if holder.name == "map":
            return Term(sql, holder.items[1], term.total, growth=term.growth)
        if holder.name == "unknown":
            return Term(sql, holder, total=False, growth=term.growth)
        raise mismatch(
            f"{shorten(term.sql)} is of type {holder} and has no part {name!r}.",
            "Put a name that holds a dot in backticks: `a.b`.",
        )

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
        return text_literal(node.name) if node.is_string else _number(node.name)

    def raw(self, node: exp.RawString) -> Term:
        return text_literal(node.name)

    def binary_literal(self, node: exp.HexString) -> Term:
        digits = node.name
        return Term(f"X'{digits}'", Type("binary"), literal=True, value=bytes.fromhex(digits))

    def boolean(self, node: exp.Boolean) -> Term:
        value = bool(node.this)
        return Term("true" if value else "false", coercion.BOOLEAN, literal=True, value=value)

    def null(self, node: exp.Null) -> Term:
        return Term("null", coercion.NULL, literal=True)

    def paren(self, node: exp.Paren) -> Term:
        return self.term(node.this)

    def negation(self, node: exp.Not) -> Term:
        inner = self.term(node.this)
        require_boolean(inner, "`not`")
        return Term(f"not {inner.closed}", coercion.BOOLEAN, inner.total, group="not")

    def minus(self, node: exp.Neg) -> Term:
        inner = self.term(node.this)
        if inner.literal and isinstance(inner.value, int) and not isinstance(inner.value, bool):
            return _number(f"-{inner.sql}")
        if inner.type.name not in (*coercion.NUMERICS, "interval") and not coercion.is_open(
            inner.type
        ):
            raise mismatch(
                f"{shorten(inner.sql)} is of type {inner.type} and has no negative.",
                "Cast it first.",
            )
        total = inner.total and inner.type.name in ("decimal", "float", "double")
        return Term(f"- {inner.closed}", inner.type, total, growth=inner.growth, group="minus")

    def invert(self, node: exp.BitwiseNot) -> Term:
        inner = self.term(node.this)
        if not _is_whole(inner):
            raise mismatch("`~` needs a whole number.", "Cast it to long or int.")
        return Term(f"~ {inner.closed}", inner.type, inner.total, group="invert")

    def shift(self, node: exp.Expression) -> Term:
        name = "shiftleft" if isinstance(node, exp.BitwiseLeftShift) else "shiftright"
        return call.judge(self, name, [node.this, node.expression])

    def member(self, node: exp.In) -> Term:
        only(node, "this", "expressions")
        held = self.term(node.this)
        given = [self.term(item) for item in node.expressions]
        for one in given:
            require_comparable(held, one)
        inside = ", ".join(one.sql for one in given)
        total = held.total and all(one.total for one in given)
        return Term(f"{held.closed} in ({inside})", coercion.BOOLEAN, total, group="compare")

    def between(self, node: exp.Between) -> Term:
        only(node, "this", "low", "high")
        held, low, high = (self.term(node.args[name]) for name in ("this", "low", "high"))
        return call.between([held, low, high])

    def is_(self, node: exp.Is) -> Term:
        only(node, "this", "expression")
        held = self.term(node.this)
        what = node.expression
        if isinstance(what, exp.Boolean):
            require_boolean(held, "`is true`")
        elif not isinstance(what, exp.Null):
            raise unsupported(node)
        word = "null" if isinstance(what, exp.Null) else str(what.this).lower()
        return Term(f"{held.closed} is {word}", coercion.BOOLEAN, held.total, group="compare")

    def like(self, node: exp.Expression) -> Term:
        only(node, "this", "expression")
        name = "rlike" if isinstance(node, exp.RegexpLike) else type(node).__name__.lower()
        return call.judge(self, name, [node.this, node.expression])

    def escape(self, node: exp.Escape) -> Term:
        inner = self.term(node.this)
        sign = self.term(node.expression)
        if not isinstance(node.this, exp.Like | exp.ILike) or len(str(sign.value)) != 1:
            raise unsupported(node)
        return Term(f"{inner.sql[:-1]}, {sign.sql})", coercion.BOOLEAN, total=False)

    def case(self, node: exp.Case) -> Term:
        only(node, "this", "ifs", "default")
        subject = self.term(node.this) if node.this else None
        sql = f"case {subject.closed}" if subject else "case"
        pieces: list[Term] = [subject] if subject else []
        results: list[Term] = []
        for branch in node.args["ifs"]:
            condition, result = self.term(branch.this), self.term(branch.args["true"])
            if subject:
                require_comparable(subject, condition)
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
        total, growth = all(piece.total for piece in pieces), max(piece.growth for piece in pieces)
        return Term(f"{sql} end", unify(results, "Giving"), total, growth=growth, group="case")

    def cast(self, node: exp.Cast) -> Term:
        only(node, "this", "to", "safe", "_type")
        try:
            target = parse_type(node.to.sql(dialect="spark").lower())
        except SchemaError as failure:
            raise mismatch(failure.message, failure.hint or "Use a type of Spark.") from failure
        return call.cast(self.term(node.this), target, safe=bool(node.args.get("safe")))

    def bracket(self, node: exp.Bracket) -> Term:
        only(node, "this", "expressions")
        if len(node.expressions) != 1 or isinstance(node.expressions[0], exp.Slice):
            raise unsupported(node)
        return call.item(self.term(node.this), self.term(node.expressions[0]))

    def interval(self, node: exp.Interval) -> Term:
        only(node, "this", "unit")
        unit = node.args.get("unit")
        amount = node.this
        if not isinstance(unit, exp.Var) or not isinstance(amount, exp.Literal):
            raise unsupported(node)
        word = unit.name.lower().removesuffix("s")
        number = amount.name.strip().lstrip("+-")
        if word not in UNITS or not number.replace(".", "", 1).isdecimal():
            raise mismatch(
                f"interval {amount.name} {unit.name} is not an interval.",
                "Write interval 5 minutes.",
            )
        return Term(f"interval '{amount.name.strip()}' {word}", coercion.INTERVAL, literal=True)

    def extract(self, node: exp.Extract) -> Term:
        return call.extracted(node.this.name.lower(), self.term(node.expression), _FIELDS)

    def called(self, node: exp.Anonymous) -> Term:
        only(node, "this", "expressions")
        return call.judge(self, node.name.lower(), node.expressions)

    def moment(self, node: exp.Expression) -> Term:
        if any(value for value in node.args.values()):
            raise unsupported(node)
        name = "current_date" if isinstance(node, exp.CurrentDate) else "current_timestamp"
        return call.judge(self, name, [])

    _handlers: Mapping[type, Callable[[Inference, Any], Term]] = {
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
        exp.Extract: extract,
        exp.Anonymous: called,
        exp.CurrentTimestamp: moment,
        exp.CurrentDate: moment,
    }


def only(node: exp.Expression, *names: str) -> None:
    """Refuse a node that says more than these parts."""
    if any(value for name, value in node.args.items() if name not in names):
        raise unsupported(node)


def unsupported(node: Any) -> ExpressionError:
    """The error for something that an expression cannot hold."""
    if isinstance(node, _QUERIES) or (isinstance(node, exp.In) and node.args.get("query")):
        return ExpressionError(
            "An expression cannot hold a query.",
            code="expression.subquery",
            hint="It sees one record only; join streams in a pipeline.",
        )
    if isinstance(node, exp.Window):
        return ExpressionError(
            "An expression cannot look at other records.",
            code="expression.window",
            hint="Aggregate in a pipeline with a `window`.",
        )
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
        return ExpressionError(
            "`*` cannot stand here.", code="expression.star", hint="Name the columns."
        )
    if isinstance(node, exp.Alias):
        return ExpressionError(
            f"The expression ends in a name, {node.alias!r}.",
            code="expression.syntax",
            hint="Write `set: {name: expression}` to name a result, and operators between values.",
        )
    word = type(node).__name__ if isinstance(node, exp.Expression) else repr(node)
    return ExpressionError(
        f"The expression holds something that is not taken ({word}).",
        code="expression.unsupported",
        hint="Use plain operators and functions, such as element_at(list, 1) or coalesce(a, b).",
    )


def _path(node: Any) -> list[str]:
    if isinstance(node, exp.Identifier):
        return [node.name]
    only(node, "this", "table", "db", "catalog")
    if node.is_star:
        raise unsupported(node)
    return [part.name for part in node.parts]


def _number(text: str) -> Term:
    """A number as written: whole, decimal or (with an exponent) double, as Spark reads it."""
    digits = text.lstrip("-")
    if "e" in digits.lower():
        if not math.isfinite(float(text)):
            raise mismatch(
                f"{text} is not a number that a double can hold.", "Write a smaller one."
            )
        return Term(text, coercion.DOUBLE, literal=True, value=float(text))
    whole, point, fraction = digits.partition(".")
    size = len((whole + fraction).lstrip("0")) or 1
    if size > 38 or len(fraction) > 38:
        raise mismatch(f"{shorten(text)} has more than 38 digits.", "Write a smaller one.")
    if point:
        precision = max(len(whole.lstrip("0")) + len(fraction), 1)
        kind = Type("decimal", precision=precision, scale=len(fraction))
        return Term(text, kind, literal=True, value=float(text))
    value = int(text)
    if -(2**31) <= value < 2**31:
        return Term(text, coercion.INT, literal=True, value=value, bound=value)
    if -(2**63) <= value < 2**63:
        return Term(text, coercion.BIGINT, literal=True, value=value, bound=value)
    return Term(text, Type("decimal", precision=size), literal=True, value=value)


def _joined(left: Term, sign: str, right: Term, kind: Type, total: bool, group: str) -> Term:
    first = left.sql if left.group == group else left.closed
    growth = max(left.growth, right.growth)
    return Term(f"{first} {sign} {right.closed}", kind, total, growth=growth, group=group)


def _arithmetic(sign: str, left: Term, right: Term) -> tuple[Type, bool]:
    found = coercion.arithmetic(sign, _counted(left, right), _counted(right, left))
    if found is None:
        raise mismatch(
            f"{shorten(left.sql)} ({left.type}) {sign} {shorten(right.sql)} ({right.type}) is not "
            f"possible.",
            "Join texts with ||, or cast to a number with try_cast(x as double).",
        )
    kind, raises = found
    if sign == "/" and kind.name == "double" and right.literal and right.value:
        raises = False
    return kind, raises


def _counted(term: Term, other: Term) -> Type:
    """The type of an operand; a whole number beside a decimal has just the digits that are written."""
    if term.literal and isinstance(term.value, int) and other.type.name == "decimal":
        return Type("decimal", precision=len(str(abs(term.value))))
    return term.type


def _is_whole(term: Term) -> bool:
    return term.type.name in coercion.INTEGRALS or coercion.is_open(term.type)
