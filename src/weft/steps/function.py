"""Content-addressed Python functions: found in a project's files by reading them, not importing
them; run from the stored source.

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

from weft import codec
from weft.canonical import digest
from weft.reason import reason_of
from weft.schema.schema import Schema, SchemaError, StoredSchema, nearest
from weft.steps.module import FunctionError, failed_line, load_modules, parse_module, read_modules
from weft.steps.normal import normalised

F = TypeVar("F", bound=Callable[..., Any])
Form = Literal["row", "batch", "class"]


def function(
    *,
    returns: Mapping[str, str] | None = None,
    adds: Mapping[str, str] | None = None,
    needs: list[str] | None = None,
) -> Callable[[F], F]:
    """Declare what a function returns and which packages it needs.

    `returns` names all columns of the result, `adds` those that it adds to the record's own or
    gives another type; without either the columns stay as they are. The values must be literals,
    because they are read without running the file.
    """

    def declare(target: F) -> F:
        target.__weft__ = {"returns": returns, "adds": adds, "needs": needs or []}  # type: ignore[attr-defined]
        return target

    return declare


@dataclass(frozen=True)
class FunctionVersion:
    """One version of a function: its name, its hash, and all that is needed to run it again.

    `form` is `row` (a record as a dict in, a dict or None out), `batch` (an Arrow RecordBatch in
    and out) or `class` (a source or sink).
    """

    ref: str
    version: str
    form: Form
    modules: Mapping[str, str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    returns: StoredSchema | None = None
    adds: StoredSchema | None = None
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
        except (Exception, SystemExit) as failure:
            place = failed_line(failure)
            where = f"{place[0].replace('.', '/')}.py line {place[1]}: " if place else ""
            raise FunctionError(
                f"Function {self.ref!r} cannot be loaded: {where}{reason_of(failure)}.",
                code="function.load-failed",
                hint="Its file must import without errors where the worker runs.",
                function=self.ref,
                line=place[1] if place else None,
            ) from failure
        return found

    def to_dict(self) -> dict[str, Any]:
        """Its stored form."""
        return codec.pack(self)

    @staticmethod
    def from_dict(form: Mapping[str, Any]) -> FunctionVersion:
        """The version behind a stored form."""
        return codec.unpack(FunctionVersion, form)


def find(ref: str, folder: Path) -> FunctionVersion:
    """The function `module:name` in the Python files of a folder, with its version."""
    module, _, name = ref.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise FunctionError(
            f"{ref!r} is not a reference to a function.",
            code="function.bad-reference",
            hint="Write it as `module:name`, for example shop.rules:mask_email.",
        )
    modules = read_modules(module, ref, folder)
    tree = parse_module(modules[module], module)
    definition = _definition(tree, name, ref)
    declared = _declaration(definition, ref)
    python, spark = ".".join(platform.python_version_tuple()[:2]), _spark_version()
    others = {other: normalised(parse_module(text, other)) for other, text in modules.items()}
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
