"""Checked expressions on Spark: parsed by the kernel, guarded by it, and put around a frame."""

from __future__ import annotations

import json
from collections.abc import Sequence

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession

from weft import kernel
from weft.errors import Domain, WeftError

Columns = Sequence[tuple[str, str]]


class ExpressionRefusedError(WeftError):
    """An expression that the kernel does not let run, whoever checked it before."""

    code = "expression.refused"
    domain: Domain = "user"


def register(spark: SparkSession) -> None:
    """Make the kernel's SQL functions known to a session."""
    kernel.call(spark, "Kernel.register", spark)


def select(frame: DataFrame, layers: Sequence[Columns]) -> DataFrame:
    """The frame with SELECT layers around it, the first innermost: each column its name and its SQL.

    Every expression is parsed by itself and by the kernel, not by the session: no setting and no variable
    of a session changes what it says.
    """
    session = frame.sparkSession
    try:
        chosen = kernel.call(session, "spark.gate.Layers.select", frame, json.dumps(layers))
    except Py4JJavaError as error:
        if not kernel.is_raised(error, "gate.RefusedException"):
            raise
        raise ExpressionRefusedError(kernel.message_of(error)) from error
    return kernel.to_frame(session, chosen)


def expression(text: str) -> Column:
    """One expression as the kernel parses it, for the frames of Spark's own functions."""
    return kernel.to_column(kernel.call(SparkSession.active(), "spark.gate.Sql.column", text))
