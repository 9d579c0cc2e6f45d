"""Arrays and scalars of Arrow from plain values, without `pyarrow.array` and `pyarrow.scalar`: these ask pandas what
they are given, and every Python process of Spark's that reads a source would spend a second on importing it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate

import pyarrow as pa


def binaries(values: Sequence[bytes]) -> pa.Array:
    """Bytes, none of them null."""
    ends = array("i", [0])
    ends.extend(accumulate(map(len, values)))
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers)


def texts(values: Iterable[str]) -> pa.Array:
    """Texts, none of them null."""
    return binaries([value.encode() for value in values]).cast(pa.string())


def numbers(values: Iterable[int]) -> pa.Array:
    """Whole numbers, none of them null."""
    held = array("q", values)
    return pa.Array.from_buffers(pa.int64(), len(held), [None, pa.py_buffer(held)])


def text(value: str | None) -> pa.Scalar:
    """One text, or none."""
    return (texts([value]) if value is not None else pa.nulls(1, pa.string()))[0]


def number(value: int, kind: pa.DataType) -> pa.Scalar:
    """One whole number of a type."""
    return numbers([value]).cast(kind)[0]
