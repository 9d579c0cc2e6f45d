"""Windowed joins: rows of two streams with equal keys that are in the same window.

A join is a window whose aggregate is the rows of both sides, taken apart again when it fires; so
lateness, revisions, sessions and the ledger are those of any window, and all rows of a window that
has not finished are kept. Touches Spark only to attach the kernel's operator and to take its panes apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import StructType

from weft.gate.spark import expression
from weft.schema.schema import quoted
from weft.windows.aggregate import Aggregate
from weft.windows.attached import Attached, State
from weft.windows.panes import attach as attach_panes
from weft.windows.window import WindowSpec

Kind = Literal["inner", "left", "right", "full"]

KNOT = "_weft.knot * 2 + _input"
"""How the knots of both sides follow one another: by number, and the left one first."""

ROWS = Aggregate(
    "rows", "collect_list", ("named_struct('left', left, 'right', right)",), total=True
)


def attach(
    spark: SparkSession,
    left: StructType,
    right: StructType,
    *,
    window: WindowSpec,
    on: Mapping[str, str],
    buckets: int,
    pipeline: str,
    state: State = "rocksdb",
) -> Attached:
    """What gathers the rows of two streams, window by window; `paired` takes its panes apart.

    `on` gives the left column and the right one that must be equal; both streams have `_weft` as their last column.
    When late records come, all rows of the key come again with the next revision.
    """
    return attach_panes(
        spark,
        [left, right],
        window=window,
        by={name: quoted(f"_key_{place}") for place, name in enumerate(on)},
        aggregates=[ROWS],
        buckets=buckets,
        pipeline=pipeline,
        knot=KNOT,
        sides=[list(on), list(on.values())],
        state=state,
    )


def paired(panes: DataFrame, *, on: Mapping[str, str], kind: Kind = "inner") -> DataFrame:
    """The joined rows of gathered ones.

    A pane is one joined row with `window`, the keys under their left names, `left` and `right`; late rows, reports and
    dead letters stay as they are.
    """
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
        .select("pane", "late", "report", "dead", sql.explode_outer("pair").alias("pair"))
        .select(
            sql.when(sql.col("pane").isNotNull(), joined).alias("pane"), "late", "report", "dead"
        )
    )


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
