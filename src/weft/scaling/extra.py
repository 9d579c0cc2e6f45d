"""Libraries that only forecasts need, and that are installed when they are wanted."""

from __future__ import annotations

import importlib
from typing import Any

from weft.errors import WeftError


class MissingLibraryError(WeftError):
    """A library that is needed here is not installed."""

    code = "scaling.library-missing"
    domain = "user"


def needed(module: str) -> Any:
    """A module of an optional library."""
    try:
        return importlib.import_module(module)
    except (ModuleNotFoundError, OSError) as error:
        library = module.partition(".")[0]
        raise MissingLibraryError(
            f"Forecasts need the library {library}, which cannot be loaded: {error}.",
            hint="Install what forecasts need: pip install 'weft[scaling]'. LightGBM needs libgomp of the system, too.",
            library=library,
        ) from error
