"""The ids of rows that operators make, against the SQL that says what they are."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from weft.runtime import session

ROWS = """
    VALUES
    (timestamp_millis(0), timestamp_millis(10000), timestamp_millis(9999), 0,
     'de', 1L, 1, true, date'2026-01-01', 1.50BD, named_struct('a', 'x', 'b', 2)),
    (timestamp_micros(-1), timestamp_micros(-1001), NULL, 7,
     'a"b\\\\c', -9223372036854775808L, -2147483648, false, date'1900-01-01', -0.01BD, named_struct('a', '"', 'b', 0)),
    (NULL, timestamp_micros(1), timestamp_micros(999), 2147483647,
     concat('line', chr(10), chr(9), chr(1), chr(127), chr(8232)), 9223372036854775807L, 0, NULL, NULL, NULL, NULL),
    (NULL, NULL, NULL, NULL, 'Grüße 🎈 €', NULL, NULL, NULL, NULL, 12345678.90BD, named_struct('a', NULL, 'b', NULL)),
    (timestamp_millis(1), timestamp_millis(2), timestamp_millis(3), 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (timestamp_millis(1), timestamp_millis(2), timestamp_millis(3), 1, '', 10L, 100, true, NULL, NULL, NULL)
    AS rows(start, end, timestamp, revision, text, whole, small, truth, day, price, pair)
"""
COLUMNS = {
    "none": (),
    "one": ("whole",),
    "plain": ("text", "small", "truth", "whole"),
    "others": ("day", "price", "pair", "text"),
    "odd names": ('whole AS `a"b`', "text AS `größe`", "small AS `back\\slash`"),
}


@pytest.mark.parametrize("named", COLUMNS)
@pytest.mark.parametrize("compiled", ["true", "false"])
def test_an_id_is_what_sql_says_it_is(spark: SparkSession, named: str, compiled: str) -> None:
    sql = session.fork(spark)
    sql.conf.set("spark.sql.codegen.wholeStage", compiled)
    mode = "CODEGEN_ONLY" if compiled == "true" else "NO_CODEGEN"
    sql.conf.set("spark.sql.codegen.factoryMode", mode)
    names = [f"pane.{column.rsplit(' AS ', 1)[-1]}" for column in COLUMNS[named]]
    pane = f"struct({', '.join(COLUMNS[named]) or '1'}) AS pane"
    inner = ", ".join(["start", "end", "timestamp", "revision", pane])
    times = "unix_millis(start), unix_millis(end), unix_millis(timestamp), revision"
    wanted = f"concat_ws('/', 'a/b', {times}, md5(to_json(struct({', '.join(names) or '1'}))))"
    given = ", ".join(["'a/b'", "start", "end", "timestamp", "revision", *names])
    found = f"weft_made({given})"
    rows = sql.sql(
        f"SELECT {wanted} AS wanted, {found} AS found FROM (SELECT /*+ REPARTITION(2) */ {inner} FROM {ROWS})"
    ).collect()
    assert len(rows) == 6
    assert [row.found for row in rows] == [row.wanted for row in rows]
