"""One word for one thing: no two classes of the kernel have one name."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "kernel" / "src"
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DECLARED = re.compile(r"\b(?:class|interface|record|enum)\s+([A-Z]\w+)")


def test_no_two_classes_of_the_kernel_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES.rglob("*.java"):
        for match in DECLARED.finditer(COMMENT.sub("", path.read_text())):
            places[match[1]].append(str(path.relative_to(SOURCES)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
