"""The records of the mock source, thousands at a time: each one is a pure function of seed,
partition and number. Runs in Spark's Python workers on Arrow arrays; no record is touched by Python
code."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weft.schema.schema import Schema, Type
from weft.sources.arrays import numbers, texts
from weft.sources.pace import Pace
from weft.sources.raw import ARROW

CHUNK = 8192
COUNTRIES = ("DE", "FR", "US", "GB", "ES", "IT", "NL", "PL", "JP", "BR", "IN", "CA")
_U64 = pa.uint64()


@dataclass(frozen=True)
class Recipe:
    """What the records look like. `key` is drawn from `keys` values, the more unevenly the higher
    `skew`."""

    schema: Schema
    seed: int = 0
    partitions: int = 1
    pace: Pace = field(default_factory=Pace)
    start: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    disorder_ms: int = 0
    bad_share: float = 0.0
    event_time: str | None = None
    key: str | None = None
    keys: int = 1000
    skew: float = 0.0


class Generator:
    """Makes the records of one partition in raw form."""

    def __init__(self, recipe: Recipe, partition: int) -> None:
        self.recipe = recipe
        self.partition = partition

    def batch(self, first: int, count: int) -> pa.RecordBatch:
        """The records `first` to `first + count` of the partition."""
        index = pc.add(_upto(count), pa.scalar(first, pa.int64()))
        values = self._values(_Draw(self.recipe, self.partition, index))
        partition = pa.repeat(pa.scalar(self.partition, pa.int32()), count)
        times = pa.nulls(count, ARROW.field("timestamp").type)
        columns = [values, partition, index.cast(pa.string()), times]
        return pa.RecordBatch.from_arrays(columns, schema=ARROW)

    def _values(self, draw: _Draw) -> pa.Array:
        good = draw.object(self.recipe.schema.fields, "").cast(pa.binary())
        if not self.recipe.bad_share:
            return good
        bad = pc.less(draw.share("bad"), self.recipe.bad_share)
        kinds = [
            pc.binary_slice(good, 0, 12),
            pa.scalar(b'{"' + (self.recipe.event_time or "at").encode() + b'":"never"}'),
            pa.scalar(b"\xff\xfe not text"),
            pa.scalar(b"[]"),
        ]
        return pc.if_else(bad, pc.choose(draw.below(len(kinds), "bad kind"), *kinds), good)


class _Draw:
    """Values for an array of record numbers; the same name draws the same values again."""

    def __init__(self, recipe: Recipe, partition: int, index: pa.Array) -> None:
        self.recipe = recipe
        self.partition = partition
        self.index = index
        # Records take turns over the partitions, so that all advance evenly in event time.
        turn = pc.multiply(index, pa.scalar(recipe.partitions, pa.int64()))
        self.number = pc.add(turn, pa.scalar(partition, pa.int64()))

    def bits(self, name: str) -> pa.Array:
        """64 random bits for each record (splitmix64 of its number)."""
        text = f"{self.recipe.seed}/{self.partition}/{name}"
        stream = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        mixed = pc.multiply(self.index.cast(_U64), pa.scalar(0x9E3779B97F4A7C15, _U64))
        mixed = pc.add(mixed, pa.scalar(stream, _U64))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            high = pc.shift_right(mixed, pa.scalar(shift, _U64))
            mixed = pc.multiply(pc.bit_wise_xor(mixed, high), pa.scalar(factor, _U64))
        return mixed

    def share(self, name: str) -> pa.Array:
        """A number from 0 to 1 for each record."""
        high = pc.shift_right(self.bits(name), pa.scalar(11, _U64))
        return pc.multiply(high.cast(pa.float64()), 2.0**-53)

    def below(self, limit: int, name: str, skew: float = 0.0) -> pa.Array:
        """A whole number from 0 to `limit - 1` for each record."""
        share = self.share(name)
        if skew:
            share = pc.power(share, 1.0 + skew)
        return pc.floor(pc.multiply(share, float(limit))).cast(pa.int64())

    @functools.cached_property
    def event_time(self) -> pa.Array:
        """The event time of each record, in milliseconds."""
        pace = self.recipe.pace
        period, calm, high = pace.period
        number = self.number.cast(pa.float64())
        whole = pc.floor(pc.divide(number, pace.records_per_period))
        rest = pc.subtract(number, pc.multiply(whole, pace.records_per_period))
        calm_records = calm * pace.spacing
        seconds = pc.divide(pc.min_element_wise(rest, calm_records), pace.spacing)
        above = pc.max_element_wise(pc.subtract(rest, calm_records), 0.0)
        seconds = pc.add(pc.add(seconds, pc.divide(above, high)), pc.multiply(whole, period))
        millis = pc.floor(pc.multiply(seconds, 1000.0)).cast(pa.int64())
        millis = pc.add(millis, round(self.recipe.start.timestamp() * 1000))
        if self.recipe.disorder_ms:
            millis = pc.subtract(millis, self.below(self.recipe.disorder_ms, "disorder"))
        return millis

    def object(self, fields: tuple[Any, ...], path: str) -> pa.Array:
        """A JSON object of these fields for each record."""
        pieces: list[Any] = []
        for part in fields:
            pieces.append(f"{',' if pieces else '{'}{json.dumps(part.name)}:")
            pieces.append(self.json(part.name, part.type, f"{path}/{part.name}"))
        return _join(*pieces, "}") if pieces else pa.repeat("{}", len(self.index))

    def json(self, name: str, kind: Type, path: str) -> pa.Array:
        """A JSON value of this type for each record, made to look like what its name says."""
        if kind.name == "struct":
            return self.object(kind.fields, path)
        if kind.name == "array":
            return _join("[", self.json(name, kind.items[0], path), "]")
        if kind.name == "map":
            return _join('{"1":', self.json(name, kind.items[1], path), "}")
        text = self.text(name, kind, path)
        quoted = kind.name in ("string", "binary", "date", "timestamp", "timestamp_ntz")
        return _join('"', text, '"') if quoted else text

    def text(self, name: str, kind: Type, path: str) -> pa.Array:
        """The text of a value that is not nested."""
        match kind.name:
            case "timestamp" | "timestamp_ntz":
                return self.event_time.cast(pa.timestamp("ms", tz="UTC")).cast(pa.string())
            case "date":
                return self.event_time.cast(pa.timestamp("ms")).cast(pa.date32()).cast(pa.string())
            case "boolean":
                return pc.if_else(pc.less(self.share(path), 0.5), "true", "false")
            case "decimal":
                return _decimal(self.below(10 ** min(kind.precision, 5), path), kind.scale)
            case "double" | "float":
                return pc.divide(self.below(100_000, path).cast(pa.float64()), 100.0).cast(
                    pa.string()
                )
            case "string":
                return self.word(name, path)
            case "binary":
                return pc.utf8_lpad(self.below(10**8, path).cast(pa.string()), 8, "0")
        return self.whole(name, kind, path).cast(pa.string())

    def whole(self, name: str, kind: Type, path: str) -> pa.Array:
        """A whole number: the record's own for `id`, one of the keys for the key."""
        if path == f"/{self.recipe.key}":
            return self.below(self.recipe.keys, "key", self.recipe.skew)
        if name == "id" and kind.name == "bigint":
            return self.number
        return self.below(100, path)

    def word(self, name: str, path: str) -> pa.Array:
        """A string by the name of its column."""
        if name == "country":
            return texts(COUNTRIES).take(self.below(len(COUNTRIES), path))
        if path == f"/{self.recipe.key}" or name in ("user", "email"):
            number = self.below(self.recipe.keys, "key", self.recipe.skew).cast(pa.string())
        elif name == "id":
            number = self.number.cast(pa.string())
        else:
            number = self.below(1000, path).cast(pa.string())
        return (
            _join("user-", number, "@example.com") if name == "email" else _join(f"{name}-", number)
        )


@functools.lru_cache(maxsize=4)
def _upto(count: int) -> pa.Array:
    return numbers(range(count))


def _join(*pieces: Any) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, "")


def _decimal(unscaled: pa.Array, scale: int) -> pa.Array:
    if not scale:
        return unscaled.cast(pa.string())
    digits = pc.utf8_lpad(unscaled.cast(pa.string()), scale + 1, "0")
    return _join(
        pc.utf8_slice_codeunits(digits, 0, -scale), ".", pc.utf8_slice_codeunits(digits, -scale)
    )
