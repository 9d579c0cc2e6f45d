"""Functions: found without running them, versioned by what they do, run from the stored source."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from weft.errors import WeftError
from weft.weaving.function import FunctionVersion, find

MASK = '''
    """The rules of the shop."""
    import re
    from shop.tables import KEEP

    def unused(record):
        return record

    def helper(text):
        return text[:KEEP] + "***"

    def mask(record: dict) -> dict | None:
        """Hide the address."""
        # Nobody may see it.
        return {**record, "email": helper(record["email"])}
'''


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/').replace('//init/', '/__init__')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return folder


def version(folder: Path, ref: str = "shop.rules:mask", **files: str) -> str:
    return find(ref, write(folder, **files)).version


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write(tmp_path, shop__rules=MASK, shop__tables="KEEP = 1\nOTHER = 2\n")


def test_a_function_runs_from_its_stored_source(shop: Path) -> None:
    found = FunctionVersion.from_dict(find("shop.rules:mask", shop).to_dict())
    (shop / "shop" / "rules.py").unlink()
    assert found.load()({"email": "ada@example.com"}) == {"email": "a***"}
    assert found.form == "row"
    assert sorted(found.modules) == ["shop.rules", "shop.tables"]


def test_comments_layout_docstrings_and_neighbours_do_not_change_the_version(shop: Path) -> None:
    before = find("shop.rules:mask", shop).version
    changed = MASK.replace("# Nobody may see it.", "").replace("Hide the address.", "Other words.")
    changed = changed.replace("return record\n", "return None\n").replace('"***"', "( '***' )")
    assert version(shop, shop__rules=changed) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"***"', '"xxx"'),
        ("text[:KEEP]", "text[KEEP:]"),
        ("record: dict)", "record: dict, keep: int = 1)"),
        ("from shop.tables import KEEP", "from shop.tables import OTHER as KEEP"),
        ("import re\n", "import re\n    re.purge()\n"),
    ],
)
def test_what_a_function_does_and_uses_changes_its_version(shop: Path, old: str, new: str) -> None:
    before = find("shop.rules:mask", shop).version
    assert version(shop, shop__rules=MASK.replace(old, new)) != before


def test_a_module_that_it_imports_changes_its_version(shop: Path) -> None:
    before = find("shop.rules:mask", shop).version
    assert version(shop, shop__tables="KEEP = 3\nOTHER = 2\n") != before


def test_parameters_make_a_version_of_their_own(shop: Path) -> None:
    found = find("shop.rules:mask", shop)
    assert found.bind({}) is found
    assert found.bind({"keep": 2}).version != found.version
    assert found.bind({"keep": 2}).version == found.bind({"keep": 2}).version


def test_two_versions_of_one_file_run_side_by_side(shop: Path) -> None:
    old = find("shop.rules:mask", shop)
    write(shop, shop__tables="KEEP = 3\n")
    new = find("shop.rules:mask", shop)
    assert old.load()({"email": "ada@x"}) == {"email": "a***"}
    assert new.load()({"email": "ada@x"}) == {"email": "ada***"}
    assert old.load()({"email": "ada@x"}) == {"email": "a***"}


def test_finding_a_function_does_not_run_its_file(tmp_path: Path) -> None:
    write(tmp_path, rules="raise SystemExit(1)\ndef clean(record): return record\n")
    found = find("rules:clean", tmp_path)
    with pytest.raises(BaseException, match="1"):
        found.load()


def test_relative_imports_and_packages_work(tmp_path: Path) -> None:
    write(
        tmp_path,
        shop____init__="NAME = 'shop'\n",
        shop__tables="KEEP = 2\n",
        shop__rules="""
            import shop.tables
            from . import NAME, tables
            from .tables import KEEP

            def clean(record):
                return [NAME, tables.KEEP, KEEP, shop.tables.KEEP]
        """,
    )
    assert find("shop.rules:clean", tmp_path).load()({}) == ["shop", 2, 2, 2]


def test_the_vectorised_form_is_told_by_its_annotation(tmp_path: Path) -> None:
    write(
        tmp_path,
        rules="""
            import pyarrow as pa

            def batch(records: pa.RecordBatch) -> pa.RecordBatch:
                return records

            def quoted(records: "pa.RecordBatch"):
                return records

            class Feed:
                pass
        """,
    )
    assert find("rules:batch", tmp_path).form == "batch"
    assert find("rules:quoted", tmp_path).form == "batch"
    assert find("rules:Feed", tmp_path).form == "class"


def test_declared_columns_and_packages_are_read_without_running(tmp_path: Path) -> None:
    write(
        tmp_path,
        rules="""
            from weft.weaving.function import function

            @function(returns={"id": "long", "score": "double"}, needs=["numpy==2.0"])
            def score(record):
                return {"id": record["id"], "score": 1.0}
        """,
    )
    found = find("rules:score", tmp_path)
    assert found.returns is not None
    assert found.returns.to_dict() == {"id": "bigint", "score": "double"}
    assert found.needs == ("numpy==2.0",)
    assert found.load()({"id": 1, "x": 2}) == {"id": 1, "score": 1.0}


@pytest.mark.parametrize(
    ("ref", "code", "hint"),
    [
        ("shop.rules", "function.bad-reference", "module:name"),
        ("shop rules:x", "function.bad-reference", "module:name"),
        ("../secret:x", "function.bad-reference", "module:name"),
        ("shop.rule:mask", "function.no-file", "shop.rules:mask"),
        ("shop.rules:maks", "function.not-found", "mask"),
        ("bad:broken", "function.syntax", "Correct"),
        ("odd:later", "function.signature", "def"),
        ("odd:nothing", "function.signature", "record"),
        ("odd:computed", "function.declaration", "literal|written|write"),
        ("odd:mistyped", "function.declaration", "string"),
    ],
)
def test_what_cannot_be_used_is_told(shop: Path, ref: str, code: str, hint: str) -> None:
    write(
        shop,
        bad="def broken(:\n",
        odd="""
            from weft.weaving.function import function
            COLUMNS = {}
            async def later(record): ...
            def nothing(): ...
            @function(returns=COLUMNS)
            def computed(record): ...
            @function(adds={"a": "sting"})
            def mistyped(record): ...
        """,
    )
    with pytest.raises(WeftError) as caught:
        find(ref, shop)
    assert caught.value.code == code
    assert any(word in (caught.value.hint or "") for word in hint.split("|"))


def test_a_file_that_fails_when_run_is_told_as_such(tmp_path: Path) -> None:
    write(tmp_path, rules="import not_there_at_all\ndef clean(record): return record\n")
    with pytest.raises(WeftError) as caught:
        find("rules:clean", tmp_path).load()
    assert caught.value.code == "function.load-failed"
