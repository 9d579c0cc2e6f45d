"""A topic, as the kernel writes to it: slots are claimed, their positions read and settled, and shares of files sent by
tasks on the executors. Called by the Kafka sink."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from weft import codec, kernel
from weft.errors import WeftError
from weft.locations.parquet import open_parquet
from weft.sinks.rows import Rows

EVERY_KNOT = 2**62


class UnsentError(WeftError):
    """Kafka did not do what it was asked for."""

    code = "sinks.kafka"
    domain = "external"


@dataclass(frozen=True)
class Share:
    """What one slot sends: some of the files of rows, by their numbers, and its positions before and after."""

    slot: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    files: tuple[int, ...]


@dataclass(frozen=True)
class Outgoing:
    """What rows become: messages of these columns and this key; or what takes back those of knots up to one."""

    columns: tuple[str, ...]
    key: tuple[str, ...]
    retracts: int | None = None


@dataclass(frozen=True)
class Sent:
    """What became of a share, and why."""

    outcome: Literal["done", "waiting", "again", "fenced", "refused"]
    reason: str = ""


class Topic:
    """One topic and the slots of one sink in it. Slots are numbered; the first has the sink's own name."""

    def __init__(
        self, spark: SparkSession, topic: str, *, name: str, client: Mapping[str, Any]
    ) -> None:
        self._spark = spark
        self._name = name
        self._spec = {"topic": topic, "client": dict(client)}

    def create(self, partitions: int | None, settings: Mapping[str, str]) -> None:
        """Make the topic when it is not there, so that positions can be kept for it."""
        self._ask("create", claim="", partitions=partitions or 0, settings=dict(settings))

    def claim(self, claim: str, slots: Sequence[int]) -> list[dict[str, Any]]:
        """Shut out whoever used these slots before, and read their positions."""
        ids = [self._id(slot) for slot in slots]
        found: list[dict[str, Any]] = json.loads(self._ask("claim", claim=claim, ids=ids))
        return found

    def settle(self, claim: str, positions: Sequence[Mapping[str, Any]]) -> bool:
        """Write the positions of all slots under a claim; False when another has claimed them meanwhile."""
        told = [{"id": self._id(slot), **one} for slot, one in enumerate(positions)]
        is_settled = bool(self._ask("settle", claim=claim, positions=told))
        if not str(self._spark.sparkContext.master).startswith("local"):
            self.release(claim)  # the driver itself never sends
        return is_settled

    def release(self, claim: str) -> None:
        """Close the connections that the driver holds under a claim; executors close theirs after a while."""
        kernel.call(self._spark, "sink.KafkaTopic.release", claim)

    def send(
        self, claim: str, rows: Rows, shares: Sequence[Share], outgoing: Outgoing
    ) -> list[Sent]:
        """Have each share sent by a task, and hear what became of each; the same call goes on with what waits."""
        is_retraction = outgoing.retracts is not None
        spec = {
            "claim": claim,
            "columns": outgoing.columns,
            "key": outgoing.key,
            "retracts": is_retraction,
            "until": outgoing.retracts if is_retraction else EVERY_KNOT,
        }
        if rows.files is None:
            told = [self._told(share, []) for share in shares]
            answer = self._ask("sendFrame", _frame(self._spark, rows), **spec, shares=told)
        else:
            # All files of a knot are written by one batch, and have one form.
            forms = _forms(rows)
            numbered = list(dict.fromkeys(forms.values()))
            files = [
                {"path": one.path, "bytes": one.bytes, "form": numbered.index(forms[one.knot])}
                for one in rows.files
            ]
            told = [self._told(share, [files[one] for one in share.files]) for share in shares]
            answer = self._ask("send", self._spark, **spec, shares=told, forms=numbered)
        return [codec.from_form(Sent, one) for one in json.loads(answer)]

    def _told(self, share: Share, files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {
            "id": self._id(share.slot),
            "before": share.before,
            "after": share.after,
            "files": files,
        }

    def _id(self, slot: int) -> str:
        return f"{self._name}/{slot}" if slot else self._name

    def _ask(self, method: str, *handed: Any, **spec: Any) -> Any:
        told = json.dumps({**self._spec, **spec})
        try:
            return kernel.call(self._spark, f"sink.KafkaTopic.{method}", *handed, told)
        except Py4JJavaError as error:
            if not kernel.is_raised(error, "sink.UnsentException"):
                raise
            raise UnsentError(kernel.message_of(error)) from error


def _forms(rows: Rows) -> dict[int, str]:
    """The columns that the files of each knot have, in Spark's JSON."""
    forms: dict[int, str] = {}
    for file in rows.files or ():
        if file.knot not in forms:
            with open_parquet(file.path) as opened:
                forms[file.knot] = _form(opened.schema_arrow).json()
    return forms


def _form(schema: pa.Schema) -> Any:
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def _frame(spark: SparkSession, rows: Rows) -> DataFrame:
    table = pa.Table.from_batches(list(rows.batches()))
    return spark.createDataFrame(table, schema=_form(table.schema))
