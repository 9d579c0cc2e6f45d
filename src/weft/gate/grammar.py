"""Text to one parsed SQL expression, within limits: what comes out has one root and every
function call as it was written."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from weft.errors import WeftError

MAX_BYTES = 64 * 1024
MAX_NODES = 2_000
MAX_TOKENS = 8_000
# The parser needs about twenty stack frames a level, and Python has a thousand for everything.
MAX_DEPTH = 32

_QUERIES = (exp.Query, exp.Exists, exp.Table, exp.From, exp.Values, exp.With)
_STATEMENTS = {TokenType.SELECT, TokenType.WITH, *SparkParser.STATEMENT_PARSERS}
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
# An amount whose unit stands behind the text, amounts with their units, or the form of `hour to minute`.
_LASTING = re.compile(
    r"\s*[+-]?\d+(?:\.\d+)?\s*|(?:\s*[+-]?\d+(?:\.\d+)?\s*[A-Za-z]+)+\s*|\s*[+-]?\d[\d :.-]*"
)
_PREFIX = {TokenType.NOT, TokenType.DASH, TokenType.TILDE, TokenType.PLUS, TokenType.ARROW}


class ExpressionError(WeftError):
    """An expression that is refused."""

    code = "expression.invalid"
    domain = "user"


class Grammar(Spark):
    """Spark's SQL with every call kept as name and arguments, and nothing rewritten."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'"]

    class Parser(SparkParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parser
            for name, parser in SparkParser.FUNCTION_PARSERS.items()
            if name in ("CAST", "TRY_CAST", "EXTRACT")
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {
            token: kind
            for token, kind in SparkParser.NO_PAREN_FUNCTIONS.items()
            if token in (TokenType.CURRENT_DATE, TokenType.CURRENT_TIMESTAMP)
        }
        COLUMN_OPERATORS: ClassVar[dict[TokenType, Any]] = {
            token: parser
            for token, parser in SparkParser.COLUMN_OPERATORS.items()
            if token in (TokenType.DOT, TokenType.DCOLON)
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            "CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
        }


_GRAMMAR = Grammar()


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text; refuses one that has none, is too long, or holds control characters."""
    size = len(text.encode("utf-8", errors="surrogatepass"))
    if size > MAX_BYTES:
        raise ExpressionError(
            f"The expression has {size} bytes; at most {MAX_BYTES} are taken.",
            code="expression.too-long",
            hint="Write it as a Python function of the project.",
        )
    for character in text:
        if (ord(character) < 32 and character not in "\t\r\n") or 0x7F <= ord(character) < 0xA0:
            raise _control(character)
        if 0xD800 <= ord(character) < 0xE000 or character in "\u2028\u2029\ufeff":
            raise _control(character)
    try:
        tokens = _GRAMMAR.tokenize(text)
    except SqlglotError as failure:
        raise _syntax(text, str(failure)) from failure
    if not tokens:
        raise ExpressionError(
            "The expression is empty.",
            code="expression.empty",
            hint="Write one, such as total > 0.",
        )
    return tokens


def parse(text: str) -> exp.Expression:
    """The one expression that a text says; refuses everything else."""
    tokens = tokens_of(text)
    _check_size(tokens)
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise ExpressionError(
            "Only one expression is taken, and no semicolon.",
            code="expression.several",
            hint="Write each expression as a step of its own.",
        )
    _check_intervals(tokens)
    try:
        roots = _GRAMMAR.parser().parse_into(exp.Condition, tokens, text)
    except RecursionError as failure:
        raise too_deep() from failure
    except SqlglotError as failure:
        errors = getattr(failure, "errors", None) or [{}]
        place = errors[0].get("highlight") or ""
        reason = str(errors[0].get("description") or "it cannot be parsed").rstrip(".")
        if "<class" in reason:  # of the parser's own, which say nothing to who wrote this
            reason = "something is missing"
        if tokens[0].token_type in _STATEMENTS:
            raise _statement() from failure
        raise _syntax(text, f"{reason}, near {place!r}" if place else reason) from failure
    root = roots[0] if roots else None
    if not isinstance(root, exp.Expression):
        raise _syntax(text, "it is not an expression")
    _check_nodes(root)
    return root


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


def _check_size(tokens: list[Token]) -> None:
    if len(tokens) > MAX_TOKENS:
        raise _too_large()
    depth = prefixes = 0
    for token in tokens:
        kind = token.token_type
        prefixes = prefixes + 1 if kind in _PREFIX else 0
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if depth + prefixes > MAX_DEPTH:
            raise too_deep()


def _check_intervals(tokens: list[Token]) -> None:
    """The parser takes the amount that it finds in an interval's text and leaves out what else is there."""
    for token, text in pairwise(tokens):
        is_written = token.token_type is TokenType.INTERVAL and text.token_type is TokenType.STRING
        if is_written and not _LASTING.fullmatch(text.text):
            raise no_interval(text.text)


def no_interval(text: str) -> ExpressionError:
    """The error for a text that is no interval."""
    return ExpressionError(
        f"{text[:60]!r} is not an interval.",
        code="expression.type",
        hint="Write interval '1 hour 30 minutes', or interval 5 minutes.",
    )


def _check_nodes(root: exp.Expression) -> None:
    for count, _ in enumerate(root.walk(bfs=True), start=1):
        if count > MAX_NODES:
            raise _too_large()


def _statement() -> ExpressionError:
    return ExpressionError(
        "A statement is not an expression.",
        code="expression.statement",
        hint="Write a condition or a value only, such as total > 0.",
    )


def _control(character: str) -> ExpressionError:
    return ExpressionError(
        f"The expression holds the control character U+{ord(character):04X}.",
        code="expression.control-character",
        hint="Take it out, or write it as an escape such as '\\u0000'.",
    )


def too_deep() -> ExpressionError:
    return ExpressionError(
        f"The expression is nested deeper than {MAX_DEPTH} levels.",
        code="expression.too-deep",
        hint="Split it over several `set` steps.",
    )


def _too_large() -> ExpressionError:
    return ExpressionError(
        f"The expression has more than {MAX_NODES} parts.",
        code="expression.too-large",
        hint="Split it over several steps, or write it as a Python function of the project.",
    )


def _syntax(text: str, reason: str) -> ExpressionError:
    shown = text if len(text) <= 80 else text[:77] + "..."
    return ExpressionError(
        f"{shown!r} is not an expression: {' '.join(reason.split())}.",
        code="expression.syntax",
        hint="Expressions are Spark SQL, such as total > 0 and country = 'DE'.",
    )
