"""The file source: files of a directory or pattern, in the order in which they settled, and what text files grow by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from weft.declared.key import Key
from weft.declared.limit import FLAG, LOCAL_PATH, TEXT, choice, whole
from weft.project.definition import StreamSpec
from weft.sources.options import LONGEST_MS, SEPARATOR, Again, Opening, Source, csv_alone

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class FilesSource(Source):
    """Files of a folder, and what text files grow by: [how to read files](../how-to/read-files.md).

    Without a `schema`, columns are taken from the files that are there.
    """

    path: Annotated[str, Key(LOCAL_PATH, "The folder, from the project file on.", "incoming")]
    pattern: Annotated[
        str, Key(TEXT, "Which files of the folder.", "*.csv", unsaid="all files")
    ] = ""
    format: Annotated[
        Literal["json", "csv", "parquet"],
        Key(
            choice("json", "csv", "parquet"),
            "What the files hold; JSON is one record a line.",
            "csv",
        ),
    ] = "json"
    settle_ms: Annotated[
        int,
        Key(
            whole(0, LONGEST_MS),
            "For how long a file must not change before it is taken, in milliseconds.",
            5000,
        ),
    ] = 1000
    header: Annotated[
        bool,
        Key(
            FLAG,
            "Whether the first line names the columns; of CSV alone.",
            False,
            beside={"format": "csv"},
        ),
    ] = True
    separator: Annotated[str, SEPARATOR] = ","

    together = staticmethod(csv_alone)

    @property
    def gives_bytes(self) -> bool:
        """Parquet has types of its own."""
        return self.format != "parquet"

    def open(self, spark: SparkSession, stream: StreamSpec, opening: Opening) -> DataFrame:
        """The records of a directory or pattern of files in raw form."""
        from weft.sources.spark.files import open_files

        return open_files(spark, self, stream, opening)

    def again(self, spark: SparkSession, stream: StreamSpec, asked: Again) -> DataFrame:
        """The records from the files, which must still be there."""
        from weft.sources.spark.files import files_again

        return files_again(spark, self, stream, asked)
