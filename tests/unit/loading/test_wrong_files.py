"""Wrong project files: each gets a code, the line of the thing that is wrong, and a hint."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.unit.loading.wrong import HEAD, wrong_file
from weft.loading.load import load
from weft.loading.problem import ProjectError

TABLE = "tables:\n  users: {topic: u, key: id, columns: {id: long, name: string}}\n"
PRODUCT = "products:\n  pages: {{root: users, {}}}\n"
WRONG = [
    ("an empty file", "", "project.empty", None),
    ("only a comment", "# nothing\n", "project.empty", None),
    ("a list", "- a\n- b\n", "project.not-a-mapping", 1),
    ("a bare word", "shop\n", "project.not-a-mapping", 1),
    ("a bracket that is not closed", "app_name: [shop\n", "project.yaml", 2),
    ("a tab", "app_name: shop\nprocessing:\n\tparallelism: 2\n", "project.tab", 3),
    ("two documents", "app_name: a\n---\napp_name: b\n", "project.yaml", 2),
    ("a file that refers to itself", "app_name: shop\nstreams: &a {b: *a}\n", "project.yaml", 2),
    ("an unquoted colon", "app_name: shop: two\n", "project.yaml", 1),
    ("a control character", "app_name: shop\x01\n", "project.yaml", None),
    ("a key twice", "app_name: shop\napp_name: other\n", "project.duplicate-key", 2),
    ("no name", "debug: true\n", "project.missing-key", 1),
    ("a name of two lines", 'app_name: "My\\nShop"\n', "project.bad-name", 1),
    ("a name without an end", f"app_name: {'a' * 201}\n", "project.bad-name", 1),
    ("a name that is a number", "app_name: 5\n", "project.wrong-type", 1),
    ("a name of spaces", "app_name: '  '\n", "project.wrong-type", 1),
    ("a name that turns round", 'app_name: "a\\u202eb"\n', "project.bad-name", 1),
    ("a misspelt key", "app_name: shop\nprocesing: {}\n", "project.unknown-key", 2),
    ("a text for a flag", "app_name: shop\ndebug: maybe\n", "project.wrong-type", 2),
    ("YAML 1.1's yes for a flag", "app_name: shop\ndebug: yes\n", "project.wrong-type", 2),
    ("no partitions", "app_name: shop\nprocessing: {parallelism: 0}\n", "project.out-of-range", 2),
    (
        "half a partition",
        "app_name: shop\nprocessing: {parallelism: 1.5}\n",
        "project.wrong-type",
        2,
    ),
    ("a list for a mapping", "app_name: shop\nprocessing: [1]\n", "project.wrong-type", 2),
    (
        "a misspelt state",
        "app_name: shop\nprocessing: {state: rocks}\n",
        "project.unknown-value",
        2,
    ),
    (
        "a negative budget",
        "app_name: shop\nprocessing: {keyframes: {budget_mb: -1}}\n",
        "project.out-of-range",
        2,
    ),
    (
        "a negative delay",
        "app_name: shop\nwatermarks: {delay_seconds: -2}\n",
        "project.out-of-range",
        2,
    ),
    (
        "a misspelt watermark",
        "app_name: shop\nwatermarks: {delay: 2}\n",
        "project.unknown-key",
        2,
    ),
    ("a table without a key", HEAD + TABLE.replace("key: id, ", ""), "project.missing-key", 9),
    ("a table's key", HEAD + TABLE.replace("key: id", "key: it"), "schema.unknown-column", 9),
    ("a table's name", HEAD + TABLE.replace("users", "Us ers"), "project.bad-name", 9),
    (
        "a product of nothing",
        HEAD + "products:\n  p: {root: nothing}\n",
        "project.unknown-stream",
        9,
    ),
    ("a product of records", HEAD + "products:\n  p: {root: orders}\n", "project.not-changing", 9),
    ("a product without a root", HEAD + "products:\n  p: {}\n", "product.missing-key", 9),
    (
        "a product's field",
        HEAD + TABLE + PRODUCT.format("fields: [nme]"),
        "expression.unknown-column",
        11,
    ),
    (
        "a product's filter",
        HEAD + TABLE + PRODUCT.format("filter: name"),
        "expression.not-boolean",
        11,
    ),
    (
        "a product's link",
        HEAD + TABLE + PRODUCT.format("parts: {p: {one: users, on: {id: nam}}}"),
        "schema.unknown-column",
        11,
    ),
    (
        "a product's link of two types",
        HEAD + TABLE + PRODUCT.format("parts: {p: {one: users, on: {id: name}}}"),
        "product.invalid",
        11,
    ),
    (
        "a window over a table",
        HEAD
        + TABLE
        + "pipelines:\n  w: {from: users, window: {type: global}, aggregate: {n: count(*)}}\n",
        "project.changing",
        11,
    ),
    (
        "a pipeline that drops a table's key",
        HEAD + TABLE + "pipelines:\n  w: {from: users, steps: [{drop: [id]}]}\n",
        "project.changing",
        11,
    ),
    ("a stream that nothing writes", HEAD + "  users: {key: id}\n", "project.no-writer", 8),
    (
        "a stream of Weft's own",
        HEAD + "  orders.dead: {source: mock}\n",
        "project.reserved-name",
        8,
    ),
    ("a stream's name", HEAD + "  My_Stream: {source: mock}\n", "project.bad-name", 8),
    ("a stream's name that ends in _", HEAD + "  my_: {source: mock}\n", "project.bad-name", 8),
    ("a misspelt source", HEAD + "  users: {source: {mok: {}}}\n", "project.unknown-source", 8),
    ("two sources", HEAD + "  users: {source: {mock: {}, feed: {}}}\n", "project.wrong-type", 8),
    ("Debezium without a topic", HEAD + "  u: {source: debezium}\n", "project.missing-key", 8),
    (
        "a misspelt option",
        HEAD + "  users:\n    source:\n      mock: {sed: 1}\n",
        "project.unknown-key",
        10,
    ),
    (
        "a negative rate",
        HEAD + "  users: {source: {mock: {rate: -1}}}\n",
        "project.out-of-range",
        8,
    ),
    (
        "a share above one",
        HEAD + "  u: {source: {mock: {bad_share: 2}}}\n",
        "project.out-of-range",
        8,
    ),
    (
        "Kafka without a topic",
        HEAD + "  u: {source: {kafka: {servers: a}}}\n",
        "project.missing-key",
        8,
    ),
    (
        "Kafka without columns",
        HEAD + "  u: {source: {kafka: {servers: a, topic: b}}}\n",
        "project.schema-missing",
        8,
    ),
    (
        "no files to take columns from",
        HEAD + "  u: {source: {files: {path: none}}}\n",
        "project.schema-missing",
        8,
    ),
    (
        "a format that is not one",
        HEAD + "  u: {source: {files: {path: a, format: xml}}, schema: {id: long}}\n",
        "project.unknown-value",
        8,
    ),
    (
        "a Python source that is not there",
        HEAD + "  u: {source: {python: feeds:Feed}, schema: {id: long}}\n",
        "function.no-file",
        8,
    ),
    (
        "a misspelt type",
        HEAD + "  users:\n    source: mock\n    schema:\n      id: lng\n",
        "schema.unknown-type",
        11,
    ),
    (
        "a type cut off",
        HEAD + "  u: {source: mock, schema: {a: 'array<int'}}\n",
        "schema.invalid",
        8,
    ),
    (
        "a column twice",
        HEAD + "  u: {source: mock, schema: {a: int, A: int}}\n",
        "schema.duplicate-column",
        8,
    ),
    (
        "Weft's column",
        HEAD + "  u: {source: mock, schema: {_weft: int}}\n",
        "step.reserved-column",
        8,
    ),
    (
        "a column with spaces",
        HEAD + "  u: {source: mock, schema: {'a b': int}}\n",
        "step.bad-name",
        8,
    ),
    ("no columns", HEAD + "  u: {source: mock, schema: {}}\n", "project.schema-missing", 8),
    (
        "a key that is not there",
        HEAD + "  u:\n    source: mock\n    schema: {a: int}\n    key: b\n",
        "schema.unknown-column",
        11,
    ),
    (
        "an event time that is not there",
        HEAD + "  u:\n    source: mock\n    schema: {a: int}\n    event_time: b\n",
        "schema.unknown-column",
        11,
    ),
    (
        "an event time that is no time",
        HEAD + "  u:\n    source: mock\n    schema: {a: int}\n    event_time: a\n",
        "project.event-time",
        11,
    ),
]


@pytest.mark.parametrize(
    ("text", "code", "line"), [case[1:] for case in WRONG], ids=[c[0] for c in WRONG]
)
def test_a_wrong_file_is_told_by_code_line_and_hint(
    folder: Path, text: str, code: str, line: int | None
) -> None:
    problems = wrong_file(folder, text).problems
    assert (code, line) in [(problem.code, problem.line) for problem in problems]
    assert all(problem.message and problem.file for problem in problems)
    assert (
        next(problem for problem in problems if problem.code == code).hint
        or code == "project.wrong-type"
    )


def test_a_missing_file_is_told_with_the_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text("app_name: shop\n")
    with pytest.raises(ProjectError) as caught:
        load(tmp_path)
    [problem] = caught.value.problems
    assert problem.code == "project.file-missing"
    assert "shop.yaml" in (problem.hint or "")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "weft.yaml").write_bytes(b"app_name: \xff\xfe\n")
    with pytest.raises(ProjectError) as caught:
        load(tmp_path)
    assert caught.value.problems[0].code == "project.encoding"


def test_all_problems_of_a_file_come_at_once_and_in_order(folder: Path) -> None:
    text = """
        app_name: "Shop\\x07"
        procesing: {}
        streams:
          orders:
            source: {mock: {rate: -1, sed: 4}}
            schema: {id: long, at: string}
            key: idd
            event_time: at
        pipelines:
          clean:
            from: orders
            steps:
              - filter: idd > 0
              - set: {b: id + 1, c: lower(id)}
              - filter: b > 'x'
            to: x
          other: {from: order, to: x}
    """
    problems = wrong_file(folder, dedent(text)).problems
    assert [problem.code for problem in problems] == [
        "project.bad-name",
        "project.unknown-key",
        "project.out-of-range",
        "project.unknown-key",
        "schema.unknown-column",
        "project.event-time",
        "expression.unknown-column",
        "expression.type",
        "project.unknown-stream",
        "project.two-writers",
    ]
    assert [problem.line for problem in problems] == sorted(
        problem.line or 0 for problem in problems
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("app_name: shop\nproccessing: {}\n", "processing"),
        (HEAD + "pipelines:\n  p: {from: order}\n", "orders"),
        (HEAD + "pipelines:\n  p: {from: orders, steps: [{filter: e_mail = 'x'}]}\n", "email"),
        (HEAD + "pipelines:\n  p: {from: orders, steps: [{set: {a: lowr(email)}}]}\n", "lower"),
        (HEAD + "pipelines:\n  p: {from: orders, steps: [{function: rules:claen}]}\n", "clean"),
        (HEAD + "  u: {source: mock, schema: {a: sting}}\n", "string"),
    ],
)
def test_the_nearest_right_word_is_offered(folder: Path, text: str, hint: str) -> None:
    [problem] = wrong_file(folder, text).problems
    assert hint in (problem.hint or "")


def test_a_cycle_is_shown_as_a_path(folder: Path) -> None:
    text = (
        HEAD + "pipelines:\n  p: {from: c, to: a}\n  q: {from: a, to: b}\n  r: {from: b, to: c}\n"
    )
    [problem] = wrong_file(folder, text).problems
    assert "a → b → c → a" in problem.message


def test_the_error_survives_its_journey_as_json(folder: Path) -> None:
    error = wrong_file(folder, "app_name: 5\n")
    told = error.to_dict()
    assert told["code"] == "project.invalid"
    assert told["ids"]["problems"][0]["line"] == 1
