"""What a function was recorded with, and what is another here."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.unit.steps.test_function import MASK, write
from weft.canonical import digest
from weft.errors import WeftError
from weft.steps.environment import (
    KERNEL_STAMP,
    differences,
    installed,
    kernel_version,
    package_of,
    python_version,
)
from weft.steps.function import FunctionVersion, find
from weft.steps.module import parse_module
from weft.steps.normal import normalised

OLD_VERSION = "115ee87a901ae33e7d532e8e94531a9548017259bc9cbc756ba332565e242559"
NEW_VERSION = "d0d0f30753730214bf8707cec305122dde8af521d753a763012697b76856f392"
NEEDY = """
    from weft.steps.function import function

    @function(needs={needs!r})
    def mask(record):
        return record
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write(tmp_path, shop__rules=MASK, shop__tables="KEEP = 1\nOTHER = 2\n")


def as_before_the_kernel(new: FunctionVersion) -> FunctionVersion:
    """The same function as it was recorded when the kernel did not count."""
    module, _, name = new.ref.partition(":")
    sources = {
        other: normalised(parse_module(text, other), name if other == module else None)
        for other, text in new.modules.items()
    }
    recipe = {"name": name, "sources": sources, "needs": list(new.needs)}
    version = digest({**recipe, "python": new.python, "spark": new.spark})
    return replace(new, version=version, kernel="", installed={})


def test_the_kernel_is_known_by_what_it_was_built_from_and_without_spark(tmp_path: Path) -> None:
    assert len(kernel_version()) == 64
    jar = tmp_path / "kernel.jar"
    with zipfile.ZipFile(jar, "w") as packed:
        packed.writestr(KERNEL_STAMP, "ab" * 32)
    assert kernel_version(jar) == "ab" * 32
    assert kernel_version(tmp_path / "gone.jar") == "none"


def test_the_kernel_is_part_of_a_functions_version(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = find("shop.rules:mask", shop)
    monkeypatch.setattr("weft.steps.function.kernel_version", lambda: "cd" * 32)
    after = find("shop.rules:mask", shop)
    assert (before.kernel, after.kernel) == (kernel_version(), "cd" * 32)
    assert before.version != after.version


def test_a_version_of_before_the_kernel_counted_stays_and_is_proven_by_its_own_recipe(
    shop: Path,
) -> None:
    new = find("shop.rules:mask", shop)
    old = FunctionVersion.from_dict(as_before_the_kernel(new).to_dict())
    assert old.version != new.version and old.is_intact() and new.is_intact()
    assert new.following(old).version == old.version
    assert new.following(old).is_intact()
    write(shop, shop__tables="KEEP = 2\nOTHER = 2\n")
    changed = find("shop.rules:mask", shop)
    assert changed.following(old) == changed
    assert changed.following(new) == changed


def test_a_source_that_was_changed_after_it_was_recorded_is_noticed(shop: Path) -> None:
    found = find("shop.rules:mask", shop)
    for version in (found, found.bind({"keep": 2}), as_before_the_kernel(found)):
        assert version.is_intact()
        forged = {**version.modules, "shop.tables": "KEEP = 9\nOTHER = 2\n"}
        assert not replace(version, modules=forged).is_intact()
        assert not replace(version, modules={"shop.rules": "no python"}).is_intact()
        assert not replace(version, modules={}).is_intact()


def test_packages_are_recorded_as_installed_beside_the_version(tmp_path: Path) -> None:
    needs = ["pyarrow>=1", "no-such-package-anywhere==2"]
    found = find("rules:mask", write(tmp_path, rules=NEEDY.format(needs=needs)))
    assert found.installed["no-such-package-anywhere"] == "none"
    assert found.installed["pyarrow"].split(".")[0].isdigit()
    assert replace(found, installed={"pyarrow": "0.1"}).is_intact()  # it is beside, not inside


@pytest.mark.parametrize("needs", ["numpy", [3], [""], [">=2"], {"numpy": "2"}, 7, [None]])
def test_needs_that_name_no_package_are_refused(tmp_path: Path, needs: Any) -> None:
    with pytest.raises(WeftError) as refused:
        find("rules:mask", write(tmp_path, rules=NEEDY.format(needs=needs)))
    assert refused.value.code == "function.declaration"


@pytest.mark.parametrize(
    ("need", "name"),
    [
        ("numpy", "numpy"),
        ("numpy>=2,<3", "numpy"),
        ("geo.py-x[all]==2.4; python_version > '3'", "geo.py-x"),
        (" a ", "a"),
        ("x @ https://example.com/x.whl", "x"),
        ("==2", None),
        ("'numpy'", None),
    ],
)
def test_the_package_of_a_requirement_is_its_first_word(need: str, name: str | None) -> None:
    assert package_of(need) == name


def test_what_is_installed_here_and_was_not_then_is_told(shop: Path) -> None:
    found = find("shop.rules:mask", shop)
    assert differences(found) == ()
    other = replace(
        found,
        python="2.7",
        spark="1.0",
        kernel="ef" * 32,
        installed={"pyarrow": "0.1", "gone-package": "1.0"},
    )
    told = differences(other)
    assert [one.partition(":")[0] for one in told] == [
        "Python",
        "Spark",
        "the kernel",
        "package pyarrow",
        "package gone-package",
    ]
    assert python_version() in told[0] and "not installed" in told[-1]
    assert installed(["pyarrow"])["pyarrow"] in told[3]


def test_what_was_not_recorded_is_not_told_as_different(shop: Path) -> None:
    assert differences(as_before_the_kernel(find("shop.rules:mask", shop))) == ()


def test_another_python_does_not_judge_what_it_writes_in_another_way(shop: Path) -> None:
    found = find("shop.rules:mask", shop)
    assert replace(found, python="2.7").is_intact()


@pytest.mark.skipif(
    python_version() != "3.11", reason="each Python writes syntax trees its own way"
)
def test_the_recipe_of_a_version_stays_what_it_was(shop: Path) -> None:
    found = find("shop.rules:mask", shop)
    then = replace(found, python="3.11", spark="4.2.0", needs=("numpy>=2",), kernel="")
    assert replace(then, version=OLD_VERSION).is_intact()
    assert replace(then, version=NEW_VERSION, kernel="ab" * 32).is_intact()
