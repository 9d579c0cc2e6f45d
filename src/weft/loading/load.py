"""A project file to a checked project. Called by every command, the weaver and the test kit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.loading.check import check_draft
from weft.loading.cursor import Cursor
from weft.loading.document import Document, from_mapping, from_text, odd_values
from weft.loading.expand import expand
from weft.loading.problem import Problem, Problems, ProjectError
from weft.loading.read import read_draft
from weft.project.definition import Project

FILE = "weft.yaml"


def load(
    source: Path | str | Mapping[str, Any],
    *,
    folder: Path | str | None = None,
    runs_code: bool = True,
) -> Project:
    """The project of a file, of a folder with a `weft.yaml`, or of a mapping.

    Raises one ProjectError with everything that is wrong. Python files stand beside the project file; those of a
    mapping are looked for in `folder`. They are loaded once, in a process of its own, unless `runs_code` says not to.
    """
    if isinstance(source, Mapping):
        document, beside = from_mapping(source), Path(folder or ".")
    else:
        path = _find(Path(source))
        document, beside = _read(path), Path(folder) if folder else path.parent
    report = Problems(document)
    for flaw in document.flaws:
        report.problems.append(
            Problem(flaw.code, flaw.message, flaw.hint, document.file, flaw.line, flaw.column)
        )
    if any(flaw.code != "project.duplicate-key" for flaw in document.flaws):
        report.raise_any()
    draft = read_draft(Cursor(document.value, (), report))
    _refuse_odd_values(document, report)
    place = beside.resolve()
    project = check_draft(draft, report, place, runs_code=runs_code) if draft is not None else None
    report.raise_any(project=draft.name if draft else None)
    assert project is not None
    return expand(project)


def _refuse_odd_values(document: Document, report: Problems) -> None:
    """Refuse what could not be stored. Where something was said of such a value already, that is enough."""
    odd = list(odd_values(document.value))
    for path, why in odd:
        if not report.tells(path):
            report.add(
                "project.out-of-range",
                path,
                f"This value cannot be kept: {why}.",
                "Write a smaller number, or put it in quotes.",
            )
    if odd:
        report.raise_any()


def _find(path: Path) -> Path:
    found = path / FILE if path.is_dir() else path
    if found.is_file():
        return found
    near = sorted(one.name for one in found.parent.glob("*.y*ml")) if found.parent.is_dir() else []
    raise ProjectError.of(
        [
            Problem(
                "project.file-missing",
                f"There is no project file {found}.",
                f"Did you mean {near[0]}?" if near else "`weft init` writes one.",
                str(found),
            )
        ]
    )


def _read(path: Path) -> Document:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as failure:
        raise ProjectError.of(
            [
                Problem(
                    "project.encoding",
                    f"{path} is not UTF-8 text: {failure.reason} at byte {failure.start}.",
                    "Save it as UTF-8.",
                    str(path),
                )
            ]
        ) from failure
    return from_text(text, file=str(path))
