"""Wrong pipelines: each gets a code, the line of the thing that is wrong, and a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.loading.wrong import HEAD, wrong_file

PIPELINES = [
    ("no input", "p: {steps: []}", "project.missing-key", 9),
    ("a misspelt stream", "p: {from: order}", "project.unknown-stream", 9),
    ("a misspelt key", "p: {from: orders, step: []}", "project.unknown-key", 9),
    ("the name of a source stream", "orders: {from: orders, to: x}", "project.name-clash", 9),
    ("a writer of a source stream", "p: {from: orders, to: orders}", "project.two-writers", 9),
    (
        "two writers",
        "p: {from: orders, to: x}\n  q:\n    from: orders\n    to: x",
        "project.two-writers",
        12,
    ),
    ("a cycle", "p: {from: y, to: x}\n  q: {from: x, to: y}", "project.cycle", 9),
    ("a stream made from itself", "p: {from: x, to: x}", "project.cycle", 9),
    ("an output of Weft's own", "p: {from: orders, to: x.late}", "project.reserved-name", 9),
    ("steps that are no list", "p: {from: orders, steps: {a: b}}", "project.wrong-type", 9),
    (
        "a misspelt step",
        "p:\n    from: orders\n    steps:\n      - flter: id > 0",
        "step.unknown-kind",
        12,
    ),
    (
        "a step of two keys",
        "p:\n    from: orders\n    steps:\n      - {filter: id > 0, drop: id}",
        "step.invalid",
        12,
    ),
    (
        "a comma in braces",
        "p:\n    from: orders\n    steps:\n      - set: {a: left(email, 2)}",
        "step.invalid",
        12,
    ),
    (
        "a window over panes that are revised",
        (
            "p: {from: orders, window: {type: tumbling, size_ms: 1000, allowed_lateness_ms: 1},"
            " aggregate: {n: count(*)}}\n"
            "  q: {from: p, steps: [{filter: n > 0}]}\n"
            "  r: {from: q, window: {type: tumbling, size_ms: 5000}, aggregate: {n: sum(n)}}"
        ),
        "project.revised-panes",
        11,
    ),
    (
        "a join of panes that come early",
        (
            "p: {from: orders, window: {type: tumbling, size_ms: 1000, trigger: {early: {count: 1}}},"
            " by: [id], aggregate: {n: count(*)}}\n"
            "  m: {from: p, steps: [{rename: {window: of}}]}\n"
            "  r: {from: [m, q], window: {type: tumbling, size_ms: 5000}, join: {on: {id: key}}}\n"
            "  q: {from: orders, steps: [{rename: {id: key}}]}"
        ),
        "project.revised-panes",
        11,
    ),
    (
        "a dedupe of panes that a pace brings",
        (
            "p: {from: orders, window: {type: global, trigger: {count: 2}},"
            " by: [id], aggregate: {n: count(*)}}\n"
            "  r: {from: p, dedupe: {by: [id], within_seconds: 5}}"
        ),
        "project.revised-panes",
        10,
    ),
    (
        "a dedupe whose steps change the time that it goes by",
        (
            "p:\n    from: orders\n    dedupe: {by: [id], within_seconds: 5}\n    steps:\n"
            "      - set: {at: at + interval 1 day}"
        ),
        "project.event-time-changed",
        12,
    ),
    (
        "an unknown column",
        "p:\n    from: orders\n    steps:\n      - filter: id > 0\n      - filter: idd > 0",
        "expression.unknown-column",
        13,
    ),
    (
        "an expression in the third of three",
        (
            "p:\n    from: orders\n    steps:\n      - set:\n          a: id\n"
            "          b: email\n          c: emai"
        ),
        "expression.unknown-column",
        15,
    ),
    (
        "a condition that is none",
        "p:\n    from: orders\n    steps:\n      - filter: email",
        "expression.not-boolean",
        12,
    ),
    (
        "a text compared with a number",
        "p:\n    from: orders\n    steps:\n      - filter: email > 5",
        "expression.type",
        12,
    ),
    (
        "SQL that is none",
        "p:\n    from: orders\n    steps:\n      - filter: total >",
        "expression.syntax",
        12,
    ),
    (
        "a refused function",
        "p:\n    from: orders\n    steps:\n      - set: {a: uuid()}",
        "expression.refused-function",
        12,
    ),
    (
        "a column that was dropped",
        "p:\n    from: orders\n    steps:\n      - drop: email\n      - select: [id, email]",
        "schema.unknown-column",
        13,
    ),
    (
        "dropping everything",
        "p: {from: orders, steps: [{drop: [id, email, total, at]}]}",
        "step.no-columns",
        9,
    ),
    (
        "Weft's column set",
        "p: {from: orders, steps: [{set: {_weft: 1}}]}",
        "step.reserved-column",
        9,
    ),
    (
        "Weft's column dropped",
        "p: {from: orders, steps: [{drop: _weft}]}",
        "step.reserved-column",
        9,
    ),
    (
        "two columns of one name",
        "p: {from: orders, steps: [{rename: {id: email}}]}",
        "schema.duplicate-column",
        9,
    ),
    (
        "a file that is not there",
        "p:\n    from: orders\n    steps:\n      - function: rule:clean",
        "function.no-file",
        12,
    ),
    (
        "a function that is not there",
        "p:\n    from: orders\n    steps:\n      - function: rules:claen",
        "function.not-found",
        12,
    ),
    (
        "Python that is none",
        "p:\n    from: orders\n    steps:\n      - function: broken:clean",
        "function.syntax",
        12,
    ),
    (
        "a reference without a name",
        "p:\n    from: orders\n    steps:\n      - function: rules",
        "function.bad-reference",
        12,
    ),
    (
        "a function without a record",
        "p:\n    from: orders\n    steps:\n      - function: rules:nothing",
        "function.signature",
        12,
    ),
    (
        "a class for a function",
        "p:\n    from: orders\n    steps:\n      - function: rules:Thing",
        "step.unknown-function",
        12,
    ),
    (
        "a misspelt window",
        (
            "p:\n    from: orders\n    window: {type: tumblin, size_ms: 5}\n"
            "    aggregate: {n: count(*)}"
        ),
        "window.type",
        11,
    ),
    (
        "an aggregate without a window",
        "p: {from: orders, aggregate: {n: count(*)}}",
        "project.window-missing",
        9,
    ),
    (
        "a window without an aggregate",
        "p: {from: orders, window: {type: tumbling, size_ms: 5}}",
        "project.missing-key",
        9,
    ),
    (
        "a group that is not there",
        (
            "p:\n    from: orders\n    window: {type: tumbling, size_ms: 5}\n    by: [emial]\n"
            "    aggregate: {n: count(*)}"
        ),
        "schema.unknown-column",
        12,
    ),
    (
        "a misspelt sink",
        "p:\n    from: orders\n    sinks:\n      - consol: {}",
        "sinks.unknown-kind",
        12,
    ),
    (
        "a sink without its topic",
        "p:\n    from: orders\n    sinks:\n      - kafka: {}",
        "sinks.missing-option",
        12,
    ),
    (
        "a join of one stream",
        "p: {from: orders, window: {type: tumbling, size_ms: 5}, join: {on: id}}",
        "project.join",
        9,
    ),
    (
        "a key after the pipelines",
        "p: {from: orders, to: x}\nstreamz: {}",
        "project.unknown-key",
        10,
    ),
]


@pytest.mark.parametrize(
    ("text", "code", "line"), [case[1:] for case in PIPELINES], ids=[c[0] for c in PIPELINES]
)
def test_a_wrong_pipeline_is_told_by_code_line_and_hint(
    folder: Path, text: str, code: str, line: int
) -> None:
    problems = wrong_file(folder, f"{HEAD}pipelines:\n  {text}\n").problems
    assert [(problem.code, problem.line) for problem in problems] == [(code, line)]
    assert problems[0].hint or code == "project.wrong-type"


def test_everything_wrong_with_a_window_is_told_at_its_own_place(folder: Path) -> None:
    text = HEAD + (
        "pipelines:\n  p:\n    from: orders\n    aggregate: {n: count(*)}\n    window:\n"
        "      size_ms: '10'\n      accumulate: 1\n      trigger:\n        erly: {}\n        late: {count: 0}\n"
    )
    problems = wrong_file(folder, text).problems
    assert [(one.code, one.line) for one in problems] == [
        ("window.number", 13),
        ("window.flag", 14),
        ("window.key", 16),
        ("window.number", 17),
    ]
    assert all(problem.hint for problem in problems)


def test_what_keys_of_a_window_mean_together_is_told_at_the_key(folder: Path) -> None:
    text = HEAD + (
        "pipelines:\n  p:\n    from: orders\n    aggregate: {n: count(*)}\n    window:\n"
        "      type: session\n      gap_ms: 10\n      ttl_ms: 5\n"
    )
    [problem] = wrong_file(folder, text).problems
    assert (problem.code, problem.line) == ("window.ttl", 15)
