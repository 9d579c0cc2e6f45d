"""The JSON that the kernel sends is the JSON that sinks in Python write, byte for byte, whatever a row holds."""

from __future__ import annotations

import random
import struct
import uuid
from collections.abc import Callable
from contextlib import closing
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.stack.servers import Kafka
from weft import sinks
from weft.sinks import ParquetRows
from weft.sinks.document import documents, to_json, to_key
from weft.sinks.rows import RowFile
from weft.testing import shared_session

ROWS = 400
DICE = random.Random(11)
EXACT = Context(prec=50)
MARK = pa.struct({"id": pa.string(), "knot": pa.int64()})
LEAST, MOST = -(2**63), 2**63 - 1
HOSTILE = 'a "quoted"\\name\nwith 😀 and \x01'
TEXTS: list[Any] = [
    "",
    "null",
    '"',
    "\\",
    "é",
    "😀",
    "\x00\x1f\x7f\b\f\n\r\t/",
    "\u2028\ufeff",
    "<&>",
    "\ud7ff",
]
FLOATS = [
    0.0,
    -0.0,
    0.1,
    1e15,
    1e16,
    1e17,
    1e-4,
    1e-5,
    1e-6,
    1e-7,
    5e-324,
    1e-323,
    1.5e-323,
    2.5e-322,
    1.5e300,
]
FLOATS += [
    2e23,
    9007199254740993.0,
    123456789012345680.0,
    1e22,
    1 / 3,
    float("nan"),
    float("inf"),
    -float("inf"),
]
MICROS = [
    0,
    1,
    -1,
    1_500_000,
    -62135596800000000,
    -62135596800000001,
    253402300799999999,
    253402300800000000,
]
MICROS += [253402300800123456, -377705116800000000, MOST, LEAST]
DAYS = [0, -719162, -719163, -719528, 2932896, 2932897, 100_000_000, -100_000_000, 11016, 11017]


def some(special: list[Any], other: Callable[[], Any]) -> list[Any]:
    """Special values, then others, with nulls between."""
    found = [*special, None, *(other() for _ in range(ROWS - len(special) - 1))]
    return [
        None if DICE.random() < 0.05 and place > len(special) else one
        for place, one in enumerate(found)
    ]


def a_double() -> float:
    """Any bits."""
    return float(struct.unpack("<d", DICE.randbytes(8))[0])


def a_text() -> str:
    return "".join(
        chr(DICE.choice((DICE.randrange(1, 0x80), DICE.randrange(0xA0, 0xD800))))
        for _ in range(DICE.randrange(9))
    )


def some_bytes() -> bytes:
    return DICE.randbytes(DICE.randrange(7))


def decimals(precision: int, scale: int, *special: str) -> pa.Array:
    def other() -> Decimal:
        unscaled = DICE.randrange(-(10**precision) + 1, 10**precision)
        return Decimal(unscaled).scaleb(-scale, EXACT)

    special_values = [Decimal(one) for one in special]
    return pa.array(some(special_values, other), pa.decimal128(precision, scale))


def whole(kind: pa.DataType, bits: int) -> pa.Array:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return pa.array(some([least, most, 0, -1], lambda: DICE.randrange(least, most)), kind)


def broken_texts() -> pa.Array:
    """Bytes that are no UTF-8 in columns of text, which databases do have."""
    parts = [
        b"\xff",
        b"a\xed\xa0\x80b",
        b"\xf0\x9f\x98",
        b"\xc0\xaf",
        b"\xe2\x82",
        b"\xf4\x90\x80\x80",
        b"\xf0\x80\x80\x41",
    ]
    parts += [
        bytes(DICE.choice((0x41, 0x22, 0xC3, 0xE2, 0xED, 0xF0, 0x80, 0x9F, 0xA0)) for _ in range(9))
        for _ in range(ROWS - len(parts))
    ]
    offsets = [0]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    buffers = [
        None,
        pa.py_buffer(struct.pack(f"<{len(offsets)}i", *offsets)),
        pa.py_buffer(b"".join(parts)),
    ]
    return pa.Array.from_buffers(pa.string(), ROWS, buffers)


def maps(
    key: pa.DataType, a_key: Callable[[], Any], value: pa.DataType, a_value: Callable[[], Any]
) -> pa.Array:
    """Some have a key twice."""
    entries = some([[]], lambda: [(a_key(), a_value()) for _ in range(DICE.randrange(5))])
    return pa.array(entries, pa.map_(key, value))


