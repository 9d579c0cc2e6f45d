"""The normal form of Python source, in which comments, layout and docstrings leave no trace.
Called to version functions; recorded versions are proven by it, so what it writes stays the same."""

from __future__ import annotations

import ast
import re

_NAME = re.compile(r"[^\W\d]\w*")


def normalised(tree: ast.Module, name: str | None = None) -> str:
    """The code of a module, or of one of its definitions with all of the module that it uses."""
    body = tree.body if name is None else _reachable(tree, name)
    shown = []
    for statement in body:
        if _is_text(statement):
            continue
        shown.append(ast.dump(_Bare().visit(ast.parse(ast.unparse(statement)))))
    return "\n".join(shown)


class _Bare(ast.NodeTransformer):
    """Leaves out docstrings."""

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        if isinstance(node, documented) and _is_text(node.body[0]):
            node.body = node.body[1:] or [ast.Pass()]
        return node


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _reachable(tree: ast.Module, name: str) -> list[ast.stmt]:
    """The statements of a module that a definition depends on, in their order.

    A statement that binds no name (a call, a condition, a loop) may change anything, so it counts.
    """
    bindings = [(_bound(statement), statement) for statement in tree.body]
    wanted: set[str] = {name}
    chosen: set[int] = set()
    grown = True
    while grown:
        grown = False
        for number, (bound, statement) in enumerate(bindings):
            if number not in chosen and (not bound or bound & wanted):
                chosen.add(number)
                wanted |= _used(statement)
                grown = True
    return [statement for number, (_, statement) in enumerate(bindings) if number in chosen]


def _used(statement: ast.stmt) -> set[str]:
    """Every name that a statement mentions; annotations in quotes count by their text."""
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    for node in ast.walk(statement):
        if isinstance(node, ast.arg | ast.AnnAssign):
            names |= _quoted(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names |= _quoted(node.returns)
    return names


def _quoted(annotation: ast.expr | None) -> set[str]:
    """The names in an annotation that stand in quotes."""
    texts = [
        node.value
        for node in (ast.walk(annotation) if annotation is not None else ())
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return {name for text in texts for name in _NAME.findall(text)}


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement defines or changes; `import *` is taken to define nothing, and so
    is `from __future__`, which changes what annotations are."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return set()
    if isinstance(statement, ast.Import | ast.ImportFrom):
        names = {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
        return set() if "*" in names else names
    if isinstance(statement, ast.Assign):
        return {name for target in statement.targets for name in _names(target)}
    if isinstance(statement, ast.AnnAssign | ast.AugAssign):
        return _names(statement.target)
    return set()


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
