"""A value as a project file writes it on one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

# Project files are read as YAML 1.2, in which these words are texts without quotes too.
_PLAIN = ("on", "off", "yes", "no", "y", "n")


def told(value: Any) -> str:
    """The YAML of a value, in one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{told(key)}: {told(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(told(one) for one in value) + "]"
    if value in _PLAIN:
        return str(value)
    # In a list, so that a comma inside a text is quoted.
    written = yaml.safe_dump([value], default_flow_style=True, width=10**6, allow_unicode=True)
    return written.strip()[1:-1]