def table() -> pa.Table:
    moments = pa.array(some(MICROS, lambda: DICE.randrange(-(10**17), 10**17)), pa.int64())
    days = pa.array(some(DAYS, lambda: DICE.randrange(-800_000, 3_000_000)), pa.int32())
    doubles = pa.array(some(FLOATS, a_double), pa.float64())
    texts = pa.array(some(TEXTS, a_text), pa.string())
    nested = pa.StructArray.from_arrays(
        [
            doubles,
            days.cast(pa.date32()),
            pa.array(some([[]], lambda: [a_double(), None, 1.5]), pa.list_(pa.float64())),
        ],
        ["a", 'b"', "c.d"],
        mask=pa.array([place % 7 == 3 for place in range(ROWS)]),
    )
    by_day = maps(pa.int32(), lambda: DICE.choice(DAYS), pa.string(), a_text)
    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "tiny": whole(pa.int8(), 8),
            "small": whole(pa.int16(), 16),
            "int": whole(pa.int32(), 32),
            "long": whole(pa.int64(), 64),
            "yes": pa.array(some([True, False], lambda: DICE.random() < 0.5), pa.bool_()),
            "single": pa.array(
                some([0.1, 3.4e38, 1e-45, float("nan")], lambda: DICE.random() * 1e9), pa.float32()
            ),
            "double": doubles,
            "round": pa.array(some([], lambda: DICE.randrange(10**6) / 100), pa.float64()),
            "price": decimals(5, 2, "0.00", "-0.01", "999.99"),
            "middle": decimals(18, 18),
            "large": decimals(38, 0, "9" * 38, "-" + "9" * 38),
            "exact": decimals(38, 10, "0E-10", "-1E-10"),
            "day": days.cast(pa.date32()),
            "at": moments.cast(pa.timestamp("us", tz="UTC")),
            "local": moments.cast(pa.timestamp("us")),
            "text": texts,
            "broken": broken_texts(),
            "bytes": pa.array(some([b"", b"\x00", b"\xff\xfe\xfd"], some_bytes), pa.binary()),
            HOSTILE: texts,
            "a.b": whole(pa.int32(), 32),
            "nested": nested,
            "deep": pa.ListArray.from_arrays(pa.array([*range(ROWS), ROWS]), nested),
            "words": pa.array(some([], lambda: [a_text(), None]), pa.list_(pa.string())),
            "map": maps(pa.string(), a_text, pa.float64(), a_double),
            "twice": maps(pa.string(), lambda: DICE.choice("abc"), pa.string(), a_text),
            "by_int": maps(pa.int32(), lambda: DICE.randrange(9), pa.string(), a_text),
            "by_day": by_day.cast(pa.map_(pa.date32(), pa.string())),
            "by_truth": maps(pa.bool_(), lambda: DICE.random() < 0.5, pa.string(), a_text),
            "_weft": pa.array([{"id": f"é/0/{n}", "knot": 1} for n in range(ROWS)], MARK),
        }
    )


KEYS: list[tuple[str, ...]] = [
    (),
    ("text",),
    ("broken",),
    ("double",),
    ("day",),
    ("at",),
    ("price",),
    ("nested.a",),
]
KEYS += [("a.b",), ("yes",), ("text", "double", 'nested.b"', "gone")]


@pytest.mark.timeout(300)
def test_every_value_has_the_form_that_it_has_in_python(kafka: Kafka, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(table(), path)
    rows = ParquetRows([RowFile(str(path), ROWS, path.stat().st_size, 1, 0)], [])
    names = [*(name for name in table().column_names if name != "_weft"), "gone"]
    whole_rows = ParquetRows(rows.files, names)
    expected = [one for batch in whole_rows.batches() for one in documents(batch.select(names))]
    for key in KEYS:
        topic = f"forms-{uuid.uuid4()}"
        with closing(open_sink(kafka, topic, names, key)) as sink:
            sink.deliver(1, whole_rows)
        sent = kafka.consume(topic)
        assert len(sent) == ROWS
        for message, document in zip(sent, expected, strict=True):
            assert message.value == to_json(document)
            assert message.key == to_key(document, key)
            assert message.headers == {
                "weft-id": f"é/0/{document['id']}".encode(),
                "weft-knot": b"1",
            }


def open_sink(kafka: Kafka, topic: str, names: list[str], key: tuple[str, ...]) -> sinks.Sink:
    target = sinks.Target(
        app="forms",
        pipeline="p",
        stream="s",
        columns=tuple(names),
        key=key,
        spark=shared_session(),
    )
    return sinks.read_options("kafka", {"topic": topic, "servers": kafka.servers}).open(target)
