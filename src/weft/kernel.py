"""The one door to the JVM: static methods of the Java kernel, called with frames, columns and plain values.

Each room says what it asks of the kernel in a module of its own (`gate/spark.py`, `streams/table.py`,
`runtime/spine.py`, `windows/panes.py`, …). Whatever touches a row is on the other side.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JJavaError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import Column, DataFrame, SparkSession

from weft.errors import WeftError

_METHODS: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
"""The methods that were asked for, by JVM: it looks through all jars for each part of a name."""


def call(spark: SparkSession, method: str, *arguments: Any) -> Any:
    """What `weft.kernel.METHOD` gives, as in `call(spark, "gate.Layers.select", frame, layers)`."""
    jvm = spark._jvm
    if jvm is None:
        raise WeftError("The Spark session was stopped.", code="session.stopped")
    known = _METHODS.setdefault(jvm, {})
    if method not in known:
        known[method] = reduce(getattr, method.split("."), jvm.weft.kernel)
    return known[method](*(_handed(argument) for argument in arguments))


def hand_over(spark: SparkSession, method: str, name: str, called: Any) -> None:
    """Give the kernel, by one of its methods, an object that it calls back; its class names the interface."""
    assert spark._sc is not None
    ensure_callback_server_started(spark._sc._gateway)  # type: ignore[no-untyped-call]
    call(spark, method, name, called)


def list_of(spark: SparkSession, things: Iterable[Any]) -> Any:
    """Things as a list that the kernel takes."""
    assert spark._jvm is not None
    made = spark._jvm.java.util.ArrayList()
    for thing in things:
        made.add(_handed(thing))
    return made


def to_frame(spark: SparkSession, made: Any) -> DataFrame:
    """A frame that the kernel made."""
    return DataFrame(made, spark)


def to_column(made: Any) -> Column:
    """A column that the kernel made."""
    return Column(made)


def message_of(error: Py4JJavaError) -> str:
    """What the kernel said when it raised."""
    return str(error.java_exception.getMessage())


def is_raised(error: Py4JJavaError, name: str) -> bool:
    """Whether the kernel raised an exception of its class of this name."""
    return bool(error.java_exception.getClass().getName() == f"weft.kernel.{name}")


def _handed(argument: Any) -> Any:
    if isinstance(argument, DataFrame):
        return argument._jdf
    if isinstance(argument, Column):
        return argument._jc
    if isinstance(argument, SparkSession):
        return argument._jsparkSession
    return argument
