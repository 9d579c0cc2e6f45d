"""A declaration tells everything that is wrong with a mapping, and takes values as they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pytest

from weft.declared.key import Key, keys
from weft.declared.limit import FLAG, TEXT, choice, names, number, whole
from weft.declared.read import faults, made, message, nested, schema_of
from weft.declared.text import told
from weft.loading.load import load
from weft.loading.problem import ProjectError
from weft.sources import options
from weft.sources.options import Source


@dataclass(frozen=True)
class Inner:
    """Something below."""

    depth: Annotated[int, Key(whole(1, 5), "How deep.", 2)]


@dataclass(frozen=True)
class Outer:
    """Something with keys."""

    title: Annotated[str, Key(TEXT, "What it is called.", "a", name="class")]
    size: Annotated[int, Key(whole(1, 10), "How large.", 2)] = 3
    share: Annotated[float, Key(number(0, 1), "Which part.", 0.5)] = 0.0
    loud: Annotated[bool, Key(FLAG, "Whether.", True)] = False
    colour: Annotated[str, Key(choice("red", "green"), "Which.", "red")] = "green"
    by: Annotated[tuple[str, ...], Key(names(), "Which columns.", ["a"])] = ()
    inner: Annotated[Inner | None, Key(nested(Inner, "a mapping"), "Below.", {"depth": 2})] = None


def wrong(**written: Any) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(one.mistake, one.path) for one in faults(Outer, {"class": "x", **written})]


@pytest.mark.parametrize(
    ("key", "value", "mistake"),
    [
        ("size", True, "wrong-type"),
        ("size", 2.0, "wrong-type"),
        ("size", "2", "wrong-type"),
        ("size", None, "wrong-type"),
        ("size", 11, "out-of-range"),
        ("size", 10**400, "out-of-range"),
        ("share", True, "wrong-type"),
        ("share", math.nan, "out-of-range"),
        ("share", math.inf, "out-of-range"),
        ("share", 10**400, "out-of-range"),
        ("loud", 1, "wrong-type"),
        ("loud", "yes", "wrong-type"),
        ("colour", "Red", "unknown-value"),
        ("colour", ["red"], "unknown-value"),
        ("by", [1], "wrong-type"),
        ("by", "", "wrong-type"),
        ("by", {"a": 1}, "wrong-type"),
        ("inner", 5, "wrong-type"),
    ],
)
def test_a_value_that_is_not_what_it_should_be_is_told(key: str, value: Any, mistake: str) -> None:
    assert wrong(**{key: value}) == [(mistake, (key,))]


def test_everything_that_is_wrong_comes_at_once_each_with_its_place() -> None:
    found = faults(Outer, {"sise": 1, "size": 0, "inner": {"depth": 9, "width": 1}})
    assert [(one.mistake, one.path) for one in found] == [
        ("unknown-key", ("sise",)),
        ("missing-key", ("class",)),
        ("out-of-range", ("size",)),
        ("unknown-key", ("inner", "width")),
        ("out-of-range", ("inner", "depth")),
    ]


def test_the_nearest_word_is_offered_for_keys_and_for_words() -> None:
    written = {"class": "x", "sise": 1, "colour": "gren"}
    hints = [message(one, written, "a thing")[1] for one in faults(Outer, written)]
    assert hints == ["Did you mean 'size'?", "Did you mean 'green'?"]


def test_what_is_right_makes_the_declaration() -> None:
    found = made(Outer, {"class": "x", "by": "a", "inner": {"depth": 2}})
    assert found == Outer("x", by=("a",), inner=Inner(2))
    assert made(Outer, {"size": 5}, found) == Outer("x", size=5, by=("a",), inner=Inner(2))


def test_a_schema_says_types_and_what_is_needed() -> None:
    schema = schema_of(Outer)
    assert schema["required"] == ["class"]
    assert schema["properties"]["size"]["maximum"] == 10
    assert schema["properties"]["inner"]["properties"]["depth"]["minimum"] == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"on": ["a", "b"]}, "{on: [a, b]}"),
        ({"x": "decimal(10,2)"}, "{x: 'decimal(10,2)'}"),
        ({"x": "5", "y": 5, "z": True}, "{x: '5', y: 5, z: true}"),
    ],
)
def test_a_value_is_told_on_one_line(value: Any, text: str) -> None:
    assert told(value) == text


@dataclass(frozen=True)
class TideSource(Source):
    """Tides of a harbour."""

    takes_others: ClassVar[bool] = False

    harbour: Annotated[str, Key(TEXT, "Which harbour.", "cuxhaven")]


def test_a_new_source_is_one_declaration_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "KINDS", {**options.KINDS, "tide": f"{__name__}:TideSource"})
    monkeypatch.setattr("weft.loading.kind.KINDS", options.KINDS)
    stream = {"source": {"tide": {"harbour": "cuxhaven"}}, "schema": {"at": "timestamp"}}
    project = load({"app_name": "tides", "streams": {"tides": stream}})
    assert project.stream("tides").source is not None
    stream["source"] = {"tide": {"habour": "cuxhaven"}}
    with pytest.raises(ProjectError) as caught:
        load({"app_name": "tides", "streams": {"tides": stream}})
    assert [(one.code, one.path) for one in caught.value.problems] == [
        ("project.unknown-key", "streams.tides.source.tide.habour"),
        ("project.missing-key", "streams.tides.source.tide"),
    ]
    assert "harbour" in keys(options.declaration("tide"))
