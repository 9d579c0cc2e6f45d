"""Windowed joins: rows of two streams with equal keys that are in the same window.

A join is a window whose aggregate is the rows of both sides, taken apart again when it fires; so
lateness, revisions, sessions and the ledger are those of any window, and all rows of a window that
has not finished are kept. Touches Spark only to put the frames together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from weft.gate.spark import expression
from weft.schema.schema import quoted
from weft.schema.weft import CONTROL, WEFT
from weft.windows.aggregate import Aggregate
from weft.windows.panes import State
from weft.windows.panes import attach as attach_panes
from weft.windows.window import WindowSpec

Kind = Literal["inner", "left", "right", "full"]

ROWS = Aggregate(
    "rows", "collect_list", ("named_struct('left', left, 'right', right)",), total=True
)


def attach(
    left: DataFrame,
    right: DataFrame,
    *,
    window: WindowSpec,
    on: Mapping[str, str],
    kind: Kind = "inner",
    buckets: int,
    pipeline: str,
    state: State = "rocksdb",
) -> DataFrame:
    """The joined rows of two streams, window by window.

    `on` gives the left column and the right one that must be equal; both frames are those of
    `panes.attach`, each with control rows of its own. The answer has the columns of
    `panes.attach`; a pane is one joined row with `window`, the keys under their left names, `left` and
    `right`. When late records come, all rows of the key come again with the next revision.
    """
    both = _side(left, "left", list(on), other=right).unionByName(
        _side(right, "right", list(on.values()), other=left)
    )
    names = {f"_key_{place}": name for place, name in enumerate(on)}
    panes = attach_panes(
        both,
        window=window,
        by={name: quoted(hidden) for hidden, name in names.items()},
        aggregates=[ROWS],
        buckets=buckets,
        pipeline=pipeline,
        state=state,
        inputs={"inputs": 2, "knot": "_weft.knot * 2 + _input"},
    )
    pairs = panes.withColumn("pair", expression(_pairs(kind, list(on))))
    keys = [sql.col(f"pane.{quoted(name)}").alias(name) for name in on]
    joined = sql.struct(
        sql.col("pane.window").alias("window"),
        *keys,
        sql.col("pair.left").alias("left"),
        sql.col("pair.right").alias("right"),
    )
    return (
        pairs.where("pane is null or size(pair) > 0")
        .select("pane", "late", "control", "dead", sql.explode_outer("pair").alias("pair"))
        .select(
            sql.when(sql.col("pane").isNotNull(), joined).alias("pane"), "late", "control", "dead"
        )
    )


def _side(
    frame: DataFrame, name: Literal["left", "right"], on: list[str], *, other: DataFrame
) -> DataFrame:
    """One input in the form that both have: its keys, its row under its name, the other's empty."""
    is_left = name == "left"
    row = sql.struct(*(sql.col(quoted(column)) for column in _columns(frame)))
    other_row = sql.struct(*(sql.col(quoted(column)) for column in _columns(other)))
    empty = sql.lit(None).cast(other.select(other_row).schema[0].dataType)
    control = frame[CONTROL]
    if not is_left:
        control = sql.regexp_replace(control, r"^\{", '{"input": 1, ')
    return frame.select(
        *(sql.col(quoted(key)).alias(f"_key_{place}") for place, key in enumerate(on)),
        (row if is_left else empty).alias("left"),
        (empty if is_left else row).alias("right"),
        sql.lit(0 if is_left else 1).alias("_input"),
        frame[WEFT],
        control.alias(CONTROL),
    )


def _columns(frame: DataFrame) -> list[str]:
    return [name for name in frame.columns if name not in (WEFT, CONTROL)]


def _pairs(kind: Kind, keys: list[str]) -> str:
    """All pairs of a pane's rows as an expression; rows with a null in their key match nothing."""
    left = "filter(pane.rows, row -> row.left is not null)"
    right = "filter(pane.rows, row -> row.right is not null)"
    both = (
        f"flatten(transform({left}, a -> transform({right}, b -> "
        "named_struct('left', a.left, 'right', b.right))))"
    )
    is_null = " or ".join(f"pane.{quoted(key)} is null" for key in keys)
    lonely_left = left if kind in ("left", "full") else "slice(pane.rows, 1, 0)"
    lonely_right = right if kind in ("right", "full") else "slice(pane.rows, 1, 0)"
    return (
        f"case when {is_null} then concat({lonely_left}, {lonely_right}) "
        f"when size({left}) = 0 then {lonely_right} "
        f"when size({right}) = 0 then {lonely_left} else {both} end"
    )
