"""What is wrong with a project: problems with their place, collected until all are known, and the
error that carries them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weft.errors import WeftError
from weft.loading.document import Document, Path


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, where it is, and what to do about it."""

    code: str
    message: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    path: str = ""


class ProjectError(WeftError):
    """A project that cannot run as it is written; `problems` says all that is wrong with it."""

    code = "project.invalid"
    domain = "user"

    @staticmethod
    def of(problems: Sequence[Problem], *, project: str | None = None) -> ProjectError:
        """The error for these problems, in the order of their places."""
        placed = sorted(problems, key=lambda one: (one.file or "", one.line or 0, one.column or 0))
        first = placed[0]
        more = f" (And {len(placed) - 1} more.)" if len(placed) > 1 else ""
        return ProjectError(
            f"The project cannot run: {first.message}{more}",
            hint=first.hint,
            project=project,
            problems=[asdict(problem) for problem in placed],
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong."""
        return tuple(Problem(**problem) for problem in self.ids["problems"])


class Problems:
    """Collects the problems of one project file, each at the place in the file where it is."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def add(
        self, code: str, path: Path, message: str, hint: str | None, *, on_key: bool = False
    ) -> None:
        """Note a problem of the value at a path, or of its key."""
        line, column = self.document.place(path, on_key=on_key)
        shown = ".".join(str(part) for part in path)
        problem = Problem(code, message, hint, self.document.file, line, column, shown)
        if problem not in self.problems:
            self.problems.append(problem)

    def tells(self, path: Path) -> bool:
        """Whether a problem of the value at a path is noted."""
        shown = ".".join(str(part) for part in path)
        return any(problem.path == shown for problem in self.problems)

    def add_error(self, error: WeftError, path: Path, *, prefix: str = "") -> None:
        """Note an error that something else raised about the value at a path."""
        self.add(error.code, path, prefix + error.message, error.hint)

    def raise_any(self, *, project: str | None = None) -> None:
        """Raise everything that was noted, if anything was."""
        if self.problems:
            raise ProjectError.of(self.problems, project=project)


def shown(value: Any) -> str:
    """A wrong value as a message shows it."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
