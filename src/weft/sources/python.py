"""A source of the user's own: an `EventSource` behind a journal, or a data source written for Spark, used as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from weft.declared.key import Key
from weft.declared.limit import TEXT
from weft.project.definition import StreamSpec
from weft.sources.options import KEEP, Again, Opening, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class PythonSource(Source):
    """A class of your own: [how to bring your own](../how-to/own-source-and-sink.md).

    `python: feeds:Quotes` is short for its class alone. Other options go to its constructor by name.
    """

    takes_others: ClassVar[bool] = True

    source: Annotated[
        str,
        Key(
            TEXT,
            "The class, as `module:Class`, in Python beside the project file.",
            "feeds:Quotes",
            name="class",
        ),
    ]
    keep: Annotated[int | None, KEEP] = None

    def open(self, spark: SparkSession, stream: StreamSpec, opening: Opening) -> DataFrame:
        """The records of the class in raw form."""
        from weft.sources.spark.python import open_python

        return open_python(spark, self, stream, opening)

    def again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The records from the journal; those of a data source of Spark's from itself."""
        from weft.sources.spark.python import python_again

        return python_again(spark, self, stream, asked)
