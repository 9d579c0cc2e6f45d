"""What things are called: the form of a name that is part of paths and queries, and an identifier made
of a title, for what takes no other text."""

from __future__ import annotations

import re

from weft.canonical import digest

NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
"""What people call streams and pipelines: lower-case words joined by - or _."""
MAX_NAME = 100


def plain(title: str) -> str:
    """The words of a title, in lower case and joined by hyphens; nothing where it has no Latin ones."""
    words = "-".join(re.findall(r"[a-z0-9]+", title.lower()))
    return words.lstrip("0123456789-")[:40].rstrip("-")


def slug(title: str) -> str:
    """A title as an identifier, for what takes no other text. Different titles have different ones.

    One that could be the name of a stream is its own identifier.
    """
    if NAME.fullmatch(title) and len(title) <= MAX_NAME:
        return title
    return f"{plain(title) or 'project'}-{digest(title)[:8]}"
