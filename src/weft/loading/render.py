"""Problems of a project as plain text for a terminal."""

from __future__ import annotations

from weft.loading.problem import Problem, ProjectError


def render(error: ProjectError) -> str:
    """Every problem on lines of its own, and how many there are."""
    problems = error.problems
    lines = [line for problem in problems for line in _lines(problem)]
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    return "\n".join([*lines, "", f"{count} found."])


def _lines(problem: Problem) -> list[str]:
    place = [problem.file or "project"]
    if problem.line is not None:
        place += [str(problem.line), str(problem.column or 1)]
    elif problem.path:
        place.append(problem.path)
    lines = [f"{':'.join(place)}: {problem.message} [{problem.code}]"]
    return [*lines, f"    {problem.hint}"] if problem.hint else lines
