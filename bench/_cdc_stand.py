"""What `bench.cdc` measures on: a size comes in, out come Kafka and Weft with all rows loaded, and costs of changes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bench._cdc_data import Change, Size, World
from bench._cdc_weft import PRODUCT, Feed, Weft, add_products, example
from bench._cpu import cpu_seconds
from bench._report import say
from weft.servers.kafka import Kafka

PER_SECOND = 10_000
PROCESSING = {"checkpoint_interval": 1.0, "queue_size": 200_000}


@dataclass(frozen=True)
class Spent:
    """What a round of changes took."""

    changes: int
    cpu_s: float
    seconds: float
    documents: int

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU for each change."""
        return self.cpu_s / self.changes * 1e6


class Stand:
    """A world of a size, told to Kafka and made into documents by Weft."""

    def __init__(self, size: Size, *, products: int = 1) -> None:
        """More than one product are over tables that do not change."""
        self._products = products
        self.world = World(size)
        self.rows = 0
        self.loading_s = 0.0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            made = tempfile.TemporaryDirectory(prefix="weft-bench-", ignore_cleanup_errors=True)
            self.folder = Path(stack.enter_context(made))
            self._kafka = stack.enter_context(Kafka(self.folder / "kafka"))
            project = example(self._kafka, sinks=False, **PROCESSING)
            others = add_products(project, self._kafka, self._products - 1)
            self._feed = Feed(self._kafka, self.world, others=others)
            self.rows = self._feed.load()
            say(f"stand      {self.rows:,} rows are in Kafka")
            before = cpu_seconds(self._kafka.java.pid)
            self.weft = stack.enter_context(Weft(self.folder / "weft", project))
            self.weft.settle(self._feed.written)
            self.loading_s = self.weft.loading_s()
            kafka_s = cpu_seconds(self._kafka.java.pid) - before
            say(
                f"stand      loaded in {self.loading_s:.1f} s; CPU since start: "
                f"Weft {self.weft.cpu():.1f} s, Kafka {kafka_s:.1f} s"
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def spend(self, changes: Sequence[Change], *, what: str) -> Spent:
        """Write changes to Kafka at the rate of the bench, and wait until their documents are out."""
        knot = self._newest()
        cpu, kafka, began = self.weft.cpu(), cpu_seconds(self._kafka.java.pid), time.time()
        self._feed.write(changes, per_second=PER_SECOND)
        self.weft.settle(self._feed.written)
        cpu_s = self.weft.cpu() - cpu
        seconds = self.weft.last_out() - began
        knots = self.weft.knots(PRODUCT, after=knot)
        rows = sum(_rows(knot) for knot in knots)
        spent = Spent(len(changes), cpu_s, seconds, rows)
        say(
            f"{what:10} weft: {spent.changes:,} changes, {rows:,} documents, {len(knots)} knots in {seconds:.2f} s; "
            f"{spent.cpu_us:,.0f} µs CPU a change; Kafka {cpu_seconds(self._kafka.java.pid) - kafka:.1f} s"
        )
        return spent

    def _newest(self) -> int:
        return max((knot["number"] for knot in self.weft.knots(PRODUCT)), default=0)


def _rows(knot: dict[str, Any]) -> int:
    return sum(output["rows"] for output in knot["outputs"].values())
