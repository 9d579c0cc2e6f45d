"""Raw records become typed rows: bytes in, declared columns out, and for each record that cannot be
taken the reason. Called by the ingest spine; runs in the JVM only, and no record makes it fail."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructType, TimestampType

from weft import kernel
from weft.schema.change import CHANGE
from weft.schema.path import ColumnPath, find_path
from weft.schema.schema import Schema
from weft.sources.raw import BAD as UNREAD
from weft.sources.raw import HEADER

Format = Literal["json", "csv", "debezium"]
Told = Literal["changes", "rows", "transactions"]

BAD = "_bad"
RAW = "_raw"
ID = "_id"
PARTITION = "_partition"
POSITION = "_position"
EVENT_TIME = "_event_time"
GIVEN = "_given"


@dataclass(frozen=True)
class Parsing:
    """How the records of one stream are read, where its source does not deliver typed columns
    already.

    Those of `debezium` are change events: the schema has `_change` as its last column, `key` are the columns that name
    a row, and `times` says what a number in a timestamp column counts where an event has no schema (s, ms, us, ns, or
    auto: by its magnitude). What they tell is changes, rows that were unwrapped, or the beginnings and ends of
    transactions.
    """

    schema: Schema
    format: Format = "json"
    event_time: ColumnPath | None = None
    separator: str = ","
    key: tuple[str, ...] = ()
    times: str = "auto"
    told: Told = "changes"


def parse(raw: DataFrame, parsing: Parsing, *, source: str) -> DataFrame:
    """Turn the raw form into the declared columns and these beside them.

    - `_bad`: why the record cannot be taken, or null. If so, `_raw` holds its bytes, and the
      declared columns are null.
    - `_id`: `source/partition/position`, the same each time the record is read; also its parts,
      `_partition` and `_position`.
    - `_event_time`: the declared column; without one, the time that the source gave to the record.
      Of a change whose row has none there, such as a deletion, it is when the change was made.
    - `_given`: what the source gave, beside the place that is in `_id`; null where that were typed columns.
    """
    parsed = raw.withColumn("_parsed", _parsed(raw, parsing))
    place = parsing.event_time
    if place is not None and len(place.names) > 1 and parsing.format != "debezium":
        # The kernel has seen to it that the column is there, and not to the part of it.
        parsed = parsed.withColumn("_parsed", _timed(f.col("_parsed"), place))
    bad = f.col("_parsed.bad")
    parts = [f.lit(source), f.col("partition"), f.col("position")]
    return parsed.select(
        *(f.col("_parsed.columns").getField(name).alias(name) for name in parsing.schema.names),
        bad.alias(BAD),
        f.when(bad.isNotNull(), _bytes(raw)).alias(RAW),
        f.concat_ws("/", *parts).alias(ID),
        f.col("partition").alias(PARTITION),
        f.col("position").alias(POSITION),
        _event_time(parsing).alias(EVENT_TIME),
        _given(raw).alias(GIVEN),
    )


def _parsed(raw: DataFrame, parsing: Parsing) -> Column:
    """A struct of the typed columns, and of the reason why there are none."""
    parsed = _from_bytes(raw, parsing)
    if "columns" in raw.columns:  # rows that do not fit the declared types come as JSON after all
        parsed = f.when(f.col("value").isNotNull(), parsed).otherwise(_from_columns(parsing))
    if "bad" in raw.columns:
        nothing = f.lit(None).cast(StructType.fromJson(parsing.schema.to_json()))
        unread = f.struct(nothing.alias("columns"), f.col("bad").alias("bad"))
        parsed = f.when(f.col("bad").isNotNull(), unread).otherwise(parsed)
    return parsed


def _from_bytes(raw: DataFrame, parsing: Parsing) -> Column:
    form = json.dumps(parsing.schema.to_json())
    arguments: list[Any]
    if parsing.format == "debezium":
        keys = json.dumps(_key_columns(parsing))
        arguments = [form, keys, parsing.times, parsing.told]
    else:
        header = f.col("header") if "header" in raw.columns else f.lit(None).cast("string")
        needed = parsing.event_time.names[0] if parsing.event_time is not None else None
        arguments = [header, form, needed]
    if parsing.format == "csv":
        arguments.append(parsing.separator)
    method = f"source.Parse.{parsing.format}"
    return kernel.to_column(kernel.call(raw.sparkSession, method, f.col("value"), *arguments))


def _key_columns(parsing: Parsing) -> list[str]:
    """The columns that name a row; of a key that is a part of a struct, the whole struct."""
    paths = {name: find_path(name, parsing.schema) for name in parsing.key}
    names = (
        path.names[0] if path else parsing.schema.get(name).name for name, path in paths.items()
    )
    return list(dict.fromkeys(names))


def _timed(parsed: Column, place: ColumnPath) -> Column:
    """The same, without the columns of records that lack the part of a struct which is their time."""
    columns, bad = parsed.getField("columns"), parsed.getField("bad")
    lacks = bad.isNull() & _at(columns, place).isNull()
    reason = f.when(lacks, f.lit(_missing(place))).otherwise(bad)
    return f.struct(f.when(~lacks, columns).alias("columns"), reason.alias("bad"))


def _missing(place: ColumnPath) -> str:
    return f"column '{place.text}': it is missing, and it is the event time"


def _from_columns(parsing: Parsing) -> Column:
    columns, bad = f.col("columns"), f.lit(None).cast("string")
    if parsing.event_time is not None:
        present = _at(columns, parsing.event_time).isNotNull()
        columns, bad = (
            f.when(present, columns),
            f.when(~present, f.lit(_missing(parsing.event_time))),
        )
    return f.struct(columns.alias("columns"), bad.alias("bad"))


def _bytes(raw: DataFrame) -> Column:
    if "columns" not in raw.columns:
        return f.col("value")
    return f.coalesce(f.col("value"), f.to_json("columns").cast("binary"))


def _given(raw: DataFrame) -> Column:
    """The columns of the raw form from which a record can be parsed again."""
    nothing = f.lit(None).cast("string")
    given = f.struct(
        "value",
        "timestamp",
        *(
            (f.col(name) if name in raw.columns else nothing).alias(name)
            for name in (HEADER.name, UNREAD.name)
        ),
    )
    return f.when(f.col("value").isNotNull(), given) if "columns" in raw.columns else given


def _event_time(parsing: Parsing) -> Column:
    if parsing.event_time is None:
        return f.col("timestamp")
    columns = f.col("_parsed.columns")
    declared = _at(columns, parsing.event_time).cast(TimestampType())
    if parsing.format != "debezium":
        return declared
    made = columns.getField(CHANGE).getField("at")
    return f.when(columns.isNotNull(), f.coalesce(declared, made, f.col("timestamp")))


def _at(columns: Column, place: ColumnPath) -> Column:
    return reduce(lambda held, name: held.getField(name), place.names, columns)
