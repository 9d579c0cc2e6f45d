"""The packages of the Java kernel: each has a map, none is in a circle, Spark's internals are in one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "kernel" / "src"
SPARK = "weft.kernel.spark"

# What Spark keeps for itself, though Java can import it.
INTERNAL = re.compile(
    r"org\.apache\.spark\.(sql\.(catalyst|classic|execution|internal)|unsafe|util|rdd|internal)\."
)

# The form of a row in memory, which these packages read and write for every record.
ROW_PACKAGES = (
    "avro",
    "bytes",
    "change",
    "gate",
    "hash",
    "operator",
    "product",
    "query",
    "sink",
    "source",
    "spine",
    "window",
)
ROW_FORM = {
    "org.apache.spark.sql.catalyst.InternalRow",
    "org.apache.spark.sql.catalyst.expressions.GenericInternalRow",
    "org.apache.spark.sql.catalyst.expressions.JoinedRow",
    "org.apache.spark.sql.catalyst.expressions.SpecializedGetters",
    "org.apache.spark.sql.catalyst.expressions.UnsafeArrayData",
    "org.apache.spark.sql.catalyst.expressions.UnsafeMapData",
    "org.apache.spark.sql.catalyst.expressions.UnsafeRow",
    "org.apache.spark.sql.catalyst.util.ArrayBasedMapData",
    "org.apache.spark.sql.catalyst.util.ArrayData",
    "org.apache.spark.sql.catalyst.util.GenericArrayData",
    "org.apache.spark.sql.catalyst.util.MapData",
    "org.apache.spark.unsafe.Platform",
    "org.apache.spark.unsafe.hash.Murmur3_x86_32",
    "org.apache.spark.unsafe.types.UTF8String",
}

# An import, or a class that is written out with its package.
NAMED = re.compile(r"\b((?:org\.apache\.spark|weft\.kernel)(?:\.[a-z]\w*)*)\.([A-Z]\w*)")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def java_files() -> list[Path]:
    return sorted(SOURCES.rglob("*.java"))


def package_of(path: Path) -> str:
    return ".".join(path.parent.relative_to(SOURCES).parts)


def named_in(path: Path) -> Iterator[tuple[str, str]]:
    """The packages and classes of Spark and of ours that a file names."""
    for match in NAMED.finditer(COMMENT.sub("", path.read_text())):
        yield match[1], match[2]


def may_name(package: str, name: str) -> bool:
    if not INTERNAL.match(name) or f"{package}.".startswith(f"{SPARK}."):
        return True
    room = package.removeprefix("weft.kernel.").partition(".")[0]
    return name in ROW_FORM and room in ROW_PACKAGES


def test_spark_internals_are_named_in_one_folder_only() -> None:
    wrong = [
        f"{path.relative_to(SOURCES)} names {package}.{name}"
        for path in java_files()
        for package, name in named_in(path)
        if not may_name(package_of(path), f"{package}.{name}")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("package", "name", "allowed"),
    [
        ("weft.kernel.window.plan", "org.apache.spark.sql.Column", True),
        ("weft.kernel.window.plan", "org.apache.spark.sql.catalyst.InternalRow", True),
        ("weft.kernel.table", "org.apache.spark.sql.catalyst.InternalRow", False),
        ("weft.kernel.window.plan", "org.apache.spark.sql.catalyst.expressions.Alias", False),
        ("weft.kernel.spark.gate", "org.apache.spark.sql.catalyst.expressions.Alias", True),
        ("weft.kernel.table", "org.apache.spark.sql.classic.SparkSession", False),
    ],
)
def test_a_name_is_allowed_by_its_package(package: str, name: str, allowed: bool) -> None:
    assert may_name(package, name) is allowed


def test_every_package_has_a_map() -> None:
    packages = {path.parent for path in java_files()}
    assert [str(each) for each in packages if not (each / "package-info.java").exists()] == []


def test_no_package_imports_one_that_imports_it() -> None:
    imports: dict[str, set[str]] = {}
    for path in java_files():
        here = package_of(path)
        there = {package for package, _ in named_in(path) if package.startswith("weft.")}
        imports.setdefault(here, set()).update(there - {here})
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the packages


def test_every_class_says_what_it_is() -> None:
    declared = re.compile(
        r"\*/\n(?:@\w+(?:\([^)]*\))?\n)*(?:public |abstract |final |sealed )*\w+ \w"
    )
    silent = [
        str(path.relative_to(SOURCES))
        for path in java_files()
        if path.name != "package-info.java" and not declared.search(path.read_text())
    ]
    assert silent == []


def test_lines_have_at_most_100_columns() -> None:
    long = [
        f"{path.relative_to(SOURCES)}:{number}"
        for path in java_files()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > 100 and not line.startswith("import ")
    ]
    assert long == []
