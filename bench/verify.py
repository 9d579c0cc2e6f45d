"""How fast `weft verify --deep` hashes rows again: by the kernel (`--fast`), and in Python on all cores.

`python -m bench.verify [--quick]`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Sequence
from statistics import median

from pyspark.sql import SparkSession

from bench._report import Figures, Measure, run
from weft.runtime import session, spine
from weft.streams.kernel_rehash import KernelRehash
from weft.streams.rehash import FileHash, Rehash, plain

ROUNDS = 3
RECORD = (
    "named_struct('id', id, 'email', concat('User', id, '@example.org'), 'country', 'de', "
    "'total', cast(id % 1000 as decimal(10,2)), 'at', timestamp_millis(id), '_weft', "
    "named_struct('id', concat('orders/0/', id), 'knot', 1L, 'at', timestamp_millis(id), 'source', 'orders', "
    "'partition', 0, 'event_time', timestamp_millis(id), 'watermark', cast(null as timestamp)))"
)


def rehash(quick: bool) -> Figures:
    """Rows a second of both ways over the same files, which give the same sums."""
    fast_rows, plain_rows = (100_000, 20_000) if quick else (3_000_000, 200_000)
    spark = session.create("local[2]", app="verify")
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        large = _written(spark, f"{folder}/large", fast_rows)
        small = _written(spark, f"{folder}/small", plain_rows)
        by_kernel = KernelRehash(spark)
        if _sums(by_kernel(small)) != _sums(plain(small)):
            raise RuntimeError("the kernel and Python disagree about the same files")
        fast = median(_rate(by_kernel, large, fast_rows) for _ in range(ROUNDS))
        slow = median(_rate(plain, small, plain_rows) for _ in range(ROUNDS))
    return {
        "fast_rows_per_s": round(fast),
        "plain_rows_per_s": round(slow),
        "gain": round(fast / slow, 1),
    }


def _written(spark: SparkSession, folder: str, rows: int) -> list[str]:
    frame = spark.range(rows).repartition(8)
    woven = frame.selectExpr(f"{RECORD} AS out", "CAST(NULL AS INT) AS verdict")
    written = spine.write(woven, prefix="1", outputs={"out": folder})
    return [f"{folder}/{file.path}" for file in written.outputs["out"].files]


def _rate(way: Rehash, paths: Sequence[str], rows: int) -> float:
    began = time.perf_counter()
    _sums(way(paths))
    return rows / (time.perf_counter() - began)


def _sums(found: Iterable[FileHash]) -> dict[str, int]:
    return {one.path: one.total for one in found}


PARTS = {"rehash": Measure(("fast_rows_per_s", "plain_rows_per_s", "gain"), rehash)}

if __name__ == "__main__":
    run("verify", __doc__, PARTS)
