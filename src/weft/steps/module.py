"""Python modules as stored sources: read from a folder without running them, and run beside each
other, so that two versions of one file can be loaded in one process."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from weft.canonical import digest
from weft.errors import WeftError
from weft.schema.type import nearest

_FILE = "<weft "
"""What stands before the name of a module where Python shows the file of a line."""


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
    root = f"_weft_{digest(dict(sources))[:16]}"
    if root not in _finder.families:
        _finder.families[root] = _Family(root, sources)
        package = ModuleType(root)
        package.__path__ = []
        sys.modules.setdefault(root, package)
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    return vars(importlib.import_module(f"{root}.{module}"))


def failed_line(error: BaseException) -> tuple[str, int] | None:
    """The module and the line of a stored source that an exception came out of, the innermost."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(_FILE) and name.endswith(">"):
            found = name[len(_FILE) : -1], trace.tb_lineno
        trace = trace.tb_next
    return found


def refused_arguments(made: Callable[..., Any], arguments: Mapping[str, Any]) -> str | None:
    """Why a class cannot be made with these arguments, or None; it is not made here."""
    try:
        inspect.signature(made).bind(**arguments)
    except TypeError as error:
        return str(error)
    except ValueError:  # one without a signature, such as one written in C
        return None
    return None


class _Family:
    """The modules of one version: they import each other, and everything else from the outside.

    Each is known to Python as `<root>.<its name>`. A class has a module that way, which is what
    dataclasses, pickle, enums and type hints look for, and two versions of a file stay apart.
    """

    def __init__(self, root: str, sources: Mapping[str, str]) -> None:
        self.root = root
        self.sources = dict(sources)

    def has(self, name: str) -> bool:
        return any(other == name or other.startswith(name + ".") for other in self.sources)

    def is_package(self, name: str) -> bool:
        return any(other.startswith(name + ".") for other in self.sources)

    def run(self, module: ModuleType, name: str) -> None:
        """Run the source of a module in it; a package without a source is empty."""
        file = f"{_FILE}{name}>"
        namespace = vars(module)
        namespace["__file__"] = file
        namespace["__builtins__"] = {**vars(builtins), "__import__": self.importer}
        exec(compile(self.sources.get(name, ""), file, "exec", dont_inherit=True), namespace)

    def importer(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """What `import` calls in these modules: a name of the family's is taken from the family."""
        if level or not self.has(name):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        if fromlist:
            return builtins.__import__(f"{self.root}.{name}", globals, locals, fromlist)
        importlib.import_module(f"{self.root}.{name}")
        return sys.modules[f"{self.root}.{name.partition('.')[0]}"]


class _Finder(MetaPathFinder, Loader):
    """Tells Python's own import where the modules of every version are; it does the rest."""

    def __init__(self) -> None:
        self.families: dict[str, _Family] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, name = fullname.partition(".")
        family = self.families.get(root)
        if family is None or not name or not family.has(name):
            return None
        return ModuleSpec(fullname, self, is_package=family.is_package(name))

    def exec_module(self, module: ModuleType) -> None:
        root, _, name = module.__name__.partition(".")
        self.families[root].run(module, name)


_finder = _Finder()
