"""What Spark says of a rule before it is attached: exact types, or the reason why it cannot run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from weft.errors import WeftError
from weft.gate.spark import ExpressionRefusedError
from weft.runtime import session
from weft.runtime.weaving import run_stages
from weft.schema.schema import Schema
from weft.schema.weft import stored_form
from weft.steps.function import FunctionVersion
from weft.streams.tables import fingerprint
from weft.weaving.rule import Rule
from weft.weaving.weave import Moment, compile_weave


class RuleRefusedError(WeftError):
    """Spark cannot run what a rule says."""

    code = "rule.refused-by-spark"
    domain = "user"


def analyze(
    spark: SparkSession,
    functions: Mapping[str, FunctionVersion],
    schema: dict[str, Any],
    rule: dict[str, Any],
) -> dict[str, Any]:
    """The user's columns that a rule makes of rows of this schema, in Spark's JSON form."""
    asked = Rule.from_dict(rule)
    columns = StructType.fromJson(stored_form(Schema.from_json(schema)))
    columns = columns.add("_weft_bad", "string").add("_weft_raw", "binary")
    empty = session.fork(spark).createDataFrame([], columns)
    weave = compile_weave(
        Schema.from_json(schema),
        stream=asked.stream,
        key=(),
        steps=(),
        rules=(asked,),
        functions=functions,
        moment=Moment(datetime.now(UTC), 0),
    )
    try:
        columns = run_stages(empty, weave.stages, functions).schema
    except (AnalysisException, ParseException) as error:
        raise _refused(asked, error.getMessage() or str(error)) from error
    except ExpressionRefusedError as error:
        raise _refused(asked, error.message) from error
    target = next(t for t in weave.targets if t.stream == (asked.output or asked.stream))
    made = columns[target.column].dataType
    assert isinstance(made, StructType)
    return fingerprint(made)[1]


def _refused(rule: Rule, reason: str) -> RuleRefusedError:
    return RuleRefusedError(
        f"Rule '{rule.id}' cannot run on stream '{rule.stream}': {reason.strip().splitlines()[0]}",
        hint=f"Correct the expression; `weft stream show {rule.stream}` lists the columns.",
        rule=rule.id,
        stream=rule.stream,
    )
