"""Hostile rules from a grammar: what would escape, grow, never end, nest, or be taken for something else."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.spark.hostile import catalogue
from weft.schema.schema import literal, quoted

CANARY = "weft-canary-7f3a91"
"""What the environment, a file, a table and a property of the worker hold, and no record."""

Rule = dict[str, Any]
"""Its kind, and either the steps of a rule or the text of an aggregate."""

_SECRETS = (
    "java_method('java.lang.System', 'getenv', 'WEFT_CANARY')",
    "reflect('java.lang.System', 'getProperty', 'weft.canary')",
    "try_reflect('java.lang.System', 'getenv', 'WEFT_CANARY')",
    "`java_method`('java.lang.System', 'getenv', 'WEFT_CANARY')",
    "identifier('reflect')('java.lang.System', 'getenv', 'WEFT_CANARY')",
    "call_function('reflect', 'java.lang.System', 'getenv', 'WEFT_CANARY')",
    "system.builtin.reflect('java.lang.System', 'getenv', 'WEFT_CANARY')",
    "(select max(secret) from canary)",
    "(select max(value) from text.`{file}`)",
    "(table canary)",
    "canary.secret",
    "read_files('{file}')",
    "input_file_name()",
    "_metadata.file_path",
    "current_user()",
    "current_catalog()",
    "session_user()",
    "version()",
    "uuid()",
    "monotonically_increasing_id()",
    "spark_partition_id()",
    "unix_timestamp()",
    "current_time()",
    "rand()",
    "now()",
    "${{env:WEFT_CANARY}}",
    "'${{env:WEFT_CANARY}}'",
    "'${{weft.canary}}'",
    "'${{system:weft.canary}}'",
    "'{{input}}'",
    ":canary",
    "@@canary",
    "session.canary",
    "weft_try(0L, s)",
    "weft_kept(s)",
    "weft_record(s)",
    "_weft_spent",
    "_weft_raw",
    "_weft_try_0.v0",
    "cast('now' as timestamp)",
    "cast('to' || 'day' as date)",
    "to_timestamp(lower('NOW'))",
    "to_date('now')",
    "unix_timestamp('now')",
    "from_json('{{}}', 'a int', map('columnNameOfCorruptRecord', '{file}'))",
    "xpath_string(s, '//a')",
    "java_method('java.nio.file.Files', 'delete', '{file}')",
)
_AROUND = (
    "{0}",
    "string({0})",
    "coalesce({0}, s)",
    "if(o, string({0}), s)",
    "concat(s, {0})",
    "transform(ss, v -> {0})",
    "case when {0} is null then 1 else 2 end",
    "/* */ {0} -- ",
    "{0} /*+ hint */",
    "'x') , ({0}",
    "s', {0}, '",
    "s` , {0} , `",
    "{0} as `a`",
    "{0}; drop table canary",
    "array({0}, {0})",
    "named_struct('a', {0}).a",
    "'a' || {0} || '${{'",
)
_GROWERS: tuple[tuple[str, ...], ...] = (
    ("repeat({t}, {n})", "lpad({t}, {n}, {t})", "rpad({t}, {n}, '-')", "space({n})", "{t} || {t}"),
    ("replace({t}, 'a', {t})", "concat_ws({t}, ss, {t})", "concat({t}, {t}, {t})"),
    ("array_join(array_repeat({t}, {n}), {t})", "hex({t})", "base64(cast({t} as binary))"),
    ("regexp_replace({t}, '.', {r})", "translate({t}, 'a', {r})", "url_encode({t})"),
    ("aggregate(sequence(1, {m}), {t}, (p, q) -> p || p)", "format_string('%{n}s', {t})"),
    ("aggregate(sequence(1, {m}), {t}, (p, q) -> replace(p, 'a', p))", "to_json(array({t}, {t}))"),
    ("string(transform(sequence(1, {m}), v -> {t}))", "string(array_repeat(array({t}), {n}))"),
    ("string(map_from_arrays(sequence(1, {m}), transform(sequence(1, {m}), v -> {t})))",),
    ("string(from_json({t}, 'a array<struct<b:int,c:string>>'))", "string(split({t}, ''))"),
    ("string(sequence(1, i))", "string(sequence(l, l + {n}))", "string(flatten(array(aa, aa)))"),
    ("string(size(sentences({t})))", "string(str_to_map({t}, 'a', 'b'))", "quote({t})"),
    ("string(levenshtein({t}, {t}))", "string(locate({t}, {t}, 1))", "trim(both {r} from {t})"),
    ("string(array_distinct(transform(sequence(1, {m}), v -> array(v, {t}))))", "mask({t})"),
    ("string(substring(cast({t} as binary), {n}, -2147483648))", "overlay({t} placing {t} from 3)"),
    ("string(cast({t} as decimal(38,10)))", "conv({t}, 36, 2)", "format_number(x, i)"),
)
_PIECES = (
    "a",
    "a*",
    "a+",
    "(a|a)",
    "(a|b)+",
    "(a+)+",
    ".*",
    ".*?",
    "[ab]{2,30}",
    "(a?){9}",
    "\\\\w+",
)
_PIECES += (
    "(ab|a)",
    "[^b]*",
    "^",
    "$",
    "\\\\b",
    "(?i)A",
    "(?:a|aa)+",
    "(?=a)",
    "(a)\\\\1",
    "x{1,999}",
)
_MATCHERS = (
    "if({t} rlike '{p}', s, t)",
    "regexp_replace({t}, '{p}', '$0$0')",
    "regexp_extract({t}, '{p}', 1)",
    "string(regexp_extract_all({t}, '({p})'))",
    "string(split({t}, '{p}'))",
    "string(regexp_count({t}, '{p}'))",
    "string(str_to_map({t}, '{p}', ':'))",
    "string(regexp_instr({t}, '{p}'))",
)
_TEXTS = (
    "",
    "'",
    "\\",
    "\\'",
    "${a}",
    "{input}",
    "%",
    "--",
    "/*",
    "*/",
    "`",
    '"',
    ";",
    "\x00",
    "\u2028",
)
_TEXTS += (
    "now",
    "NaN",
    "😀" * 50,
    "a" * 5_000,
    "'); drop table canary; --",
    "\r\n",
    ":a",
    "?",
    "$$",
    "{{",
    "\\u0000",
)
_AGGREGATES = (
    "sum",
    "max",
    "count",
    "collect_list",
    "approx_count_distinct",
    "avg",
    "first",
    "max_by",
)


def rules(count: int, *, file: str, seed: int = 11) -> Iterator[Rule]:
    """So many rules, always the same ones; `file` is one that holds the canary."""
    chance = random.Random(seed)
    calls = catalogue(per_place=2)
    makers: list[tuple[int, Callable[[], Rule]]] = [
        (20, lambda: setting("escape", _escape(chance, file))),
        (25, lambda: setting("growth", _growth(chance))),
        (18, lambda: setting("pattern", _pattern(chance))),
        (8, lambda: setting("depth", _depth(chance))),
        (9, lambda: _name(chance)),
        (8, lambda: _aggregate(chance, file)),
        (12, lambda: setting("call", chance.choice(calls))),
    ]
    weights = [weight for weight, _ in makers]
    for _ in range(count):
        [(_, make)] = chance.choices(makers, weights)
        yield make()


def setting(kind: str, expression: str, column: str = "made") -> Rule:
    """A rule that sets a column."""
    return {"kind": kind, "steps": [{"set": {column: expression}}]}


def _escape(chance: random.Random, file: str) -> str:
    secret = chance.choice(_SECRETS).format(file=file)
    around = chance.choice(_AROUND).replace("${{", "${")
    return around.replace("{0}", secret)


def _growth(chance: random.Random) -> str:
    text = chance.choice(("s", "t", "'a'", "string(i)", "string(ss)"))
    for _ in range(chance.randint(1, 4)):
        grower = chance.choice(chance.choice(_GROWERS))
        few = chance.choice(("3", "60", "1000", "100000", "least(abs(b), 100)"))
        many = chance.choice(("2", "100", "20000", "16000000", "2000000000", "i", "b"))
        text = grower.format(
            t=text, n=many, m=few, r=chance.choice(("s", "repeat('b', 1000)", "t"))
        )
    return text


def _pattern(chance: random.Random) -> str:
    pattern = "".join(chance.choice(_PIECES) for _ in range(chance.randint(1, 8)))
    text = chance.choice(("s", "repeat('a', 3000)", "repeat(s, 50)", "repeat('ab', 20000)"))
    if chance.random() < 0.2:
        like = "".join(chance.choice(("%", "a", "_", "%a", "b")) for _ in range(20))
        return f"if({text} like '{like}', s, t)"
    return chance.choice(_MATCHERS).format(t=text, p=pattern)


def _depth(chance: random.Random) -> str:
    text = "s"
    wrapper = chance.choice(
        (
            "({0})",
            "upper({0})",
            "coalesce({0}, t)",
            "case when o then {0} else t end",
            "if(o, {0}, {0})",
            "array({0})",
            "nullif({0}, t)",
            "element_at(array({0}), 1)",
            "named_struct('a', {0})",
            "transform(array({0}), v -> {0})",
            "not ({0} is null)",
            "right({0}, 3)",
        )
    )
    doubling = wrapper.count("{0}") > 1
    for _ in range(chance.randint(2, 9 if doubling else 45)):
        text = wrapper.replace("{0}", text)
    return text


def _name(chance: random.Random) -> Rule:
    text = "".join(chance.choice(_TEXTS) for _ in range(chance.randint(1, 3)))
    kind = chance.randrange(4)
    if kind == 0:
        return setting("name", literal(text) if chance.random() < 0.7 else f"'{text}'")
    if kind == 1:
        return setting("name", "s", column=text)
    if kind == 2:
        return {"kind": "name", "steps": [{"rename": {"s": text}}, {"set": {"made": quoted(text)}}]}
    return setting("name", f"named_struct({literal(text)}, s).{quoted(text)}")


def _aggregate(chance: random.Random, file: str) -> Rule:
    inner = chance.choice((_growth, _pattern, lambda dice: _escape(dice, file)))(chance)
    function = chance.choice(_AGGREGATES)
    inner = f"length({inner})" if function in ("sum", "avg") else inner
    second = ", l" if function == "max_by" else ""
    return {"kind": "aggregate", "aggregate": f"{function}({inner}{second})"}
