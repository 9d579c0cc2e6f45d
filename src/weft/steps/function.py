"""Content-addressed Python functions: found in a project's files by reading them, not importing
them; run from the stored source.

`find` is called when a project is checked, `FunctionVersion.load` where records are woven.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from weft import codec
from weft.canonical import digest
from weft.reason import reason_of
from weft.schema.schema import Schema, SchemaError, StoredSchema, nearest
from weft.steps.environment import (
    installed,
    kernel_version,
    package_of,
    python_version,
    spark_version,
)
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
    and out) or `class` (a source or sink). `version` covers all but `modules` as they are laid out,
    `returns`, `adds` and `installed`; a version that was recorded before there was a `kernel` in it
    has none, and stays what it was.
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
    kernel: str = ""
    """The hash of the kernel that it was declared beside."""
    installed: Mapping[str, str] = field(default_factory=dict)
    """Of each package that it needs, the version that was installed where it was declared."""

    @property
    def source(self) -> str:
        """The file in which it is written, as it was."""
        return self.modules[self.ref.partition(":")[0]]

    def bind(self, parameters: Mapping[str, Any]) -> FunctionVersion:
        """This function with parameters given: a version of its own."""
        if dict(parameters) == dict(self.parameters):
            return self
        version = _bound(self.version, parameters)
        return replace(self, version=version, parameters=dict(parameters))

    def is_intact(self) -> bool:
        """Whether its version is that of its sources, by the recipe of its time.

        Another Python writes the normal form of a source in another way, and cannot tell.
        """
        if self.python != python_version():
            return True
        try:
            made = self._computed(self.kernel)
        except (FunctionError, KeyError):
            return False
        return self.version == (_bound(made, self.parameters) if self.parameters else made)

    def following(self, old: FunctionVersion) -> FunctionVersion:
        """This version under the hash of an older one that is the same but has no kernel recorded."""
        if old.kernel or old.parameters or self._computed("") != old.version:
            return self
        return replace(self, version=old.version, kernel="")

    def _computed(self, kernel: str) -> str:
        module, _, name = self.ref.partition(":")
        trees = {other: parse_module(text, other) for other, text in self.modules.items()}
        sources = {other: normalised(tree) for other, tree in trees.items()}
        sources[module] = normalised(trees[module], name)
        recipe = {
            "name": name,
            "sources": sources,
            "needs": list(self.needs),
            "python": self.python,
            "spark": self.spark,
        }
        return digest(recipe | ({"kernel": kernel} if kernel else {}))

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
    needs = _needs(declared["needs"], ref)
    found = FunctionVersion(
        ref=ref,
        version="",
        form=_form(definition, ref),
        modules=modules,
        returns=_schema(declared["returns"], ref),
        adds=_schema(declared["adds"], ref),
        needs=needs,
        python=python_version(),
        spark=spark_version(),
        kernel=kernel_version(),
        installed=installed(needs),
    )
    return replace(found, version=found._computed(found.kernel))


def _bound(version: str, parameters: Mapping[str, Any]) -> str:
    return digest({"function": version, "parameters": dict(parameters)})


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


def _needs(needs: Any, ref: str) -> tuple[str, ...]:
    listed = needs if isinstance(needs, list | tuple) else [None]
    wrong = [need for need in listed if not isinstance(need, str) or package_of(need) is None]
    if wrong:
        shown = repr(wrong[0] if listed is needs else needs)
        raise FunctionError(
            f"`needs` of function {ref!r} names no package: {shown[:80]}.",
            code="function.declaration",
            hint='Write a list of packages as pip takes them, such as ["geopy==2.4"].',
            function=ref,
        )
    return tuple(needs)


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
