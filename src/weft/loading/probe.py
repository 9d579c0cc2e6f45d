"""Loads the Python of a project once, in a process of its own, so that `check` can tell what a worker
would stumble over. Called by `check`; run as a module it is that process.

What is loaded runs: nobody should check a project whose Python they would not start. It cannot hurt
the one who asks, though: it may end its process, never end, or write what it likes to its output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from weft.errors import WeftError
from weft.steps.function import FunctionVersion
from weft.steps.module import FunctionError, refused_arguments

LONGEST_S = 60.0

Role = Literal["function", "reducer", "source", "sink"]


@dataclass(frozen=True)
class Probe:
    """One thing to load: a function from its stored source, a source or sink from its file."""

    role: Role
    ref: str
    function: FunctionVersion | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the class is made with, or the parameters that the function is called with."""
    owner: str = ""
    """The stream or pipeline that names it."""

    def to_dict(self) -> dict[str, Any]:
        """The form in which the process gets it."""
        return {
            "role": self.role,
            "ref": self.ref,
            "function": None if self.function is None else self.function.to_dict(),
            "options": dict(self.options),
            "owner": self.owner,
        }

    @staticmethod
    def from_dict(form: Mapping[str, Any]) -> Probe:
        """The probe that `to_dict` wrote."""
        function = form["function"]
        loaded = None if function is None else FunctionVersion.from_dict(function)
        return Probe(form["role"], form["ref"], loaded, form["options"], form["owner"])

    def run(self) -> None:
        """Load it here; raises what a worker would be told."""
        if self.role == "source":
            from weft.sources.own import check_class

            check_class(self.ref, self.options, stream=self.owner)
        elif self.role == "sink":
            from weft.sinks.python import get_class

            given = {name: value for name, value in self.options.items() if name != "class"}
            get_class(self.ref, given, stream=self.owner)
        else:
            assert self.function is not None
            loaded = self.function.load()
            if self.role == "reducer":
                from weft.windows.reducer import check_reducer

                check_reducer(loaded, self.ref)
            else:
                self._check_parameters(loaded)

    def _check_parameters(self, function: Callable[..., Any]) -> None:
        refused = refused_arguments(partial(function, {}), self.options)
        if refused:
            raise FunctionError(
                f"Function {self.ref!r} does not take its `params`: {refused}.",
                code="function.signature",
                hint="It is called with the record, and with `params` by name.",
                function=self.ref,
            )


def run_probes(
    probes: Sequence[Probe], folder: Path, *, longest_s: float = LONGEST_S
) -> list[WeftError | None]:
    """What is wrong with each of these, or None; nothing is known of those behind one that never ends."""
    if not probes:
        return []
    given = {"folder": str(folder), "probes": [probe.to_dict() for probe in probes]}
    command = [sys.executable, "-P", "-m", __name__]
    ended: str | None = None
    try:
        done = subprocess.run(
            command,
            input=json.dumps(given, default=str).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=longest_s,
            check=False,
        )
        told, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        told, code = late.stdout or b"", 0
        ended = f"it did not end within {longest_s:g} s"
    found = [json.loads(line) for line in told.splitlines()]
    answers = [None if form is None else WeftError.from_dict(form) for form in found]
    if len(answers) == len(probes):
        return answers
    stuck = probes[len(answers)]
    failure = FunctionError(
        f"{stuck.ref!r} cannot be loaded: {ended or f'it ended Python, with code {code}'}.",
        code="function.load-failed",
        hint="What its file does while it is imported must end soon, and must not end Python.",
        function=stuck.ref,
    )
    return [*answers, failure, *[None] * (len(probes) - len(answers) - 1)]


def main() -> None:
    """Load what the standard input names, and write one line for each."""
    # What the loaded code prints must not get among the answers, and no child of it may hold them open.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    given = json.load(sys.stdin)
    sys.path.insert(0, given["folder"])
    for form in given["probes"]:
        failure: Any = None
        try:
            Probe.from_dict(form).run()
        except WeftError as error:
            failure = error.to_dict()
        answers.write(json.dumps(failure) + "\n")
        answers.flush()
    os._exit(0)  # threads that were left behind do not keep it alive


if __name__ == "__main__":
    main()
