"""Content-addressed Python functions: found in a project's files by reading them, not importing them; run from the stored source.

`find` is called when a project is checked, `FunctionVersion.load` where records are woven.
"""

from __future__ import annotations

import ast
import importlib.metadata
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from weft.canonical import digest
from weft.errors import WeftError
from weft.weaving.module import load_modules
from weft.weaving.normal import normalised
from weft.weaving.schema import Schema, SchemaError, nearest

F = TypeVar("F", bound=Callable[..., Any])
Form = Literal["row", "batch", "class"]


class FunctionError(WeftError):
    """A function that cannot be found, read or run."""

    code = "function.invalid"
    domain = "user"


def function(
    *,
    returns: Mapping[str, str] | None = None,
    adds: Mapping[str, str] | None = None,
    needs: list[str] | None = None,
) -> Callable[[F], F]:
    """Declare what a function returns and which packages it needs.

    `returns` names all columns of the result, `adds` those that it adds to the record's own or gives
    another type; without either the columns stay as they are. The values must be literals, because
    they are read without running the file.
    """

    def declare(target: F) -> F:
        target.__weft__ = {"returns": returns, "adds": adds, "needs": needs or []}  # type: ignore[attr-defined]
        return target

    return declare


@dataclass(frozen=True)
class FunctionVersion:
    """One version of a function: what it is called, its hash, and all that is needed to run it again.

    `form` is `row` (a record as a dict in, a dict or None out), `batch` (an Arrow RecordBatch in and
    out) or `class` (a source or sink).
    """

    ref: str
    version: str
    form: Form
    modules: Mapping[str, str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    returns: Schema | None = None
    adds: Schema | None = None
    needs: tuple[str, ...] = ()
    python: str = ""
    spark: str = ""

    @property
    def source(self) -> str:
        """The file in which it is written, as it was."""
        return self.modules[self.ref.partition(":")[0]]

    def bind(self, parameters: Mapping[str, Any]) -> FunctionVersion:
        """This function with parameters given: a version of its own."""
        if dict(parameters) == dict(self.parameters):
            return self
        version = digest({"function": self.version, "parameters": dict(parameters)})
        return replace(self, version=version, parameters=dict(parameters))

    def result(self, columns: Schema) -> Schema:
        """The columns that it returns for records of these columns."""
        if self.returns is not None:
            return self.returns
        if self.adds is None:
            return columns
        fields = [self.adds.find(old.name) or old for old in columns]
        fields += [new for new in self.adds if columns.find(new.name) is None]
        return Schema(tuple(fields))

    def load(self) -> Callable[..., Any]:
        """The function itself, from the stored source; modules of other versions stay apart."""
        module, _, name = self.ref.partition(":")
        try:
            found: Callable[..., Any] = load_modules(self.modules, module)[name]
        except Exception as failure:
            raise FunctionError(
                f"Function {self.ref!r} cannot be loaded: {failure}.",
                code="function.load-failed",
                hint="Its file must import without errors where the worker runs.",
                function=self.ref,
            ) from failure
        return found

    def to_dict(self) -> dict[str, Any]:
        """Its canonical JSON form."""
        return {
            "ref": self.ref,
            "version": self.version,
            "form": self.form,
            "modules": dict(self.modules),
            "parameters": dict(self.parameters),
            "returns": None if self.returns is None else self.returns.to_json(),
            "adds": None if self.adds is None else self.adds.to_json(),
            "needs": list(self.needs),
            "python": self.python,
            "spark": self.spark,
        }

    @staticmethod
    def from_dict(form: Mapping[str, Any]) -> FunctionVersion:
        """The version that `to_dict` wrote."""
        fields = dict(form)
        for name in ("returns", "adds"):
            fields[name] = None if fields[name] is None else Schema.from_json(fields[name])
        fields["needs"] = tuple(fields["needs"])
        return FunctionVersion(**fields)


def find(ref: str, folder: Path) -> FunctionVersion:
    """The function `module:name` in the Python files of a folder, with its version."""
    module, _, name = ref.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise FunctionError(
            f"{ref!r} is not a reference to a function.",
            code="function.bad-reference",
            hint="Write it as `module:name`, for example shop.rules:mask_email.",
        )
    modules = _read_modules(module, ref, folder)
    tree = _parse(modules[module], module)
    definition = _definition(tree, name, ref)
    declared = _declaration(definition, ref)
    python, spark = ".".join(platform.python_version_tuple()[:2]), _spark_version()
    others = {other: normalised(_parse(text, other)) for other, text in modules.items()}
    others[module] = normalised(tree, name)
    version = digest(
        {
            "name": name,
            "sources": others,
            "needs": declared["needs"],
            "python": python,
            "spark": spark,
        }
    )
    return FunctionVersion(
        ref=ref,
        version=version,
        form=_form(definition, ref),
        modules=modules,
        returns=_schema(declared["returns"], ref),
        adds=_schema(declared["adds"], ref),
        needs=tuple(declared["needs"]),
        python=python,
        spark=spark,
    )


def _spark_version() -> str:
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _path(module: str, folder: Path) -> Path | None:
    base = folder.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


def _read_modules(module: str, ref: str, folder: Path) -> dict[str, str]:
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
        waiting += _imported(_parse(found[name], name), name, path.name == "__init__.py")
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


def _parse(source: str, module: str) -> ast.Module:
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


Definition = ast.FunctionDef | ast.ClassDef


def _definition(tree: ast.Module, name: str, ref: str) -> Definition:
    defined: dict[str, Definition] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.AsyncFunctionDef) and node.name == name:
            raise FunctionError(
                f"Function {ref!r} is async.",
                code="function.signature",
                hint="Write it as a plain `def`.",
                function=ref,
            )
    if name in defined:
        return defined[name]
    near = nearest(name, defined)
    raise FunctionError(
        f"Function {ref!r} cannot be found: its file defines {', '.join(defined) or 'nothing'}.",
        code="function.not-found",
        hint=f"Did you mean {near!r}?" if near else "Define it at the top level of the file.",
        function=ref,
    )


