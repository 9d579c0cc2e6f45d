"""What a project may write below a sink."""

from __future__ import annotations

from typing import Any

import pytest

from weft.sinks.options import KINDS, SinkOptionError, declaration, read_options

WRONG: list[tuple[str, Any, str, str | None]] = [
    ("kafak", {}, "sinks.unknown-kind", "kafka"),
    ("kafka", {}, "sinks.missing-option", None),
    ("kafka", {"topik": "x", "topic": "x"}, "sinks.unknown-option", "topic"),
    ("kafka", {"topic": "no spaces"}, "sinks.wrong-option", None),
    ("kafka", {"topic": "x", "partitions": 0}, "sinks.wrong-option", None),
    ("kafka", "revenue", "sinks.wrong-option", None),
    ("files", {"path": "x", "format": "xml"}, "sinks.wrong-option", None),
    ("console", {"rows": "many"}, "sinks.wrong-option", None),
    ("console", {"row": 3}, "sinks.unknown-option", "rows"),
    ("metrics", {"gauge": "x"}, "sinks.unknown-option", "gauges"),
    ("python", {"class": "NoModule"}, "sinks.wrong-option", None),
    ("python", {}, "sinks.missing-option", None),
]


@pytest.mark.parametrize(("kind", "options", "code", "meant"), WRONG)
def test_wrong_options_are_named(kind: str, options: Any, code: str, meant: str | None) -> None:
    with pytest.raises(SinkOptionError) as caught:
        read_options(kind, options)
    error = caught.value
    assert error.code == code
    assert error.domain == "user"
    assert not error.retryable
    assert error.ids["sink"] == kind
    assert error.hint
    if meant:
        assert f"'{meant}'" in error.hint


@pytest.mark.parametrize(
    ("kind", "path", "right"),
    [
        *(
            ("files", path, True)
            for path in ("out", "/a b/ü'\"", "s3a://shop/out", "hdfs://h:9000/x")
        ),
        *(("files", path, True) for path in ("s3a://my.bucket-1", "hdfs://service/x")),
        *(
            ("files", path, False)
            for path in ("s3a://", "s3a:///x", "s3a://Bad_Bucket!!/x", "~/out")
        ),
        *(
            ("files", path, False)
            for path in ("hdfs:///x", "hdfs://h:abc/x", "s3://b/x", "gs://b/x")
        ),
        *(("files", path, False) for path in ("s3a:/b/x", "file:rel", "a\0b", " ")),
        ("delta", "s3a://lake/profiles", True),
        ("delta", "hdfs://h:9000/x", False),
    ],
)
def test_a_path_is_a_folder_or_an_address_that_can_be_one(
    kind: str, path: str, right: bool
) -> None:
    if right:
        read_options(kind, {"path": path})
        return
    with pytest.raises(SinkOptionError) as caught:
        read_options(kind, {"path": path})
    assert caught.value.code == "sinks.wrong-option"


def test_options_say_which_columns_they_name() -> None:
    assert read_options("kafka", {"topic": "x", "key": "a"}).columns() == ("a",)
    measured = read_options("metrics", {"counters": ["a"], "gauges": "b", "by": ["c"]})
    assert measured.columns() == ("a", "b", "c")
    assert read_options("console", None).columns() == ()


def test_a_python_sink_may_be_its_class_alone() -> None:
    assert read_options("python", "shop.mail:Mailer") == read_options(
        "python", {"class": "shop.mail:Mailer"}
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_sink_has_a_declaration_that_says_what_it_is(kind: str) -> None:
    assert declaration(kind).__doc__
