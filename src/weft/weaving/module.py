"""Runs stored Python modules beside each other, so that two versions of one file can be loaded in one process."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from weft.canonical import digest

_loaded: dict[str, dict[str, Any]] = {}


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
