"""Python modules as stored sources: read from a folder without running them, and run beside each
other, so that two versions of one file can be loaded in one process."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from weft.canonical import digest
from weft.errors import WeftError
from weft.weaving.type import nearest

_loaded: dict[str, dict[str, Any]] = {}


class FunctionError(WeftError):
    """A function that cannot be found, read or run."""

    code = "function.invalid"
    domain = "user"


def _path(module: str, folder: Path) -> Path | None:
    base = folder.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


def read_modules(module: str, ref: str, folder: Path) -> dict[str, str]:
    """The source of a module and of every module of the project that it imports, and so on."""
    if _path(module, folder) is None:
        here = sorted(
            ".".join(path.relative_to(folder).with_suffix("").parts)
            for path in folder.rglob("*.py")
            if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        )
        near = nearest(module, here)
        raise FunctionError(
            f"Function {ref!r} cannot be found: there is no file {module.replace('.', '/')}.py.",
            code="function.no-file",
            hint=f"Did you mean {near}:{ref.partition(':')[2]}?"
            if near
            else "Python files stand beside the project file.",
            function=ref,
        )
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _path(name, folder)
        if path is None or name in found:
            continue
        found[name] = path.read_text(encoding="utf-8")
        waiting += _imported(parse_module(found[name], name), name, path.name == "__init__.py")
        waiting += [name.rpartition(".")[0]] if "." in name else []
    return dict(sorted(found.items()))


def _imported(tree: ast.Module, module: str, package: bool) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".")
                above = above[: len(above) - node.level + (1 if package else 0)]
                base = ".".join([*above, base] if base else above)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def parse_module(source: str, module: str) -> ast.Module:
    """The syntax tree of a module's source."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as failure:
        line = getattr(failure, "lineno", None)
        raise FunctionError(
            f"{module.replace('.', '/')}.py line {line} is not Python: {failure}.",
            code="function.syntax",
            hint="Correct the file.",
            line=line,
        ) from failure


def load_modules(sources: Mapping[str, str], module: str) -> dict[str, Any]:
    """The names of one of these modules, run at most once a process for the same sources."""
    key = digest([dict(sources), module])
    if key not in _loaded:
        _loaded[key] = vars(_Family(sources).get(module))
    return _loaded[key]


class _Family:
    """The modules of one version: they import each other, and everything else from the outside."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources
        self.modules: dict[str, ModuleType] = {}

    def get(self, name: str) -> ModuleType:
        if name in self.modules:
            return self.modules[name]
        module = ModuleType(name)
        is_package = any(other.startswith(name + ".") for other in self.sources)
        package = name if is_package else name.rpartition(".")[0]
        namespace = vars(module)
        namespace["__package__"] = package
        namespace["__file__"] = f"<weft {name}>"
        namespace["__builtins__"] = {**vars(builtins), "__import__": self.importer}
        if is_package:
            namespace["__path__"] = []
        self.modules[name] = module
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(self.get(parent), leaf, module)
        code = compile(self.sources.get(name, ""), f"<weft {name}>", "exec")
        exec(code, namespace)
        return module

    def importer(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """What `import` calls in these modules."""
        full = name
        if level:
            above = str((globals or {})["__package__"]).split(".")
            above = above[: len(above) - level + 1]
            full = ".".join([*above, name] if name else above)
        if not self.has(full):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = self.get(full)
        for leaf in fromlist or ():
            if self.has(f"{full}.{leaf}"):
                self.get(f"{full}.{leaf}")
        return module if fromlist else self.get(full.partition(".")[0])

    def has(self, name: str) -> bool:
        return any(other == name or other.startswith(name + ".") for other in self.sources)
