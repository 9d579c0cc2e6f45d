"""Hostile records, and calls of everything that expressions may call: what the gate is tried with."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession

from weft.gate.call import CASTS, PINNED
from weft.gate.catalog import SIGNATURES, Signature
from weft.schema.schema import Schema, literal

COLUMNS = {
    "l": "bigint",
    "i": "int",
    "k": "int",
    "h": "smallint",
    "b": "tinyint",
    "d": "double",
    "f": "float",
    "m": "decimal(10,2)",
    "w": "decimal(38,10)",
    "x": "decimal(38,0)",
    "s": "string",
    "t": "string",
    "r": "binary",
    "o": "boolean",
    "day": "date",
    "at": "timestamp",
    "ntz": "timestamp_ntz",
    "ss": "array<string>",
    "ii": "array<int>",
    "ff": "array<float>",
    "aa": "array<array<int>>",
    "tt": "array<struct<a:string,n:int>>",
    "g": "map<string,int>",
    "gg": "map<int,string>",
    "z": "struct<a:string,n:int>",
}
HOSTILE = Schema.of(COLUMNS)

# What each column may hold, as SQL. Every type has its extremes, and texts have what reads as another type.
VALUES: dict[str, list[str]] = {
    "bigint": [
        "0",
        "1",
        "-1",
        "9223372036854775807",
        "(-9223372036854775807 - 1)",
        "42",
        "2147483648",
    ],
    "int": ["0", "1", "-1", "2147483647", "-2147483648", "5", "12", "-128", "31", "100000"],
    "smallint": ["0", "32767", "-32768", "7"],
    "tinyint": ["0", "127", "-128", "3"],
    "double": [
        *("0.0", "-0.0", "double('NaN')", "double('Infinity')", "double('-Infinity')"),
        *(
            "1.7976931348623157E308",
            "-1.7976931348623157E308",
            "4.9E-324",
            "1.5",
            "-2147483649.5",
            "1E19",
        ),
    ],
    "float": [
        "0.0",
        "-0.0",
        "float('NaN')",
        "float('-Infinity')",
        "3.4028235E38",
        "1.4E-45",
        "2.5",
    ],
    "decimal(10,2)": ["0", "99999999.99", "-99999999.99", "0.01", "1"],
    "decimal(38,10)": [
        "0",
        "9" * 28 + "." + "9" * 10,
        "-" + "9" * 28 + "." + "9" * 10,
        "0.0000000001",
    ],
    "decimal(38,0)": ["0", "9" * 38, "-" + "9" * 38, "1"],
    "string": [
        *(
            literal(text)
            for text in ("", " ", "a", "DE", "a@b.de", "ß😀e\u0301", "İŉΐ", "NaN", "-1", "x" * 3000)
        ),
        *(
            literal(text)
            for text in (
                "9" * 60,
                "1e400",
                "1e-400",
                "1e2147483647",
                "-1e-2147483647",
                "0x1F",
                "1_0",
            )
        ),
        *(
            literal(text)
            for text in ("9999-12-31", "2024-13-01", "now", "today", "+294247-01-10", "-5000-01-01")
        ),
        *(
            literal(text)
            for text in (
                '{"a":1,"b":[1,2]}',
                "[1,2",
                "[1,2]",
                "{",
                "a:1,b:2",
                "http://u:p@h:99999/p?a=1&b",
                "%zz",
            )
        ),
        *(
            literal(text)
            for text in (
                "\x00",
                "\\",
                "%_",
                "'\"`",
                "a,b;c\td\ne",
                "true",
                "12:34:56",
                "interval 1 day",
                "UTC",
                "+25:00",
            )
        ),
        *(
            literal(text)
            for text in (
                "Mon",
                "4532015112830366",
                "YWJj",
                "abc=",
                "ff",
                "zz",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
            )
        ),
    ],
    "binary": [
        "X''",
        "X'FF'",
        "X'F0'",
        "X'E282'",
        "X'00'",
        "X'616263'",
        "X'C0AF'",
        "X'EDA080'",
        "X'F09F9880'",
    ],
    "boolean": ["true", "false"],
    "date": [
        f"date_from_unix_date({days})"
        for days in (0, 1, -719162, 2932896, 19782, 2147483647, -2147483648, 106751991)
    ],
    "timestamp": [
        f"timestamp_micros({micros})"
        for micros in (
            0,
            1,
            -62135596800000000,
            253402300799999999,
            1709164800000000,
            9223372036854775807,
        )
    ]
    + ["timestamp_micros(-9223372036854775807 - 1)"],
    "timestamp_ntz": [
        f"cast(timestamp_micros({micros}) as timestamp_ntz)"
        for micros in (0, -62135596800000000, 253402300799999999, 9223372036854775807)
    ]
    + ["cast(timestamp_micros(-9223372036854775807 - 1) as timestamp_ntz)"],
    "array<string>": [
        "array()",
        "array(cast(null as string))",
        "array('a', 'b', null, 'a')",
        "array('', 'x')",
    ],
    "array<int>": [
        "array()",
        "array(cast(null as int))",
        "array(2147483647, -2147483648, 1)",
        "array(0, null)",
    ],
    "array<float>": [
        "array()",
        "array(float('NaN'), float(1))",
        "array(float(0), float(0))",
        "array(cast(null as float))",
    ],
    "array<array<int>>": [
        "array()",
        "array(array(1), null)",
        "array(array(), array(2147483647))",
        "array(array(1), array(1))",
    ],
    "array<struct<a:string,n:int>>": [
        "array()",
        "array(named_struct('a', 'x', 'n', 1), null)",
        "array(named_struct('a', null, 'n', null))",
    ],
    "map<string,int>": ["map()", "map('a', cast(null as int))", "map('a', 2147483647, 'b', 1)"],
    "map<int,string>": ["map()", "map(1, 'a', -2147483648, null)"],
    "struct<a:string,n:int>": [
        "named_struct('a', null, 'n', null)",
        "named_struct('a', 'z', 'n', 1)",
    ],
}


def hostile_rows(spark: SparkSession, count: int = 120, *, seed: int = 7) -> DataFrame:
    """Records of which each column is null, or one of the worst values of its type; every value is there."""
    chance = random.Random(seed)
    pools = {name: ["null", *VALUES[kind]] for name, kind in COLUMNS.items()}
    picked = [
        [
            number if number < len(pool) and len(pool) > 5 else chance.randrange(len(pool))
            for pool in pools.values()
        ]
        for number in range(count)
    ]
    places = spark.createDataFrame(picked, ", ".join(f"`{name}` int" for name in COLUMNS))
    cells = [
        f"element_at(array({', '.join(f'cast({value} as {kind})' for value in pools[name])}), {name} + 1)"
        f" as {name}"
        for name, kind in COLUMNS.items()
    ]
    return places.coalesce(1).selectExpr(*cells)


# What may stand for each word of the catalog: right, and for the words of types also wrong.
WORDS: dict[str, list[str]] = {
    "pattern": ["'a+'", "'[a-z]*@'"],
    "like": ["'a%'", "'%a%b_'", "'a'"],
    "flag": ["true", "false"],
    "place": ["1", "0", "-3", "40"],
    "size": ["3", "i", "k", "b"],
    "sign": ["'x'"],
    "key": ["'a'", "'a.b'"],
    "form": ["'yyyy-MM-dd'", "'HH:mm:ss.SSS'", "'hour'", "'E, d MMM'", "'yyyy''T'"],
    "text": [
        *(
            "'UTF-8'",
            "'utf-16'",
            "'yyyy-MM-dd'",
            "'HH:mm:ss.SSS'",
            "'hour'",
            "'month'",
            "'999.99'",
            "'HOST'",
            "'QUERY'",
        ),
        *(
            "'$.a'",
            "'$[*].b'",
            "'a: %s'",
            "'%d-%s'",
            "'hex'",
            "'GCM'",
            "'{\"a\":[1]}'",
            "'1,2'",
            "'second'",
        ),
    ],
}


def arguments(word: str) -> list[str]:
    """Everything that is tried in a place of the catalog."""
    if word in WORDS:
        return [*WORDS[word], "s"]
    return [*COLUMNS, "null", "1", "'a'", "'2024-02-29'", "1.5", "-1"]


def calls(
    signature: Signature, chance: random.Random, per_place: int | None = None
) -> Iterator[str]:
    """Calls of a function: with every argument in every place, the others being ones that fit."""
    name, most = signature.name, signature.most
    longest = len(signature.parameters) + (1 if most is None else 0)
    for length in range(signature.least, longest + 1):
        places = [signature.parameter(place).word for place in range(length)]
        if not places:
            yield f"{name}()"
        for place, word in enumerate(places):
            tried = arguments(word)
            for argument in (
                tried if per_place is None else chance.sample(tried, min(per_place, len(tried)))
            ):
                given = [
                    argument if at == place else _fitting(other, argument, chance)
                    for at, other in enumerate(places)
                ]
                yield f"{name}({', '.join(given)})"


_FITTING: dict[str, list[str]] = {
    "string": ["s", "t"],
    "bytes": ["s", "r"],
    "words": ["s", "t"],
    "number": ["d", "i", "m", "w"],
    "long": ["l", "i"],
    "integer": ["i", "b"],
    "boolean": ["o"],
    "date": ["day", "at"],
    "time": ["at", "ntz"],
    "day": ["day"],
    "moment": ["at"],
    "array": ["ss", "ii", "aa", "tt", "ff"],
    "map": ["g", "gg"],
    "struct": ["z"],
    "any": ["s", "i", "ss", "z", "at"],
    "E": ["'a'", "1", "s", "i"],
    "K": ["'a'", "1"],
    "A": ["ss", "ii", "aa", "tt"],
    "M": ["g", "gg"],
    "bits": ["i", "o"],
    "count": ["i", "3"],
    "places": ["i", "s"],
    "dated": ["s", "at"],
    "nested": ["ss", "g", "z"],
    "many": ["ss", "g"],
    "lists": ["aa"],
    "texts": ["ss", "ii"],
    "floats": ["ff"],
    "joined": ["s", "ss", "i"],
    "hashed": ["s", "i", "z"],
}


def _fitting(word: str, beside: str, chance: random.Random) -> str:
    if word in ("T", "O"):
        return beside
    return chance.choice(_FITTING.get(word) or WORDS[word])


OPERATORS = ("+", "-", "*", "/", "%", "div", "=", "<", "<=>", "&", "||", "and")


def operations() -> Iterator[str]:
    """Operators between columns of every two types, and casts of every type to every other."""
    names = [
        *COLUMNS,
        "interval 5 minutes",
        "interval 1 day",
        "interval 2 months",
        "'2024-02-29'",
        "1",
        "null",
    ]
    for sign in OPERATORS:
        for one in names:
            for two in names:
                yield f"{one} {sign} {two}"
    for one in COLUMNS:
        for two in COLUMNS:
            yield from (
                f"coalesce({one}, {two})",
                f"greatest({one}, {two})",
                f"{one} in ({two}, {one})",
            )
            yield from (
                f"if(o, {one}, {two})",
                f"nullif({one}, {two})",
                f"{one} between {two} and {one}",
            )
            yield from (
                f"{one}[{two}]",
                f"case {one} when {two} then 1 end",
                f"equal_null({one}, {two})",
            )
    for name in COLUMNS:
        yield from (
            f"- {name}",
            f"~ {name}",
            f"not {name}",
            f"{name} is null",
            f"{name} in ({name}, null)",
        )
        yield from (
            f"{name} between {name} and null",
            f"case when o then {name} end",
            f"if(o, {name}, null)",
        )
        yield from (
            f"{name}[0]",
            f"{name}['a']",
            f"{name}.a",
            f"case {name} when {name} then 1 else 2.5 end",
        )
        for kind in (*dict.fromkeys(COLUMNS.values()), "string", "float"):
            yield f"cast({name} as {kind})"
            yield f"try_cast({name} as {kind})"
        for function in CASTS:
            yield f"{function}({name})"
    for unit in (
        "year",
        "month",
        "week",
        "day",
        "hour",
        "second",
        "microsecond",
        "epoch",
        "dow",
        "yearofweek",
    ):
        for name in ("at", "day", "ntz", "s", "i"):
            yield f"extract({unit} from {name})"
            yield f"timestampadd({unit}, i, {name})"
            yield f"timestampdiff({unit}, {name}, at)"


SPECIAL = [
    *(
        f"{name}({one})"
        for name in (
            "abs",
            "negative",
            "zeroifnull",
            "reverse",
            "round",
            "bround",
            "ceil",
            "floor",
            "positive",
        )
        for one in COLUMNS
    ),
    *(
        f"{name}({one}, {places})"
        for name in ("round", "bround", "ceil", "floor")
        for one in ("i", "l", "d", "f", "m", "w", "x", "b")
        for places in (-40, -3, 0, 2, 40)
    ),
    *(
        f"{name}({one}, {two})"
        for name in (
            "mod",
            "pmod",
            "try_mod",
            "div",
            "try_add",
            "try_subtract",
            "try_multiply",
            "try_divide",
        )
        for one in ("i", "l", "d", "m", "w", "x", "b", "at", "day")
        for two in ("i", "l", "d", "m", "x", "interval 1 day")
    ),
    *(
        f"{name}({one}, {two})"
        for name in ("array", "map", "concat", "coalesce", "nullif")
        for one in COLUMNS
        for two in ("s", "i", one)
    ),
    *(f"named_struct('a', {one})" for one in COLUMNS),
    *(f"struct({one} as q)" for one in COLUMNS),
    *(
        f"date_part('{unit}', {one})"
        for unit in ("year", "second", "hour", "doy", "nothing")
        for one in ("at", "day", "ntz", "s")
    ),
    *(
        f"{name}({one}, '{form}')"
        for name in ("to_number", "try_to_number", "to_char", "to_varchar")
        for one in ("s", "m", "i", "at", "r")
        for form in ("999.99", "S9,999", "hex", "yyyy", "$99")
    ),
    *(
        f"{name}(s, '{form}')"
        for name in ("from_json", "from_csv")
        for form in ("a int", "a int, b array<int>", "q decimal(38,10), t timestamp, d date")
    ),
    *(
        "from_json(s, 'array<struct<a:int,b:string>>')",
        "from_json(s, 'map<string,int>')",
        "from_json(s, 'struct<a:map<string,array<int>>>')",
    ),
    *(
        f"sequence({one}, {two})"
        for one in ("1", "i", "l", "b", "day", "d")
        for two in ("10", "i", "l")
    ),
    *("sequence(i, k, b)", "sequence(1, 10, 0)", "sequence(l, l, l)"),
    *(
        f"{name}({one}, v -> v {test})"
        for name in ("transform", "filter", "exists", "forall")
        for one in ("ss", "ii", "aa", "tt", "s")
        for test in ("is null", "= v", "> 0", "|| 'a'")
    ),
    *(f"array_sort({one})" for one in ("ss", "ii", "aa", "tt", "g")),
    *(
        "array_sort(ii, (p, q) -> p - q)",
        "array_sort(ii, (p, q) -> 1)",
        "array_sort(ss, (p, q) -> length(p) - length(q))",
    ),
    *(
        "zip_with(ii, ii, (p, q) -> p + q)",
        "zip_with(ss, ii, (p, q) -> p || q)",
        "map_filter(g, (k, v) -> v > 0)",
    ),
    *(
        "transform_keys(g, (k, v) -> 'a')",
        "transform_keys(g, (k, v) -> v)",
        "transform_values(g, (k, v) -> v + 1)",
    ),
    *(
        "map_zip_with(g, g, (k, p, q) -> p + q)",
        "aggregate(ii, 0, (p, q) -> p + q)",
        "aggregate(ii, 0L, (p, q) -> p + q)",
    ),
    *(
        "aggregate(ii, 0, (p, q) -> p + 1.5)",
        "aggregate(ss, '', (p, q) -> p || q, p -> length(p))",
        "reduce(ii, 1, (p, q) -> q)",
    ),
]


def catalogue(seed: int = 3, per_place: int | None = None) -> list[str]:
    """Calls of the whole catalog, the operators and casts, in one order; with `per_place`, a choice of them."""
    chance = random.Random(seed)
    found = [
        call
        for one in SIGNATURES.values()
        if one.name != "raise_error"
        for call in calls(one, chance, per_place)
    ]
    rest = [*operations(), *SPECIAL]
    if per_place is not None:
        rest = chance.sample(rest, min(len(rest), 250 * per_place))
    return [text for text in dict.fromkeys([*found, *rest]) if text.partition("(")[0] not in PINNED]