def _form(definition: Definition, ref: str) -> Form:
    if isinstance(definition, ast.ClassDef):
        return "class"
    arguments = definition.args
    positional = arguments.posonlyargs + arguments.args
    if not positional and arguments.vararg is None:
        raise FunctionError(
            f"Function {ref!r} takes no record.",
            code="function.signature",
            hint="Its first parameter is the record: def clean(record: dict) -> dict | None.",
            function=ref,
        )
    annotation = positional[0].annotation if positional else None
    spelled = "" if annotation is None else ast.unparse(annotation)
    return "batch" if spelled.strip("'\"").rpartition(".")[2] == "RecordBatch" else "row"


def _declaration(definition: Definition, ref: str) -> dict[str, Any]:
    declared: dict[str, Any] = {"returns": None, "adds": None, "needs": []}
    for decorator in definition.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        if ast.unparse(decorator.func).rpartition(".")[2] != "function":
            continue
        for keyword in decorator.keywords:
            if keyword.arg not in declared:
                continue
            try:
                declared[keyword.arg] = ast.literal_eval(keyword.value)
            except ValueError as failure:
                raise FunctionError(
                    f"`{keyword.arg}` of function {ref!r} is not a literal.",
                    code="function.declaration",
                    hint="It is read without running the file: write the names and types out.",
                    function=ref,
                ) from failure
    return declared


def _schema(columns: Mapping[str, str] | None, ref: str) -> Schema | None:
    if columns is None:
        return None
    try:
        return Schema.of(columns)
    except SchemaError as failure:
        raise FunctionError(
            f"Function {ref!r} declares columns that cannot be: {failure.message}",
            code="function.declaration",
            hint=failure.hint,
            function=ref,
        ) from failure
