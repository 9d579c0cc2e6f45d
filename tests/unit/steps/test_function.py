"""Functions: found without running them, versioned by what they do, run from the stored source."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from weft.errors import WeftError
from weft.steps.function import FunctionVersion, find

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
            from weft.steps.function import function

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
            from weft.steps.function import function
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
    assert caught.value.ids["line"] == 1


MODELS = """
    from __future__ import annotations

    import enum
    import pickle
    import typing
    from dataclasses import dataclass, field

    @dataclass(frozen=True)
    class Money:
        amount: int
        notes: list[str] = field(default_factory=list)

    @dataclass
    class Price(Money):
        of: typing.Optional[Money] = None

    class Pair(typing.NamedTuple):
        left: int
        right: Money

    class Colour(enum.Enum):
        RED = 1

    class Named(typing.TypedDict):
        name: str

    def clean(record):
        price = Money(record["n"])
        hints = typing.get_type_hints(Pair)
        again = pickle.loads(pickle.dumps((price, Pair(1, price), Colour.RED)))
        return {
            "same": again == (price, Pair(1, price), Colour.RED) and again[2] is Colour.RED,
            "hint": hints["right"] is Money,
            "named": typing.get_type_hints(Named)["name"] is str,
            "n": again[0].amount,
        }
"""


def test_dataclasses_enums_type_hints_and_pickle_work(tmp_path: Path) -> None:
    models = MODELS.replace("class Price(Money)", "class Price")
    write(tmp_path, shop__models=models)
    made = find("shop.models:clean", tmp_path).load()({"n": 5})
    assert made == {"same": True, "hint": True, "named": True, "n": 5}


def test_two_versions_of_a_dataclass_stay_apart(tmp_path: Path) -> None:
    made = []
    for version in (1, 2):
        write(
            tmp_path,
            rules=f"""
                from dataclasses import dataclass
                import pickle

                @dataclass
                class Thing:
                    n: int = {version}

                def clean(record):
                    return pickle.loads(pickle.dumps(Thing()))
            """,
        )
        made.append(find("rules:clean", tmp_path).load())
    things = [clean({}) for clean in made]
    assert [thing.n for thing in things] == [1, 2]
    assert type(things[0]) is not type(things[1])


def test_modules_that_import_each_other_and_stars_work(tmp_path: Path) -> None:
    write(
        tmp_path,
        shop____init__="__all__ = ['tables']\n",
        shop__tables="from shop import rules\nKEEP = 2\ndef ask(): return rules.NAME\n",
        shop__rules="""
            from shop import *
            import shop.tables as t
            NAME = "rules"

            def clean(record):
                from .tables import KEEP
                return [tables.ask(), t.KEEP, KEEP]
        """,
    )
    assert find("shop.rules:clean", tmp_path).load()({}) == ["rules", 2, 2]


def test_a_file_that_ends_python_is_told_as_such(tmp_path: Path) -> None:
    write(tmp_path, rules="import sys\n\nsys.exit(3)\ndef clean(record): return record\n")
    with pytest.raises(WeftError) as caught:
        find("rules:clean", tmp_path).load()
    assert (caught.value.code, caught.value.ids["line"]) == ("function.load-failed", 3)


def test_what_only_an_annotation_in_quotes_names_changes_the_version(tmp_path: Path) -> None:
    text = "class Thing:\n    n = 1\ndef clean(record: 'Thing') -> 'list[Thing]': return record\n"
    before = version(tmp_path, "rules:clean", rules=text)
    assert version(tmp_path, "rules:clean", rules=text.replace("n = 1", "n = 2")) != before
    later = "from __future__ import annotations\n" + text
    assert version(tmp_path, "rules:clean", rules=later) != before
