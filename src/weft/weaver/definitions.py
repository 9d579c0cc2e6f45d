"""What a version of code says, as texts that people read, and how two versions differ. Pure.

In come a version and the project or rule that has it, out come its texts (a function's modules, or a pipeline or rule
as its author would write it) and what else it depends on. Called by the routes of functions.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from weft import codec
from weft.loading.deployed import document_of
from weft.project.definition import PipelineSpec, Project
from weft.project.secret import masked
from weft.schema.schema import Schema
from weft.steps.environment import differences
from weft.steps.step import Function, to_dict
from weft.weaver.functions import CodeVersion
from weft.weaving.rule import Rule

CONTEXT_LINES = 3


@dataclass(frozen=True)
class FunctionUse:
    """A step that calls a function: in which pipeline, as which of its steps, with which parameters.

    `version` is that of the function with these parameters, as the records of a knot's steps have it.
    """

    pipeline: str
    step: int
    parameters: Mapping[str, Any]
    version: str


@dataclass(frozen=True)
class CodeDefinition:
    """One version, whole. `sources` are texts by module, or the definition of a pipeline or rule.

    `installed` are the packages that a function needs as they were when it was declared, and `differs` is what is
    installed beside the weaver and is another.
    """

    version: CodeVersion
    sources: Mapping[str, str]
    intact: bool = True
    form: str | None = None
    needs: tuple[str, ...] = ()
    installed: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    spark: str | None = None
    kernel: str | None = None
    returns: Mapping[str, str] | None = None
    adds: Mapping[str, str] | None = None
    calls: tuple[FunctionUse, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class OtherFact:
    """One thing beside the sources in which two versions differ."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class CodeDiff:
    """How two versions differ: a unified diff of their sources, and what else."""

    kind: str
    ref: str
    before: str
    after: str
    diff: str
    others: tuple[OtherFact, ...]


def define_function(found: CodeVersion, project: Project) -> CodeDefinition:
    """A version of a function as the newest project that has it uses it."""
    function = project.functions[found.ref]
    return CodeDefinition(
        version=found,
        sources=function.modules,
        intact=function.is_intact(),
        form=function.form,
        needs=function.needs,
        installed=function.installed,
        python=function.python or None,
        spark=function.spark or None,
        kernel=function.kernel or None,
        returns=_columns(function.returns),
        adds=_columns(function.adds),
        calls=tuple(_calls(project, found.ref)),
        differs=differences(function),
    )


def define_pipeline(found: CodeVersion, project: Project) -> CodeDefinition:
    """A version of a pipeline: what its author would write, with the streams that it reads; secrets are covered."""
    document = document_of(Project.from_dict(masked(project.to_dict())))
    spec = project.pipelines.get(found.ref)
    kinds = ("pipelines", "products") if spec else ("streams", "tables")
    written = {
        kind: {found.ref: document[kind][found.ref]}
        for kind in kinds
        if found.ref in document[kind]
    }
    inputs = spec.inputs if spec else ()
    for kind in ("streams", "tables"):
        read = {name: document[kind][name] for name in inputs if name in document[kind]}
        written |= {kind: read} if read else {}
    written["processing"] = document["processing"]
    return CodeDefinition(
        version=found,
        sources={"weft.yaml": _yaml(written)},
        functions={ref: project.functions[ref].version for ref in _functions(spec)},
    )


def define_rule(found: CodeVersion, rule: Rule, functions: Mapping[str, str]) -> CodeDefinition:
    """A version of a rule: what makes it, as it was attached; `functions` are the versions deployed now."""
    written = {"stream": rule.stream, "output": rule.output}
    steps = [to_dict(step) for step in rule.steps]
    called = [step.ref for step in rule.steps if isinstance(step, Function)]
    return CodeDefinition(
        version=found,
        sources={"rule.yaml": _yaml({**written, "steps": steps})},
        functions={ref: functions[ref] for ref in called if ref in functions},
    )


def compare_versions(before: CodeDefinition, after: CodeDefinition) -> CodeDiff:
    """How one version differs from another."""
    parts = [
        _diff(name, before.sources.get(name), after.sources.get(name))
        for name in dict.fromkeys([*before.sources, *after.sources])
    ]
    return CodeDiff(
        kind=after.version.kind,
        ref=after.version.ref,
        before=before.version.version,
        after=after.version.version,
        diff="".join(parts),
        others=tuple(_others(before, after)),
    )


def _others(before: CodeDefinition, after: CodeDefinition) -> Iterator[OtherFact]:
    old, new = dict(_facts(before)), dict(_facts(after))
    for what in dict.fromkeys([*old, *new]):
        if old.get(what) != new.get(what):
            yield OtherFact(what, old.get(what), new.get(what))


def _facts(definition: CodeDefinition) -> Iterator[tuple[str, str | None]]:
    """Everything beside the sources that makes a version what it is, each as a text."""
    yield "form", definition.form
    yield "Python", definition.python
    yield "Spark", definition.spark
    yield "kernel", definition.kernel
    yield "needs", ", ".join(definition.needs) or None
    for name, version in definition.installed.items():
        yield f"package {name}", version
    for what, columns in (("returns", definition.returns), ("adds", definition.adds)):
        yield what, None if columns is None else _flow(columns)
    for call in definition.calls:
        yield f"parameters in {call.pipeline}, step {call.step}", _flow(call.parameters)
    for ref, version in definition.functions.items():
        yield f"function {ref}", version


def _diff(name: str, before: str | None, after: str | None) -> str:
    file = name if name.endswith(".yaml") else f"{name.replace('.', '/')}.py"
    lines = difflib.unified_diff(
        _lines(before),
        _lines(after),
        "/dev/null" if before is None else f"a/{file}",
        "/dev/null" if after is None else f"b/{file}",
        n=CONTEXT_LINES,
    )
    return "".join(lines)


def _lines(text: str | None) -> list[str]:
    """The lines of a text, each with its end: one that lacks its own would run into the next."""
    return [f"{line}\n" for line in (text or "").splitlines()]


def _calls(project: Project, ref: str) -> Iterator[FunctionUse]:
    function = project.functions[ref]
    for spec in project.pipelines.values():
        for number, step in enumerate(spec.steps, start=1):
            if isinstance(step, Function) and step.ref == ref:
                version = function.bind(step.params).version
                yield FunctionUse(spec.name, number, step.params, version)


def _functions(spec: PipelineSpec | None) -> tuple[str, ...]:
    return spec.functions if spec else ()


def _columns(schema: Schema | None) -> dict[str, str] | None:
    return None if schema is None else schema.to_dict()


def _flow(value: Mapping[str, Any]) -> str:
    text = yaml.safe_dump(dict(value), default_flow_style=True, allow_unicode=True, width=10_000)
    return str(text).strip()


def _yaml(value: Mapping[str, Any]) -> str:
    plain = codec.to_form(_Written(dict(value)))["value"]
    text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=10_000)
    return str(text)


@dataclass(frozen=True)
class _Written:
    """A value that YAML has a form for: without tuples, moments and the like."""

    value: Mapping[str, Any]
